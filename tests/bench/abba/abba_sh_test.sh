#!/usr/bin/env bash
# bench/abba.sh in a made-up repository whose `epoch` prints made-up times: refs, features, cached
# builds, generated inputs, flags, verdicts. Usage: abba_sh_test.sh ABBA_SH EPOCH_ABBA EPOCH_FIXTURE
set -euo pipefail

script=$1 abba=$2 fixture=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
repo=$folder/repo
mkdir -p "$repo/bench"
cp "$script" "$repo/bench/abba.sh"

# Every configuration is written down; `epoch` says how long it "took" and what it was asked.
cat >"$repo/CMakeLists.txt" <<EOF
cmake_minimum_required(VERSION 3.20)
project(made_up LANGUAGES NONE)
file(APPEND $folder/configured "\${EPOCHD_CUDA} \${EPOCHD_DAEMON} \${EXTRA}\n")
file(MAKE_DIRECTORY \${CMAKE_BINARY_DIR}/bin)
set(BIN \${CMAKE_BINARY_DIR}/bin)
add_custom_target(epoch COMMAND cp \${CMAKE_SOURCE_DIR}/epoch.sh \${BIN}/epoch)
add_custom_target(epoch-abba COMMAND cp $abba \${BIN}/epoch-abba)
add_custom_target(epoch-fixture COMMAND cp $fixture \${BIN}/epoch-fixture)
add_custom_target(guest_ledger)
add_custom_target(guest_fib)
EOF
make_epoch() {  # SECONDS
  cat >"$repo/epoch.sh" <<EOF
#!/bin/sh
echo "\$CONTINUATIONS \$EPOCH_SIZE_LOG2 \$*" >> $folder/calls
case "\$*" in *--input*) wc -c < "\$4" > $folder/input_bytes ;; esac
echo '{"prove_seconds": $1, "execute_seconds": 0.5}'
EOF
  chmod +x "$repo/epoch.sh"
}
git_in() { git -C "$repo" -c user.name=t -c user.email=t@t "$@"; }

git_in init --quiet --initial-branch=main
make_epoch 1.0
git_in add . && git_in commit --quiet -m slow
git_in checkout --quiet -b change
make_epoch 0.5
git_in commit --quiet -am fast
git_in checkout --quiet -b worse
make_epoch 2.0
git_in commit --quiet -am slower

fail() {
  echo "FAILED: $*" >&2
  cat "$folder/out" >&2
  exit 1
}
expect() {  # CODE ARGUMENT...: runs abba.sh
  local expected=$1 code=0
  shift
  "$repo/bench/abba.sh" "$@" >"$folder/out" 2>&1 || code=$?
  [[ $code == "$expected" ]] || fail "abba.sh $* ended with $code, not $expected"
}
expect_text() { grep -q -- "$1" "$2" || fail "no '$1' in $2: $(cat "$2")"; }

export CONTINUATIONS=1 EPOCH_SIZE_LOG2=17 ABBA_FLAGS='--no-rules'
TX_COUNT=3 BENCH_FEATURES='jemalloc-stats,prover/cuda, EXTRA=x' expect 0 change main 2
expect_text '^improvement:' "$folder/out"
expect_text '^1 17 prove .*ledger.elf .*--backend cuda' "$folder/calls"
expect_text '^1 17 execute .*ledger.elf --input ' "$folder/calls"
expect_text '^control (execute_seconds) *+0.00 %' "$folder/out"
expect_text '^ON .* x' "$folder/configured"
# 2 words, 4 accounts of 5 words, 3 transfers of 13.
expect_text "^$((8 * (2 + 4 * 5 + 3 * 13)))$" "$folder/input_bytes"
[[ $(git_in worktree list | wc -l) == 1 ]] || fail "a worktree is left"
results=$(ls "$repo"/build/abba/results | wc -l)
[[ $results == 4 ]] || fail "$results results"

# The same commits and features again: nothing but the tools is configured.
before=$(wc -l <"$folder/configured")
TX_COUNT=3 BENCH_FEATURES='EXTRA=x,cuda' expect 0 change main 2
[[ $(wc -l <"$folder/configured") == $((before + 2)) ]] || fail "builds are not cached"

# Other features are another build; the default base is main.
expect 2 worse
expect_text '--backend cpu' "$folder/calls"
expect_text '^OFF ' "$folder/configured"
export BENCH_WORKLOAD=fib-1m BENCH_FLAGS='--security test' ABBA_FLAGS='--no-rules --threshold 2'
expect 2 worse change 2
unset BENCH_WORKLOAD BENCH_FLAGS
export ABBA_FLAGS='--no-rules'
expect_text 'fib.elf .*--security test' "$folder/calls"
expect 0 main main 2
expect_text 'equivalent' "$folder/out"

expect 1 no-such-ref
expect_text 'no-such-ref is no commit here$' "$folder/out"
expect 1 HEAD origin/main 2
expect_text 'there is no remote called origin' "$folder/out"
git_in remote add origin "$folder/nowhere"
expect 1 HEAD origin/main 2
expect_text 'git fetch origin may bring it' "$folder/out"

# What is not committed is not measured, and a commit that does not build is said to be.
echo '# changed' >>"$repo/epoch.sh"
expect 2 HEAD change 2
expect_text 'not committed are not measured' "$folder/out"
git_in checkout --quiet -- epoch.sh
git_in checkout --quiet -b broken
echo 'message(FATAL_ERROR "a hole in it")' >>"$repo/CMakeLists.txt"
git_in commit --quiet -am broken
git_in checkout --quiet worse
expect 1 broken main 2
expect_text 'a hole in it' "$folder/out"
expect_text 'building .* failed; all of it is in' "$folder/out"
[[ $(git_in worktree list | wc -l) == 1 ]] || fail "a worktree is left"
expect 0 main main 2  # and the next run is none the worse
git_in branch --quiet -m main trunk
expect 1 trunk
expect_text 'neither origin/main nor main' "$folder/out"
git_in branch --quiet -m trunk main

expect 1 main main many
BENCH_FEATURES=warp expect 1 main main 2
expect_text 'unknown word warp' "$folder/out"
expect 1
expect 0 --help
expect_text 'TX_COUNT' "$folder/out"
echo "abba.sh does what it says"
