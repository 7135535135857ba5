#!/usr/bin/env bash
# usage: link_test.sh PROGRAM MPIEXEC|none [CASE]
# Two ranks on two machines, which are network namespaces. CASE: cut (the link between them is cut: both ranks end, and say
# why), slow (it carries 2 Mbit a second, with a delay where the kernel can make one: they agree, and none is lost)
set -u
program=${1:?usage: link_test.sh PROGRAM MPIEXEC} mpiexec=${2:?} case=${3-cut}
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
agree() { # PROGRAM'S ARGUMENT...
  (ranks "$@") >"$work/out" 2>"$work/err" </dev/null
  grep -q 'all of 2 ranks agree' "$work/out" || bad "the two machines do not agree: $*"
}

cut() {
  agree collectives
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
}

# Both directions. tbf is the bucket of a slow line; netem delays each packet, and some kernels lack it.
slow() {
  local side device delay='without a delay'
  for side in $here $there; do
    device=tmp-t$$
    if [ "$side" = $here ]; then device=tmp-h$$; fi
    if ip netns exec "$side" tc qdisc add dev $device root handle 1: netem delay 30ms 10ms 2>/dev/null; then
      delay='delayed by 30 ms'
      ip netns exec "$side" tc qdisc add dev $device parent 1: tbf rate 2mbit burst 32kb limit 200kb
    else
      ip netns exec "$side" tc qdisc add dev $device root tbf rate 2mbit burst 32kb limit 200kb
    fi 2>/dev/null || skip 'network namespaces do not work on this machine with a slow link: tc has no tbf'
  done
  agree collectives
  agree slow # one rank is silent for longer than the limit, but at work
  SECONDS=0
  agree gather 1000000 # each sends a megabyte, in 4 s: longer than the 3 s after which a silent rank is lost
  [ "$SECONDS" -ge 4 ] || bad "a megabyte took $SECONDS s: the link is not slow"
  mkdir "$work/run"
  agree train "$work/run"
  [ "$(grep '^weights ' "$work/out")" = "$("$program" alone | grep '^weights ')" ] || bad 'other weights than alone'
  echo "the link: 2 Mbit a second, $delay"
}

"$case"
[ "$failures" -eq 0 ] || exit 1
echo "passed: a link, $case"
