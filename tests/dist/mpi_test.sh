#!/usr/bin/env bash
# usage: mpi_test.sh PROGRAM MPIEXEC|none CASE
# Ranks that are processes: what they compute, and how they end when one of them is lost. CASE: agree, lost
set -u
program=${1:?usage: mpi_test.sh PROGRAM MPIEXEC|none CASE} mpiexec=${2:?} case=${3-agree}
if [ "$mpiexec" = none ]; then
  echo '[skipped] this build has no MPI'
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# On one machine, also as root, more ranks than cores, each with one thread.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe OMPI_MCA_btl_vader_single_copy_mechanism=none TINYMP_THREADS=1

failures=0
bad() {
  printf 'FAILED: %s\n' "$*"
  tail -n 30 "$work/out" "$work/err"
  failures=$((failures + 1))
}
ranks() { # CODE COUNT ARGUMENT...: runs the program on COUNT ranks; CODE is 0, or 1 for any other
  local expected=$1 count=$2 code
  shift 2
  SECONDS=0
  timeout 60 "$mpiexec" -n "$count" "$program" "$@" >"$work/out" 2>"$work/err" </dev/null
  code=$?
  if [ "$code" -ne 0 ]; then code=1; fi
  [ "$code" = "$expected" ] || bad "$count ranks, $*: exit code $code, expected $expected"
}
prints() { grep -Eq -- "$1" "$work/out" || bad "the output has no '$1'"; }
complains() { grep -Eq -- "$1" "$work/err" || bad "the errors have no '$1'"; }

agree() {
  local count alone
  alone=$("$program" alone)
  for count in 1 2 4; do
    ranks 0 "$count" collectives && prints "all of $count ranks agree"
    mkdir "$work/run-$count"
    ranks 0 "$count" train "$work/run-$count" && prints "$alone"
  done
  ranks 0 3 large && prints 'all of 3 ranks agree'
  ranks 0 2 slow && prints 'all of 2 ranks agree' # silent for longer than the limit, but at work
  ranks 1 2 unlike && complains 'rank 1 sent (5 bytes to rank 0, which expects 4|something else)'
}

lost() {
  ranks 1 3 meet 1 0 # it fails, and says why
  complains 'rank 0 says: the disk is full'
  complains 'rank 2 says: the disk is full'
  for odd in 0 2; do
    ranks 1 3 meet "$odd" 19 # stopped: it neither works nor ends
    complains "rank 1 says: rank $odd of 3 has not answered for 3 s: it has ended, or it hangs"
    [ "$SECONDS" -le 30 ] || bad "the others took $SECONDS s to end"
    ranks 1 3 meet "$odd" 9 # killed: mpirun sees it, and ends the others
    [ "$SECONDS" -le 30 ] || bad "the others took $SECONDS s to end"
  done
}

"$case"
[ "$failures" -eq 0 ] || exit 1
echo "passed: $case"
