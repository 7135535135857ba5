#!/usr/bin/env bash
# usage: outdated_test.sh ROOT
# outdated.sh in a tree of its own, with a pretended test_lessons that lists what it was given to compare with.
set -u
script=${1:?usage: outdated_test.sh ROOT}/tests/lessons/outdated.sh
command -v git >/dev/null || { echo '[skipped] no git' && exit 77; }
tree=$(mktemp -d) || exit 1
trap 'rm -rf "$tree"' EXIT
failures=0
fail() { echo "FAILED: $*" && failures=1; }

mkdir -p "$tree/tests/lessons" "$tree/build" "$tree/lessons/01_old" "$tree/lessons/02_new"
cp "$script" "$tree/tests/lessons/outdated.sh"
cd "$tree" || exit 1
git init -q . && echo 'then' >lessons/01_old/results.json && git add lessons
git -c user.name=test -c user.email=test@example.invalid commit -q -m 'A lesson' || exit 1
echo now | tee lessons/01_old/results.json >lessons/02_new/results.json
# shellcheck disable=SC2016  # a script in quotes
printf '%s\n' '#!/bin/sh' 'cd "$TINYMP_RESULTS_BEFORE" && grep -r . .' >build/program
chmod +x build/program

cd build || exit 1
said=$(bash ../tests/lessons/outdated.sh ./program 2>&1) || fail "exit code $?"
[ "$said" = './01_old/results.json:then' ] || fail "a relative program, and a lesson newer than the revision: $said"
bash ../tests/lessons/outdated.sh ./program no_such_revision >/dev/null 2>&1 && fail 'a revision that is none: exit code 0'
[ $failures = 0 ] && echo 'outdated_test: all passed'
exit $failures
