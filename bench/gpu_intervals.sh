#!/usr/bin/env bash
# What the settings of a device are worth, as intervals: device-only against host-mirror, sizes of
# epoch against one, epochs in flight against one more, and one setting against itself (A/A), each
# by paired runs of programs that stay (epoch-serve), so that opening the device is in no figure.
#
#   bench/gpu_intervals.sh OUT          writes OUT/intervals.json and OUT/intervals.md
#
# Environment:
#   BIN        folder of epoch, epoch-serve, epoch-abba, epoch-fixture, epoch-report (build/gpu/bin)
#   GUESTS     folder of fib.elf and ledger.elf (build/gpu/guests)
#   BACKEND    cuda; cpu only tries the script out: there is no residency and nothing in flight
#   BLOCKS     of the A/A run and of the residency (10);  OTHER_BLOCKS  of the rest (8)
#   FIB, LEDGER   workloads of epoch-fixture (fib-4m, ledger-20)
#   BASE_LOG2  the size that others are compared with (20);  SIZES  those others ("18 19 21 22")
#   ONLY       words: only comparisons of these names (aa, residency-fib, in-flight-1, size-22)
#   LIMIT_S    no comparison begins later than this many seconds after the start (300)
#   SEED       of the orders (1);  ABBA_FLAGS  more flags for epoch-abba
set -euo pipefail

if [[ $# != 1 || $1 == -h || $1 == --help ]]; then
  sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"
  if [[ ${1:-} == -h || ${1:-} == --help ]]; then exit 0; else exit 1; fi
fi
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out=$1
bin=${BIN:-$repo/build/gpu/bin}
guests=${GUESTS:-$repo/build/gpu/guests}
backend=${BACKEND:-cuda}
base=${BASE_LOG2:-20}
blocks=${BLOCKS:-10}
other_blocks=${OTHER_BLOCKS:-8}
read -ra abba_flags <<<"${ABBA_FLAGS:-}"

log() { echo "gpu_intervals: $*" >&2; }
for tool in epoch epoch-serve epoch-abba epoch-fixture epoch-report; do
  [[ -x $bin/$tool ]] || { log "no $bin/$tool; BIN says where the programs are"; exit 1; }
done
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for workload in "${FIB:-fib-4m}" "${LEDGER:-ledger-20}"; do
  "$bin/epoch-fixture" "$workload" -o "$work/$workload.input" >/dev/null
done

serve() {  # WORKLOAD LOG2 RESIDENCY IN_FLIGHT
  printf '%q ' "$bin/epoch-serve" "$guests/${1%%-*}.elf" --input "$work/$1.input" \
    --epoch-size-log2 "$2" --backend "$backend" --residency "$3" --in-flight "$4"
}
results=()
# The control is the program alone, run before every proof by the same binary for both sides: no
# setting of the prover reaches it. `execute_seconds` of a proof would not do: that execution runs
# beside the proving and shares the host's memory with whatever the prover copies.
compare() {  # NAME BLOCKS WORKLOAD LABEL_A COMMAND_A LABEL_B [COMMAND_B]
  local name=$1 count=$2 workload=$3 label_a=$4 a=$5 label_b=$6 sides code=0
  if [[ -n ${ONLY:-} && " $ONLY " != *" $name "* ]]; then return; fi
  if ((SECONDS > ${LIMIT_S:-300})); then
    log "$name: left out, $SECONDS s are over"
    return
  fi
  if [[ $# == 6 ]]; then sides=(--aa); else sides=(--b "$7"); fi
  log "$name, $SECONDS s"
  "$bin/epoch-abba" --serve --a "$a" "${sides[@]}" --label-a "$label_a" --label-b "$label_b" \
    --title "$name, $workload" --blocks "$count" --warmup 1 --seed "${SEED:-1}" --timeout 120 \
    --control-command "$(printf '%q ' "$bin/epoch" execute "$guests/${workload%%-*}.elf" \
      --input "$work/$workload.input" --json)" --json "$work/$name.json" \
    ${abba_flags[@]+"${abba_flags[@]}"} >"$work/$name.txt" 2>"$work/$name.err" || code=$?
  tail -1 "$work/$name.txt" >&2
  # 3 without a result: no block was valid. 1: the tool, or a run, failed.
  if [[ $code == 1 || ! -s $work/$name.json ]]; then
    tail -5 "$work/$name.err" >&2
    log "$name failed"
    failed=1
    return
  fi
  results+=("$work/$name.json")
}

failed=0
fib=${FIB:-fib-4m} ledger=${LEDGER:-ledger-20}
plain=$(serve "$fib" "$base" device-only 3)
compare aa "$blocks" "$fib" "2^$base" "$plain" "the same"
for workload in "$fib" "$ledger"; do
  compare "residency-${workload%%-*}" "$blocks" "$workload" \
    device-only "$(serve "$workload" "$base" device-only 3)" \
    host-mirror "$(serve "$workload" "$base" host-mirror 3)"
done
for count in 1 2; do
  compare "in-flight-$count" "$other_blocks" "$fib" \
    "$count in flight" "$(serve "$fib" "$base" device-only "$count")" \
    "$((count + 1)) in flight" "$(serve "$fib" "$base" device-only $((count + 1)))"
done
for size in ${SIZES-18 19 21 22}; do
  compare "size-$size" "$other_blocks" "$fib" "2^$size" "$(serve "$fib" "$size" device-only 3)" \
    "2^$base" "$plain"
done

((${#results[@]} > 0)) || { log "nothing was measured"; exit 1; }
"$bin/epoch-report" intervals "${results[@]}" -o "$out/intervals.json"
"$bin/epoch-report" table intervals "$out/intervals.json" | tee "$out/intervals.md"
log "$SECONDS s"
exit "$failed"
