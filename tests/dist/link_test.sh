#!/usr/bin/env bash
# usage: link_test.sh PROGRAM MPIEXEC|none
# Two ranks on two machines, which are network namespaces, and the link between them is cut: both ranks end, and say why.
set -u
program=${1:?usage: link_test.sh PROGRAM MPIEXEC} mpiexec=${2:?}
skip() {
  echo "[skipped] $*"
  exit 77
}
[ "$mpiexec" != none ] || skip 'this build has no MPI'
"$mpiexec" --version 2>&1 | grep -Eq 'Open MPI|OpenRTE' || skip 'this test gives Open MPI a remote shell'
here=tinymp-here-$$ there=tinymp-there-$$ job=
work=$(mktemp -d)
clean() {
  if [ -n "$job" ]; then kill -9 "$job" 2>/dev/null; fi
  for name in $here $there; do
    ip netns pids "$name" 2>/dev/null | xargs -r kill -9
    ip netns del "$name"
  done 2>/dev/null
  rm -rf "$work"
}
trap clean EXIT
{ ip netns add $here && ip netns add $there && ip link add tmp-h$$ type veth peer name tmp-t$$ &&
  ip link set tmp-h$$ netns $here && ip link set tmp-t$$ netns $there; } 2>/dev/null ||
  skip 'network namespaces do not work on this machine'
ip -n $here addr add 10.231.0.1/24 dev tmp-h$$ && ip -n $there addr add 10.231.0.2/24 dev tmp-t$$
for name in $here $there; do ip -n "$name" link set lo up; done
ip -n $here link set tmp-h$$ up && ip -n $there link set tmp-t$$ up

# In place of ssh: OPTION... HOST COMMAND...
cat >"$work/shell" <<SHELL
#!/usr/bin/env bash
while [ "\${1#-}" != "\$1" ]; do shift; done
shift
exec ip netns exec $there bash -c "\$*"
SHELL
chmod +x "$work/shell"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 TINYMP_THREADS=1
ranks() { # ARGUMENT...
  exec ip netns exec $here "$mpiexec" --mca plm_rsh_agent "$work/shell" --mca btl tcp,self \
    --host 10.231.0.1:1,10.231.0.2:1 -n 2 "$program" "$@"
}

failures=0
bad() {
  printf 'FAILED: %s\n' "$*"
  tail -n 20 "$work/out" "$work/err"
  failures=$((failures + 1))
}
(ranks collectives) >"$work/out" 2>"$work/err" </dev/null
grep -q 'all of 2 ranks agree' "$work/out" || bad 'the two machines do not agree'

ranks meet -1 0 >"$work/out" 2>"$work/err" </dev/null &
job=$!
of_ranks() { ps -eo args= | awk -v began="$program meet" 'index($0, began) == 1' | wc -l; }
for ((i = 0; i < 100; i++)); do
  [ "$(of_ranks)" = 2 ] && break
  sleep 0.1
done
sleep 1
[ "$(of_ranks)" = 2 ] || bad 'the ranks do not run'
[ "$(ip netns pids $there | wc -l)" -ge 2 ] || bad 'no rank runs on the other machine'
ip -n $here link set tmp-h$$ down
for ((i = 0; i < 300; i++)); do # mpirun itself waits for the other machine for as long as that takes
  [ "$(of_ranks)" = 0 ] && break
  sleep 0.1
done
[ "$(of_ranks)" = 0 ] || bad 'after 30 s a rank is still there'
grep -q 'rank 0 says: rank 1 of 2 has not answered for 3 s' "$work/err" || bad 'rank 0 does not name rank 1'
[ "$failures" -eq 0 ] || exit 1
echo 'passed: a link that is cut'
