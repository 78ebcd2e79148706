#!/usr/bin/env bash
# Measures this machine and makes the tables of docs/performance.md again.
#
#   bench/performance.sh [BUILD]        BUILD: a configured build folder (build/host)
#
# Writes DATA/cpu-kernels.json, DATA/cpu-suite.json, DATA/cpu-scaling.json, then the documents.
#
# Environment:
#   DATA      where results go (docs/data); what documents quote is there
#   RUN       what to run programs with, for example "chrt -f 10" on a machine that is not idle
#   SUITE     flags for epoch-bench ("--suite workloads --epoch-size-log2 18")
#   SCALING   the same for what scales ("--suite scaling --epoch-size-log2 16")
#   KERNELS   which of kernels_bench (the best instruction set's, and the ceilings)
#   REPETITIONS   of every kernel (3)
#   DOCS      documents to make again (docs/performance.md docs/performance-gpu.md)
#
# A machine's own history is kept by bench/machines/*.json, which git ignores: copy a
# cpu-kernels.json there, and `epoch-report compare OLD NEW` says what got slower beyond noise.
set -euo pipefail

case ${1:-} in -h | --help)
  sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"
  exit 0 ;;
esac
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${1:-$repo/build/host}
data=${DATA:-$repo/docs/data}
read -ra run <<<"${RUN:-}"
read -ra suite <<<"${SUITE:---suite workloads --epoch-size-log2 18}"
read -ra scaling <<<"${SCALING:---suite scaling --epoch-size-log2 16}"
read -ra docs <<<"${DOCS:-$repo/docs/performance.md $repo/docs/performance-gpu.md}"
if grep -q avx512dq /proc/cpuinfo; then isa=avx512; else isa=avx2; fi
[[ -f $build/CMakeCache.txt ]] || { echo "performance: $build is no build folder" >&2; exit 1; }

cmake --build "$build" --target kernels_bench chips_bench session_bench exec_bench epoch \
  epoch-bench epoch-report epochd_guests
mkdir -p "$data"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
files=()
measure() {  # NAME FLAG...
  local name=$1
  shift
  echo "performance: $name" >&2
  ${run[@]+"${run[@]}"} "$build/bench/micro/$name" "$@" --benchmark_out="$work/$name.json" \
    --benchmark_repetitions="${REPETITIONS:-3}" >/dev/null
  files+=("$work/$name.json")
}
measure kernels_bench --benchmark_filter="${KERNELS:-ceiling|$isa/}" --benchmark_min_time=0.02
measure chips_bench --benchmark_min_time=0.01
measure session_bench
measure exec_bench --benchmark_min_time=0.1
"$build/bin/epoch-report" import "${files[@]}" -o "$data/cpu-kernels.json"
"$build/bin/epoch-report" validate "$repo/bench/report/kernels.schema.json" \
  "$data/cpu-kernels.json"

prove() {  # NAME FLAG...
  local name=$1
  shift
  echo "performance: $name" >&2
  ${run[@]+"${run[@]}"} "$build/bin/epoch-bench" "$@" --epoch "$build/bin/epoch" \
    --guests "$build/guests" --ceilings "$data/cpu-kernels.json" --json "$data/$name.json"
}
prove cpu-suite "${suite[@]}"
prove cpu-scaling "${scaling[@]}"
"$build/bin/epoch-report" docs --root "$repo" "${docs[@]}"
