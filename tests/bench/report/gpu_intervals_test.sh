#!/usr/bin/env bash
# gpu_intervals.sh over an `epoch-serve` that makes its times up.
# Usage: gpu_intervals_test.sh GPU_INTERVALS_SH EPOCH_ABBA EPOCH_FIXTURE EPOCH_REPORT
set -euo pipefail

script=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin" "$folder/guests"
cp "$2" "$3" "$4" "$folder/bin"
# Twice as long with a mirror; one per cent more for every step of size away from 20.
cat >"$folder/bin/epoch-serve" <<'EOF'
#!/bin/bash
echo "$*" >>"$CALLS"
[[ $* != *--in-flight\ 2* ]] || { echo "no such memory" >&2; exit 1; }
time=1000
[[ $* != *host-mirror* ]] || time=2000
[[ $* != *--epoch-size-log2\ 18* ]] || time=1020
while read -r _; do printf '{"prove_seconds": %d.%d}\n' $((time / 10)) $((RANDOM % 10)); done
EOF
cat >"$folder/bin/epoch" <<'EOF'
#!/bin/sh
echo '{"execute_seconds": 0.5}'
EOF
chmod +x "$folder/bin/epoch" "$folder/bin/epoch-serve"
export BIN=$folder/bin GUESTS=$folder/guests CALLS=$folder/calls ABBA_FLAGS=--no-rules
export BLOCKS=3 OTHER_BLOCKS=2 FIB=fib-2k LEDGER=ledger-1 SIZES=18

fail() {
  echo "FAILED: $*" >&2
  cat "$folder/log" >&2
  exit 1
}
code=0
"$script" "$folder/out" >"$folder/log" 2>&1 || code=$?
# Everything with two in flight failed, and all else is there.
[[ $code == 1 ]] || fail "ended with $code"
grep -q 'no such memory' "$folder/log" || fail "does not say why"
table=$folder/out/intervals.md
[[ $(grep -c '^| [^w]' "$table") == 4 ]] || fail "$(cat "$table")"
grep -Eq '^\| residency-ledger, ledger-1 .*\| -(49|50)\.[0-9]+ .*improvement' "$table" ||
  fail "no residency: $(cat "$table")"
grep -Eq '^\| aa, fib-2k .*(equivalent|inconclusive)' "$table" || fail "no A/A: $(cat "$table")"
grep -q -- '--residency device-only --in-flight 3' "$folder/calls" || fail "$(cat "$folder/calls")"

ONLY=size-18 "$script" "$folder/one" >"$folder/log" 2>&1 || fail "ONLY"
[[ $(grep -c '^| [^w]' "$folder/one/intervals.md") == 1 ]] || fail "ONLY: more than one"
LIMIT_S=-1 "$script" "$folder/none" >"$folder/log" 2>&1 && fail "nothing was measured"
grep -q 'left out' "$folder/log" || fail "LIMIT_S"
"$script" >"$folder/log" 2>&1 && fail "no argument"
BIN=/nowhere "$script" "$folder/x" >"$folder/log" 2>&1 && fail "no programs"
echo "gpu_intervals.sh does what it says"
