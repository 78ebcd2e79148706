#!/usr/bin/env bash
# From a fresh clone to a verified proof: installs what is needed, builds, drops two compiled C
# programs into a queue directory, lets the daemon prove them epoch by epoch, and verifies each
# bundle with the program's ELF alone. EPOCH_SIZE_LOG2 sets the epoch size (default here: 16).
# Proves on the CPU, or on the GPU where the machine shows one and nvcc was found.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

say() { printf '\n== %s\n' "$*"; }

say "Install and build into build/host"
config/install-deps.sh
cmake --preset host
cmake --build --preset host -j "$(nproc)" --target epoch epochd epochd_guests

bin=$PWD/build/host/bin
guests=$PWD/build/host/guests
work=$PWD/build/demo
queue=$work/queue
export EPOCH_SIZE_LOG2=${EPOCH_SIZE_LOG2:-16}
rm -rf "$work"
mkdir -p "$queue"
backend=cpu
if [[ -e /dev/nvidia0 ]]; then backend=auto; fi

say "Submit fib(50000) and the SHA-256 of 4096 bytes"
# A guest's numbers are little-endian u64: 0xC350 is 50000.
printf '\x50\xc3\x00\x00\x00\x00\x00\x00' >"$work/fib.input"
head -c 4096 /dev/zero >"$work/sha256.input"
submit() {
  "$bin/epoch" submit --queue "$queue" --backend "$backend" "$guests/$1.elf" \
    --input "$work/$1.input" --name "$1"
}
submit fib
submit sha256

say "Prove everything queued: epochd --once, 2^$EPOCH_SIZE_LOG2 cycles an epoch"
"$bin/epochd" --config config/epochd.yaml --queue "$queue" --once

say "Verify each bundle with the ELF alone"
verified=0
for job in "$queue"/done/*/; do
  "$bin/epoch" verify "$job/program.elf" "$job/bundle.proof" | tee "$work/$(basename "$job").txt"
  verified=$((verified + 1))
done
[[ $verified -eq 2 ]] || { echo "expected 2 finished jobs, found $verified" >&2; exit 1; }

say "The digest in the proof is the one sha256sum computes"
# The proved words are little endian: byte by byte, from the right.
proved=""
for word in $(sed -n 's/^outputs: 4: //p' "$work"/sha256-*.txt); do
  digits=$(printf '%016x' "$word")
  for at in 14 12 10 8 6 4 2 0; do proved+=${digits:at:2}; done
done
computed=$(sha256sum "$work/sha256.input" | cut -d ' ' -f 1)
echo "$proved"
[[ "$proved" == "$computed" ]] || { echo "sha256sum says $computed" >&2; exit 1; }

say "A proof changed in one byte must be refused"
job=$(ls -d "$queue"/done/*/ | head -n 1)
cp "$job/bundle.proof" "$work/changed.proof"
size=$(stat -c %s "$work/changed.proof")
byte=$(od -An -tu1 -j $((size / 2)) -N 1 "$work/changed.proof")
printf "\\x$(printf %02x $((byte ^ 1)))" |
  dd of="$work/changed.proof" bs=1 seek=$((size / 2)) conv=notrunc status=none
status=0
"$bin/epoch" verify "$job/program.elf" "$work/changed.proof" || status=$?
[[ $status -eq 1 ]] || { echo "expected exit code 1, got $status" >&2; exit 1; }

say "Done: the bundles are in $queue/done"
