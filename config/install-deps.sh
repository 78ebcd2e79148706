#!/usr/bin/env bash
# Installs what building and testing epochd needs, with apt (Debian 12). Does nothing where all of
# it is installed. EPOCHD_SKIP_INSTALL=1 skips it, for systems that bring the packages another way.
set -euo pipefail

packages=(
  g++ cmake ninja-build ccache git
  libtbb-dev            # loops over CPU threads
  libyaml-cpp-dev       # configuration and job files
  libspdlog-dev         # logging
  libcli11-dev          # command lines
  nlohmann-json3-dev    # --json and result.json
  libjemalloc-dev       # the daemon's allocator
  libboost1.81-dev      # Asio and Beast: signals, timers, file notification and pages
  libgtest-dev          # tests
  libbenchmark-dev      # micro benchmarks
  gcc-riscv64-unknown-elf  # guest programs
  qemu-user             # an independent executor for the tests
  systemd               # the unit is tested, with systemd-analyze and under a systemd of its own
  dpkg-dev              # dpkg-shlibdeps: what the Debian package depends on
)

if [[ "${EPOCHD_SKIP_INSTALL:-0}" == 1 ]]; then
  exit 0
fi
if ! command -v apt-get >/dev/null; then
  echo "install-deps: no apt-get here. Install these packages' counterparts, then set" >&2
  echo "EPOCHD_SKIP_INSTALL=1: ${packages[*]}" >&2
  exit 1
fi

missing=()
for package in "${packages[@]}"; do
  state=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ "$state" == installed ]] || missing+=("$package")
done
if [[ ${#missing[@]} -eq 0 ]]; then
  exit 0
fi

as_root=()
if [[ "$(id -u)" != 0 ]]; then
  if ! command -v sudo >/dev/null; then
    echo "install-deps: not root and no sudo. As root: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
echo "install-deps: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends "${missing[@]}"
