#!/usr/bin/env bash
# usage: collect_test.sh CLASSROOM alarm|interrupted
# A class from its folders to its page: one that fails in the same words, and one in the midst of which a teacher presses Ctrl-C.
set -um # a job is a process group, as on a terminal, and hears SIGINT
classroom=${1:?usage: collect_test.sh CLASSROOM alarm|interrupted}
part=${2:?usage: collect_test.sh CLASSROOM alarm|interrupted}
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d) && chmod 755 "$work" && cd "$work" && mkdir tmp || exit 1 # a submission of root's runs as another user
trap 'cd / && rm -rf "$work"' EXIT
export LC_ALL=C.UTF-8 TMPDIR=$work/tmp

fail() {
  echo "FAILED: $*"
  cat out err
  exit 1
}
hands_in() { # STUDENT < TEXT
  mkdir -p "class/$1/mine/01_half"
  cat >"class/$1/mine/01_half/half_to_float.h"
}
right() { sed '/exercise half_to_float/,/exercise half_to_float/!d' "$root/tinymp/numeric/half_codec.h"; }
wrong() { right | sed 's/0x1p-24f/0/'; } # no subnormals
collect() { "$classroom" collect class --out page --only 1.2 --trust >out 2>err </dev/null; }
row() { grep "^$1," page/class.csv | cut -d , -f 2-4; } # points, of how many, the verdict

alarm() {
  local student code
  for student in ada bob cid dan; do wrong | hands_in $student; done
  right | hands_in eve
  collect
  code=$?
  [ $code = 1 ] || fail "four of five fail alike: exit code $code, not 1"
  [ "$(row dan) $(row eve)" = '0,10,wrong 10,10,passed' ] || fail "judged: $(row dan) $(row eve)"
  grep -q '^alarm: 4 of 5 submissions fail 1\.2 in the same way (wrong: Your code ' err || fail 'no alarm on the terminal'
  grep -q '<strong>alarm:</strong> 4 of 5 submissions fail 1\.2 in the same way' page/class.html || fail 'no alarm on the page'
}

running() { # what was started here and lives
  local pattern="${work%?}[${work: -1}]" # so that grep itself is none of it
  grep -al -- "$pattern" /proc/[0-9]*/cmdline 2>/dev/null
}
wait_for() { # WHAT COMMAND...: for as long as the job runs
  local what=$1
  shift
  while kill -0 $! 2>/dev/null; do
    if "$@"; then return; fi
    sleep 0.1
  done
  fail "$what"
}
loops() { running | xargs -r cat 2>/dev/null | tr '\0' '\n' | grep -q '/check/check$'; }

interrupted() {
  local code
  right | hands_in ada
  wrong | hands_in bob
  printf '%s\n' 'TINYMP_HD constexpr float float_from_half_bits(std::uint16_t bits) {' \
    '  if (!std::is_constant_evaluated()) for (volatile int i = 0;; i = 1 - i) {}' '  return bits;' '}' | hands_in cid
  right | hands_in dan
  "$classroom" collect class --out page --only 1.2 --trust >out 2>err </dev/null &
  wait_for 'bob is not judged' [ -e page/students/bob.json ]
  wait_for 'the loop does not run' loops
  kill -INT -- -$!
  wait $!
  code=$?
  [ $code = 130 ] || fail "exit code $code, not 130"
  [ -z "$(running)" ] || fail "still running: $(running | xargs -r cat | tr '\0' ' ')"
  [ -z "$(ls tmp)" ] || fail "left behind: $(ls tmp)"
  [ "$(row ada) $(row bob) $(wc -l <page/class.csv)" = '10,10,passed 0,10,wrong 3' ] || fail 'class.csv is another'
  grep -q '"score": 10' page/students/ada.json || fail 'ada.json is another'
  grep -q '"outcome": "wrong"' page/students/bob.json || fail 'bob.json is another'
  [ "$(find page -type f | wc -l)" = 5 ] || fail "page holds: $(find page -type f | tr '\n' ' ')"
  grep -q '2 of 4 students' page/class.html || fail 'the page does not say how many were judged'
  grep -q '<th scope="row">ada</th><td>10</td>' page/class.html || fail 'ada is not on the page'
  if grep -q '<th scope="row">cid</th>' page/class.html; then fail 'cid is on the page, and was not judged'; fi
  grep -q '^2 of 4 students were judged' err || fail 'it does not say how many were judged'
}

case $part in
  alarm) alarm ;;
  interrupted) interrupted ;;
  *) echo "no such part: $part" && exit 2 ;;
esac
echo "collect_test, $part: passed"
