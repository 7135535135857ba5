#!/usr/bin/env bash
# usage: run.sh PROGRAM BUG [TEXT...]
# The bug must end the program with a report that has every TEXT; `line: NAME` stands for the line of bugs.cpp marked
# with it. Without a TEXT the program must come to its end without a report. Exits 77 where the sanitizer cannot run.
# PROGRAM may also be a Catch program, and BUG what it selects: all of it must pass without a report.
set -u
program=${1:?usage: run.sh PROGRAM BUG [TEXT...]}
bug=${2:?which bug?}
shift 2
source=$(dirname "$0")/bugs.cpp

export TSAN_OPTIONS='halt_on_error=1 exitcode=66 report_signal_unsafe=0' ASAN_OPTIONS='exitcode=66 detect_leaks=0'
said=$("$program" "$bug" 2>&1)
code=$?
if [ "${said#*unexpected memory mapping}" != "$said" ]; then # an old sanitizer under a kernel with more random addresses
  said=$(setarch "$(uname -m)" -R "$program" "$bug" 2>&1)
  code=$?
fi
case $said in
  *'unexpected memory mapping'* | *'ReserveShadowMemoryRange failed'* | *'personality: Operation not permitted'*)
    echo "[skipped] the sanitizer does not run on this machine" && exit 77 ;;
esac

fail() {
  printf '%s\nThe program (exit code %s) said:\n%s\n' "$1" $code "$said"
  exit 1
}
if [ $# = 0 ]; then
  case $code:$said in
    *'Sanitizer: '*) ;;
    "0:came to its end" | 0:*'All tests passed'*) exit 0 ;;
  esac
  fail 'A kernel without a bug was reported.'
fi
[ $code = 66 ] || fail 'The bug was not reported.'
for text; do
  case $text in
    'line: '*)
      line=$(grep -n "// $text\$" "$source" | cut -d: -f1)
      [ -n "$line" ] || fail "bugs.cpp has no '$text'"
      text="bugs.cpp:$line"
      ;;
  esac
  [ "${said#*"$text"}" != "$said" ] || fail "The report does not say: $text"
done
