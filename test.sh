#!/usr/bin/env bash
# Installs what is needed, builds everything and runs every test. Arguments go to ctest, for example
# ./test.sh -R Guest. JOBS sets how many things are built and tested at once.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

jobs=${JOBS:-$(nproc)}
config/install-deps.sh
cmake --preset host
cmake --build --preset host -j "$jobs"
ctest --test-dir build/host --output-on-failure --no-tests=error -j "$jobs" "$@"
