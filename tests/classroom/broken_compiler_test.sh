#!/usr/bin/env bash
# usage: broken_compiler_test.sh CLASSROOM COMPILER REAL
# Where the compiler COMPILER, for which CLASSROOM was built, cannot start, always fails, or breaks when half of a class is
# judged: grade and collect say so in its words, end with exit code 3, and give nobody a verdict for it. REAL is one that works.
set -u
classroom=${1:?usage: broken_compiler_test.sh CLASSROOM COMPILER REAL}
compiler=${2:?usage: broken_compiler_test.sh CLASSROOM COMPILER REAL}
real=${3:?usage: broken_compiler_test.sh CLASSROOM COMPILER REAL}
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d) && cd "$work" || exit 1
trap 'cd / && rm -rf "$work"; rm -f "$compiler"' EXIT
export LC_ALL=C.UTF-8

fail() {
  echo "FAILED: $*"
  cat out err
  exit 1
}
compiler_is() { # TEXT of a shell script
  mkdir -p "${compiler%/*}"
  printf '#!/bin/sh\n%s\n' "$1" >"$compiler.new" && chmod 755 "$compiler.new" && mv -f "$compiler.new" "$compiler"
}
hands_in() { # STUDENT
  mkdir -p "class/$1/mine/01_half"
  sed '/exercise half_to_float/,/exercise half_to_float/!d' "$root/tinymp/numeric/half_codec.h" \
    >"class/$1/mine/01_half/half_to_float.h"
}
refuses() { # WORDS ARGUMENT...
  local words=$1 code
  shift
  "$classroom" "$@" --only 1.2 --trust >out 2>err </dev/null
  code=$?
  [ $code = 3 ] || fail "$*: exit code $code, not 3"
  grep -q 'this machine cannot grade' err || fail "$*: does not say that the machine cannot grade"
  grep -q -- "$words" err || fail "$*: does not say in the compiler's words: $words"
}
grades_nobody() { # WORDS
  rm -rf page grades.json
  refuses "$1" grade --mine class/ada/mine --out grades.json
  [ ! -e grades.json ] || fail 'grade wrote grades.json'
  refuses "$1" collect class --out page
  [ -z "$(find page -type f 2>/dev/null)" ] || fail "collect wrote $(find page -type f)"
}
without_judges() { rm -rf "${compiler%/*/*}/judges"; }

for student in ada bob cid; do hands_in $student; done
# The judges are compiled first; so both ways, without them and with them.
without_judges
rm -f "$compiler"
grades_nobody "$compiler: No such file or directory"
compiler_is 'echo "cc1plus: out of sorts"; exit 1'
grades_nobody 'cc1plus: out of sorts'
compiler_is "exec '$real' \"\$@\""
"$classroom" grade --mine class/ada/mine --out grades.json --only 1.2 --trust >out 2>err </dev/null || fail 'with a compiler that works'
grep -q '"score": 10' grades.json || fail 'with a compiler that works a right answer is not right'
rm -f "$compiler"
grades_nobody "$compiler: No such file or directory"
compiler_is 'echo "cc1plus: out of sorts"; exit 1'
grades_nobody 'cc1plus: out of sorts'
compiler_is 'kill -KILL $$'
grades_nobody 'it was ended: Killed'

# It breaks when ada is judged: the page is hers alone, and nobody else is on it.
compiler_is "if [ -e '${compiler%/*}/broken' ]; then echo 'cc1plus: out of sorts'; exit 1; fi; exec '$real' \"\$@\""
rm -rf page "${compiler%/*}/broken"
breaks() {
  until [ -e page/students/ada.json ]; do sleep 0.01; done
  : >"${compiler%/*}/broken"
}
breaks &
refuses 'cc1plus: out of sorts' collect class --out page
kill $! 2>/dev/null
rm -f "${compiler%/*}/broken"
grep -q '^ada,10,10,passed' page/class.csv || fail 'what was judged is lost'
if grep -q '^cid,' page/class.csv; then fail 'cid is blamed for the compiler'; fi
if grep -q 'does not compile\|stopped' page/class.csv; then fail 'somebody is blamed for the compiler'; fi
[ -e page/class.html ] || fail 'there is no page of those who were judged'
echo 'broken_compiler_test: passed'
