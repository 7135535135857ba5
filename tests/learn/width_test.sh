#!/usr/bin/env bash
# usage: width_test.sh PROGRAM
# On terminals of 80 and of 100 columns no line of the texts for people is wider than the terminal, which would break it in the
# middle of a word. Exits 77 (skipped) where script(1) cannot make a terminal.
set -u
program=${1:?usage: width_test.sh PROGRAM}
export LC_ALL=C.UTF-8 TERM=xterm
unset TINYMP_DATA NO_COLOR
export BIN=${program%/*}
program=$(cd "$(dirname "$0")" && pwd)/start.sh
answers=$(cd "$(dirname "$0")/../../lessons/clinic/answers" && pwd) || exit 1
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

as_shown() { # without colours; lines that were overwritten are gone
  local escape=$'\e'
  sed "s/$escape\[[0-9;?]*[A-Za-z]//g; s/\r*\$//; s/.*\r//"
}
on_terminal() { # WIDTH ARGUMENT...: what a terminal of that width gets
  local width=$1
  shift
  script -qec "stty cols $width rows 50; '$program' $* <answers" /dev/null 2>/dev/null </dev/null | as_shown >out
  [ -s out ] || { echo "FAILED: learn $* says nothing" && failures=$((failures + 1)); }
}

fits() { # WIDTH WHAT: a path stays whole
  local line
  while IFS= read -r line; do
    if [ ${#line} -gt "$1" ]; then
      echo "FAILED: learn $2, $1 columns: ${#line} in: $line"
      failures=$((failures + 1))
    fi
  done < <(grep -v -e "$work" -e '^Page: ' -e '^Runs: ' out)
}
interrupted() { # a training by Ctrl-C, as soon as it has a log
  local folder=a/folder/whose/name/takes/some/room
  script -qec "stty cols 80 rows 50; echo \$\$ >pid; exec '$program' train --data cut --steps 1000000000 --out $folder" \
    /dev/null 2>/dev/null </dev/null >raw &
  for _ in {1..600}; do
    if [ -n "$(find a -name '*.jsonl' 2>/dev/null)" ]; then break; fi
    sleep 0.1
  done
  kill -INT "$(cat pid)"
  wait
  as_shown <raw >out
  grep -q '^Interrupted after step' out || { echo 'FAILED: Ctrl-C ends a training without a word' && failures=$((failures + 1)); }
}

for width in 80 100; do
  for words in '' check 'check 1.1' 'check 4.2' question\ {1..9}' --id ada' 'hint 1.1' 'hint '{1..9}'.1' 'hint '{1..9}'.2' \
    'hint 5.1' 'hint 5.1' 'solution 1.1' 'run 1 --predict --smoke --data cut' 'run 8 --smoke --data cut' clinic 'clinic 3' \
    'compare --help' runs 'train --help' 'predict --help' 'explain --recipe o1' 'memory --help' \
    'memory --model bert-base --recipe fp8_hybrid --optimizer adam --saved all --batch 8' 'memory --model resnet20 --budget 1GB' 'explain --recipe fp8_hybrid' 'run 6 --data cut --seeds nonsense' 'train --data cut --recipe fp61' \
    'compare nowhere/that/is/a/folder'; do
    on_terminal "$width" "$words"
    fits "$width" "$words"
  done
  for answer in "$answers"/*.json; do
    number=$(basename "$answer" | sed 's/_.*//; s/^0//')
    words="check clinic $number $(sed -n 's/.*"cause": "\(.*\)".*/\1/p' "$answer")"
    on_terminal "$width" "$words"
    fits "$width" "$words"
    grep -q '^Right: ' out || { echo "FAILED: learn $words is not right" && failures=$((failures + 1)); }
  done
  on_terminal "$width" 'check clinic 1 half-moments'
  fits "$width" 'check clinic 1 half-moments'
done
mkdir -p handed_in/ada
for words in 'grade --mine handed_in/ada --only 1.1' 'collect handed_in --only 1.1'; do
  on_terminal 80 "$words"
  fits 80 "$words"
done
interrupted
fits 80 'train, interrupted'
echo "width_test: $failures failed"
[ $failures = 0 ]
