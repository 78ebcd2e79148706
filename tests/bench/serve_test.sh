#!/usr/bin/env bash
# epoch-serve: a proof for every line, the same each time, and an end when there are no more.
# Usage: serve_test.sh EPOCH_SERVE FIB_ELF
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
printf '\x64\0\0\0\0\0\0\0' >"$folder/input"  # 100 iterations
serve() { "$1" "$2" --input "$folder/input" --epoch-size-log2 8 --security test "${@:3}"; }
printf 'run\nrun\n' | serve "$1" "$2" --backend cpu >"$folder/out"
[[ $(wc -l <"$folder/out") == 2 ]]
for key in '"prove_seconds":' '"epochs":3' '"exit_code":0' '"in_flight":1' '"backend":"cpu"'; do
  [[ $(grep -c -- "$key" "$folder/out") == 2 ]] || { cat "$folder/out"; exit 1; }
done
[[ -z $(serve "$1" "$2" --backend cpu </dev/null) ]]
code=0
echo run | serve "$1" /nowhere.elf --backend cpu >"$folder/out" 2>&1 || code=$?
[[ $code == 1 ]] && grep -q nowhere "$folder/out"
