#!/usr/bin/env bash
# usage: ranks_test.sh PROGRAM MPIEXEC|none CASE [COUNT [SEED]]
# ./learn train with several processes. CASE: agree (the bits of one process), lost (ranks that end, hang or are interrupted),
# many (COUNT random ranks are killed or stopped at random moments; no part of the suite, since 50 take a quarter of an hour)
set -u
program=${1:?usage: ranks_test.sh PROGRAM MPIEXEC|none CASE} mpiexec=${2:?} case=${3-agree} count=${4-50} seed=${5-1}
unset TINYMP_EMULATE
export LC_ALL=C.UTF-8 TINYMP_THREADS=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

failures=0 alone='' took=0
bad() {
  printf 'FAILED: %s\n' "$*"
  tail -n 20 out err
  failures=$((failures + 1))
}
learn() { # CODE ARGUMENT...
  local expected=$1 code
  shift
  timeout 120 "$program" train "$@" >out 2>err </dev/null
  code=$?
  [ "$code" = "$expected" ] || bad "learn train $*: exit code $code, expected $expected"
}
complains() { # PATTERN: in the one message there is
  [ "$(grep -c '^learn: ' err)" = 1 ] || bad 'wanted one message'
  grep -Eq -- "$1" err || bad "the message has no '$1'"
}
hash_of() { grep '^weights ' out; }

if [ "$mpiexec" = none ]; then
  learn 3 --data cut --ranks 2
  complains 'this build has no MPI; install it'
  [ "$failures" -eq 0 ] || exit 1
  echo '[skipped] this build has no MPI'
  exit 77
fi

same() { # ARGUMENT...: 4 ranks, and 2 of mpirun's, end in the hash of one process with 4 micro-batches
  local alone
  learn 0 "$@" --hash --accumulate 4 && alone=$(hash_of)
  learn 0 "$@" --hash --ranks 4
  [ "$(hash_of)" = "$alone" ] || bad "learn train $*: $(hash_of) with --ranks 4, $alone with --accumulate 4"
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 \
    "$mpiexec" -n 2 "$program" train "$@" --hash --accumulate 2 >out 2>err </dev/null || bad "mpirun -n 2 learn train $*"
  [ "$(hash_of)" = "$alone" ] || bad "learn train $*: $(hash_of) with mpirun -n 2, $alone with --accumulate 4"
}

shared_state() { # --zero 1: the same hash, with and without it, and a fourth of the bytes on each rank
  local alone run_of=(--data cut --steps 20 --batch 8 --recipe fp16_dynamic --optimizer adamw --clip 0.5)
  learn 0 "${run_of[@]}" --hash --accumulate 4 && alone=$(hash_of)
  learn 0 "${run_of[@]}" --hash --ranks 4 --zero 1 --save-every 10
  [ "$(hash_of)" = "$alone" ] || bad "--zero 1: $(hash_of), $alone with --accumulate 4"
  # 50,890 weights, a master and two moments of 4 bytes each, in 50 chunks of 1,024
  grep -q '^Masters and moments by rank: 147 kB, 160 kB, 147 kB, 156 kB$' out || bad 'wrong bytes by rank'
  learn 2 --data cut --zero 1 && complains 'there is one process; give --ranks, too'
  learn 2 --data cut --ranks 2 --zero 3 && complains 'whole number from 0 to 1'
}

staged() { # ARGUMENT...: 2 and 4 ranks that share the blocks of a model end in the hash of one process
  local alone ranks
  learn 0 "$@" --hash && alone=$(hash_of)
  for ranks in 2 4; do
    learn 0 "$@" --hash --pipeline --ranks $ranks
    [ "$(hash_of)" = "$alone" ] || bad "learn train $*: $(hash_of) in $ranks stages, $alone in one process"
    grep -q '^Waited by rank: ' out || bad 'it does not say how long the ranks waited'
  done
}

agree() {
  local recipe
  for recipe in fp32 fp16_dynamic o1; do
    staged --data course --steps 6 --batch 4 --recipe $recipe --model transformer --layers 4 --width 16 --heads 2 \
      --context 16 --dropout 0.1 --optimizer adamw --clip 1 --accumulate 3 --shadow-every 0
  done
  learn 2 --data course --model transformer --pipeline && complains 'give --ranks, too'
  learn 2 --data course --model transformer --pipeline --ranks 4 && complains '--layers 4 or more, or fewer ranks'
  learn 2 --data cut --pipeline --ranks 2 && complains 'its model is one of images'
  for recipe in fp32 fp16_static fp16_dynamic; do
    same --data cut --steps 30 --batch 8 --recipe $recipe --clip 0.5
    same --data cut --steps 4 --batch 4 --recipe $recipe --model lenet
    same --data course --steps 6 --batch 4 --recipe $recipe --model transformer --layers 2 --width 16 --heads 2 \
      --context 16 --dropout 0.1 --optimizer adamw --clip 1
  done
  same --data cut --steps 2 --batch 2 --model resnet20 --shadow-every 0 --recipe fp16_dynamic --recompute
  # S begins so high that each first step overflows, on all ranks.
  same --data cut --steps 30 --batch 8 --recipe fp16_dynamic --loss-scale 1e9
  shared_state
  in_16_bits
  learn 2 --data cut --ranks 2 --lr 0.1,0.2 && complains '--ranks shares the steps of one run'
  learn 2 --data cut --ranks 0 && complains 'whole number from 1'
  learn 2 --data cut --ranks 2 --recipe fp8_hybrid && complains 'its products are in FP8'
  learn 2 --resume runs/train-001 --ranks 2 # finished, with 3 micro-batches
  complains 'which they cannot share equally'
}

# Each way to add up has its own weights; 4 ranks of 2 processors end in the same ones again, and resume as 4 alone.
in_16_bits() {
  local wire divide hashes=''
  learn 2 --data cut --wire f16 && complains '--wire f16 is how several processes add up gradients; add --ranks 2'
  learn 2 --data cut --ranks 2 --divide first && complains 'without --wire no gradient is divided'
  learn 2 --data cut --ranks 2 --wire f32 && complains 'f32'
  run_of=(--data cut --steps 20 --batch 8 --recipe o1 --save-every 5 --out wires)
  for wire in f16 bf16; do
    for divide in after first; do
      learn 0 "${run_of[@]}" --ranks 4 --wire $wire --divide $divide --hash
      grep -q "The ranks add up their gradients in $wire, divided ${divide}[.]" out || bad 'it does not tell the wire'
      hashes+=$(hash_of)$'\n'
    done
  done
  [ "$(sort -u <<<"$hashes" | grep -c weights)" -ge 3 ] || bad "too few different weights: $hashes"
  learn 0 "${run_of[@]}" --ranks 4 --wire f16 --divide after --hash
  [ "$(hash_of)" = "$(head -n 1 <<<"$hashes")" ] || bad 'the same run again: other weights'
  grep -q '"ranks":4,"wire":"f16, divided after"' wires/train-001/*.jsonl || bad 'the log does not have the wire'
  rm wires/train-001/checkpoint.safetensors
  "$program" compare wires --out elsewhere >out 2>err </dev/null || bad 'compare'
  grep -q 'samples/s' out || bad 'compare does not tell samples a second'
  grep -q 'wire bf16, divided first' out || bad 'compare does not tell the wires'
}

broken() { # SIGNAL|RM RANK [SECONDS]: begins a run with 4 ranks; after its first checkpoint, and SECONDS, a rank gets the signal,
  # or the folder of the run is removed
  local what=$1 rank=$2 job run i
  rm -rf runs
  "$program" train "${run_of[@]}" --ranks 4 --hash >out 2>err </dev/null &
  job=$!
  run=runs/train-001
  for ((i = 0; i < 600; i++)); do
    [ -e $run/checkpoint.safetensors ] && break
    sleep 0.1
  done
  sleep "${3-0}"
  if [ "$what" = RM ]; then
    until rm -rf runs 2>/dev/null; do :; done
  elif [ "$what" = INT ]; then kill -INT $job; else kill -"$what" "$(pgrep -P "$(pgrep -P $job)" | sort -n | sed -n "$((rank + 1))p")"; fi
  SECONDS=0
  wait $job
  code=$? took=$SECONDS
  [ "$took" -le 30 ] || bad "$what of rank $rank: the others took $took s to end"
  # The path of a build may hold ++: it is no regular expression.
  ps -eo args= | awk -v began="$program train ${run_of[*]}" 'index($0, began) == 1 { left = 1 } END { exit !left }' &&
    bad "$what of rank $rank: a process is left"
  ls $run/*.finished >/dev/null 2>&1 && bad "the run was over before"
}

resumes() { # RANKS [FLAG]
  learn 0 --resume runs/train-001 --ranks "$@" --hash
  grep -Eq '^Goes on after step [1-9]' out || bad 'it began anew'
  [ "$(hash_of)" = "$alone" ] || bad "resumed with $1 ranks: $(hash_of), $alone without an interruption"
}

lost() {
  local ranks=2 rank
  run_of=(--data cut --steps 600 --batch 8 --save-every 10 --shadow-every 0)
  learn 0 "${run_of[@]}" --accumulate 4 --hash && alone=$(hash_of)
  broken INT 0
  [ $code = 130 ] || bad "Ctrl-C: exit code $code"
  grep -q 'Interrupted after step' err || bad 'it does not say where it stopped'
  grep -q -- '--ranks 4 --hash$' err || bad 'it does not say how to go on'
  resumes 4
  for rank in 0 2; do
    broken KILL $rank
    complains "rank $rank exited on signal 9 .*mpirun has ended the others"
    resumes $ranks
    ranks=1
    broken STOP $rank
    complains "rank $rank of 4 has not answered for 10 s: it has ended, or it hangs"
    resumes 4
  done
  broken RM 0
  complains 'cannot write the (checkpoint|run log)' # by rank 0 alone, which has failed
  lost_stage
}

lost_stage() {
  run_of=(--data course --model transformer --layers 4 --width 16 --heads 2 --context 16 --batch 4 --steps 300
    --save-every 10 --shadow-every 0 --validate-every 50)
  learn 0 "${run_of[@]}" --accumulate 2 --hash && alone=$(hash_of)
  run_of+=(--accumulate 2 --pipeline)
  broken KILL 2
  complains "rank 2 exited on signal 9 .*mpirun has ended the others"
  resumes 3 --pipeline
  broken STOP 1
  complains "rank 1 of 4 has not answered for 10 s: it has ended, or it hangs"
  resumes 2
  broken INT 0
  grep -q -- '--ranks 4 --pipeline --hash$' err || bad 'it does not say how to go on'
  resumes 1
}

many() {
  local i what rank
  RANDOM=$seed
  run_of=(--data cut --steps 1200 --batch 8 --save-every 5 --shadow-every 0 --recipe fp16_dynamic)
  learn 0 "${run_of[@]}" --accumulate 4 --hash && alone=$(hash_of)
  for ((i = 0; i < count; i++)); do
    what=KILL rank=$((RANDOM % 4))
    if [ $((i % 2)) = 1 ]; then what=STOP; fi
    broken $what $rank 0.$((RANDOM % 900 + 100))
    complains "^learn: rank $rank "
    resumes $((1 << RANDOM % 3))
    echo "$what of rank $rank: $(grep -o 'after step.*' out), ended after $took s, $failures failures so far"
  done
}

"$case"
[ "$failures" -eq 0 ] || exit 1
echo "passed: $case"
