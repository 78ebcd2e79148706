#!/usr/bin/env bash
# Is REF_A better than REF_B? Builds both side by side and runs epoch-abba on them.
#
#   bench/abba.sh REF_A [REF_B] [BLOCKS]        REF_B: origin/main, or main; BLOCKS: 10
#
# Environment:
#   CONTINUATIONS, EPOCH_SIZE_LOG2   as `epoch prove` reads them
#   TX_COUNT          transfers of the ledger workload (5)
#   BENCH_FEATURES    words joined by commas or spaces: cuda (or prover/cuda) builds and proves with
#                     CUDA, device-only and host-mirror choose the residency, NAME=VALUE is a CMake
#                     option; jemalloc-stats is always there
#   BENCH_WORKLOAD    a workload of `epoch-fixture --list` (ledger)
#   BENCH_FLAGS       more flags for `epoch prove`, for example "--security proven128"
#   ABBA_FLAGS        more flags for epoch-abba, for example "--threshold 2 --seed 7"
#   ABBA_CACHE        where builds, inputs and results are kept (build/abba)
#   JOBS              parallel build jobs
#
# The exit code is epoch-abba's: 0 improvement or equivalent, 1 tool error, 2 regression,
# 3 unproven, 4 inconclusive. docs/benchmarks.md says what a verdict means.
set -euo pipefail

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${ABBA_CACHE:-$repo/build/abba}
jobs=${JOBS:-$(nproc)}
log() { echo "abba: $*" >&2; }
die() {
  log "$@"
  exit 1
}

usage() {
  sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"
}
case ${1:-} in
  -h | --help) usage; exit 0 ;;
  '') usage >&2; exit 1 ;;
esac

is_commit() { git -C "$repo" rev-parse --verify --quiet "$1^{commit}" >/dev/null; }
commit_of() {
  is_commit "$1" || die "$1 is no commit here$(remote_hint "$1")"
  git -C "$repo" rev-parse --verify "$1^{commit}"
}
remote_hint() {  # REF
  local remote=${1%%/*}
  if [[ $1 != */* ]] || git -C "$repo" show-ref --quiet "$1"; then return; fi
  git -C "$repo" remote | grep -qx "$remote" && echo "; git fetch $remote may bring it" ||
    echo "; there is no remote called $remote"
}
default_base() {
  for base in origin/main main; do
    if is_commit "$base"; then
      echo "$base"
      return
    fi
  done
  die "there is neither origin/main nor main: name the base, REF_B"
}
git -C "$repo" rev-parse --git-dir >/dev/null 2>&1 || die "$repo is no git checkout"
ref_a=$1
ref_b=${2:-$(default_base)}
blocks=${3:-10}
[[ "$blocks" =~ ^[1-9][0-9]*$ ]] || die "BLOCKS is a number, not $blocks"
commit_a=$(commit_of "$ref_a")
commit_b=$(commit_of "$ref_b")
if [[ $commit_a == "$(git -C "$repo" rev-parse HEAD)" || $ref_b == HEAD ]] &&
  [[ -n $(git -C "$repo" status --porcelain --untracked-files=no) ]]; then
  log "warning: changes that are not committed are not measured"
fi

# Features: CMake options for both builds, flags for both provers.
options=()
flags=()
cuda=OFF
read -ra features <<<"${BENCH_FEATURES:-}"
IFS=', ' read -ra features <<<"${features[*]}"
for feature in "${features[@]}"; do
  case $feature in
    cuda | prover/cuda) cuda=ON ;;
    jemalloc-stats) ;;
    device-only | host-mirror) flags+=(--residency "$feature") ;;
    [A-Z]*=*) options+=("-D$feature") ;;
    *) die "BENCH_FEATURES: unknown word $feature" ;;
  esac
done
if [[ $cuda == ON ]]; then flags+=(--backend cuda); else flags+=(--backend cpu); fi
options+=("-DEPOCHD_CUDA=$cuda")
feature_key=$(printf '%s\n' "${options[@]}" | sort | sha256sum | cut -c1-8)

configure() {  # SOURCE BUILD OPTION...
  local source=$1 build=$2
  shift 2
  cmake -S "$source" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DEPOCHD_TESTS=OFF "$@"
}

# Builds `epoch` of a commit once for these features; prints the folder. Every build has the same
# paths, so that ccache knows what the last commit shares with this one.
build_commit() {
  local commit=$1
  local folder=$cache/builds/${commit:0:16}-$feature_key
  if [[ ! -e $folder/complete ]]; then
    log "building ${commit:0:12} (${options[*]})"
    local source=$cache/source build=$cache/build-$feature_key
    if [[ -e $source ]]; then git -C "$repo" worktree remove --force "$source"; fi
    git -C "$repo" worktree prune
    git -C "$repo" worktree add --quiet --detach "$source" "$commit" >&2
    mkdir -p "$folder/bin"
    {
      configure "$source" "$build" -DEPOCHD_GUESTS=OFF "${options[@]}" &&
        cmake --build "$build" -j "$jobs" --target epoch &&
        cp "$build/bin/epoch" "$folder/bin/epoch"
    } >"$folder.log" 2>&1 || {
      git -C "$repo" worktree remove --force "$source"
      tail -20 "$folder.log" >&2
      die "building ${commit:0:12} failed; all of it is in $folder.log"
    }
    git -C "$repo" worktree remove --force "$source"
    touch "$folder/complete"
  fi
  echo "$folder"
}

mkdir -p "$cache/fixtures" "$cache/results"
exec 9>"$cache/lock"
flock --nonblock 9 || die "another run uses $cache"
build_a=$(build_commit "$commit_a")
build_b=$(build_commit "$commit_b")

# The tools and the guest are of this checkout, the same for both sides: provers are compared.
workload=${BENCH_WORKLOAD:-ledger}
export TX_COUNT=${TX_COUNT:-5}
tools=$cache/tools
build_tools() {  # TARGET...
  log "building $*"
  {
    configure "$repo" "$tools" -DEPOCHD_DAEMON=OFF -DEPOCHD_CUDA=OFF &&
      cmake --build "$tools" -j "$jobs" --target "$@"
  } >"$tools.log" 2>&1 || {
    tail -20 "$tools.log" >&2
    die "building the tools failed; all of it is in $tools.log"
  }
}

build_tools epoch-abba epoch-fixture
name=$workload
[[ $workload != ledger ]] || name=ledger-$TX_COUNT
input=$cache/fixtures/$name.input
guest=$("$tools/bin/epoch-fixture" "$name" -o "$input.new" | cut -f1) || die "no input for $name"
mv "$input.new" "$input"
build_tools "guest_${guest%.elf}"
program=$tools/guests/$guest

read -ra more_flags <<<"${BENCH_FLAGS:-}"
prove() {  # BUILD OUTPUT
  printf '%q ' "$1/bin/epoch" prove "$program" --input "$input" -o "$2" --json \
    "${flags[@]}" ${more_flags[@]+"${more_flags[@]}"}
}
result=$cache/results/${commit_a:0:12}-${commit_b:0:12}-$name
sides=(--a "$(prove "$build_a" "$cache/a.proof")" --label-a "$ref_a (${commit_a:0:12})")
if [[ $commit_a == "$commit_b" ]]; then
  sides+=(--aa --label-b "$ref_b (the same commit)")
else
  sides+=(--b "$(prove "$build_b" "$cache/b.proof")" --label-b "$ref_b (${commit_b:0:12})")
fi
# The program alone, run by the base's executor before every proof of either side: no change of the
# prover reaches it.
control=$(printf '%q ' "$build_b/bin/epoch" execute "$program" --input "$input" --json)
read -ra abba_flags <<<"${ABBA_FLAGS:-}"
log "results go to $result.{json,csv,md,html}"
code=0
"$tools/bin/epoch-abba" "${sides[@]}" --blocks "$blocks" --title "$name: $ref_a against $ref_b" \
  --control-command "$control" \
  --json "$result.json" --csv "$result.csv" --markdown "$result.md" --html "$result.html" \
  ${abba_flags[@]+"${abba_flags[@]}"} || code=$?
rm -f "$cache/a.proof" "$cache/b.proof"
exit "$code"
