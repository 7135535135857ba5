#!/usr/bin/env bash
# usage: width_test.sh PROGRAM
# On terminals of 80 and of 100 columns no line of the texts for people is wider than the terminal, which would break it in the
# middle of a word. Exits 77 (skipped) where script(1) cannot make a terminal.
set -u
program=${1:?usage: width_test.sh PROGRAM}
export LC_ALL=C.UTF-8 TERM=xterm
unset TINYMP_DATA NO_COLOR
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export TINYMP_PROGRESS=$work/progress.txt TINYMP_MINE=$work/mine
failures=0
printf '\n\n\n\n' >answers
if [ "$(uname -s)" != Linux ] || ! command -v script >/dev/null; then
  echo '[skipped] script(1) is not here, which makes terminals'
  exit 77
fi

on_terminal() { # WIDTH ARGUMENT...: what a terminal of that width gets, without colours; lines that were overwritten are gone
  local width=$1 escape=$'\e'
  shift
  script -qec "stty cols $width rows 50; '$program' $* <answers" /dev/null 2>/dev/null </dev/null |
    sed "s/$escape\[[0-9;?]*[A-Za-z]//g; s/\r*\$//; s/.*\r//" >out
  [ -s out ] || { echo "FAILED: learn $* says nothing" && failures=$((failures + 1)); }
}

for width in 80 100; do
  for words in '' check 'check 1.1' 'check 4.2' question\ {1..9}' --id ada' 'hint 1.1' 'hint '{1..9}'.1' 'hint '{1..9}'.2' \
    'hint 5.1' 'hint 5.1' 'solution 1.1' 'run 1 --predict --smoke --data cut'; do
    on_terminal "$width" "$words"
    while IFS= read -r line; do
      if [ ${#line} -gt "$width" ]; then
        echo "FAILED: learn $words, $width columns: ${#line} in: $line"
        failures=$((failures + 1))
      fi
    done < <(grep -v -e "$work" -e '^Page: ' -e '^Runs: ' out) # a path stays whole
  done
done
echo "width_test: $failures failed"
[ $failures = 0 ]
