#!/usr/bin/env bash
# .ci/run: a stage that was begun too late is left out. It counts neither as passed nor as failed, and is named at the end.
# shellcheck disable=SC2034,SC2154  # the functions below, which are those of .ci/run, read and write these
set -u
run=$(cd "$(dirname "$0")/../.." && pwd)/.ci/run
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

passed=0 failed=0 failures='' left_out='' omitted='' bare=here may_skip=a may_skip_bare=b
eval "$(sed -n '/^in_time()/,/^}/p; /^stage()/,/^}/p; /^count_tests()/,/^}/p' "$run")"
later() { stage "$1" 1 in_time "${@:2}"; }
SECONDS=100
{
  stage 'on time' 1 true
  later 'in time' 1000 true
  later 'too late' 50 true
  later 'too late to fail' 50 false
  later 'fails' 1000 false
  stage 'after that' 1 true
} >"$work/said"
got="$passed passed, $failed failed, left out: $left_out, failed:${failures%$'\n'}"
wanted='3 passed, 1 failed, left out: too late, too late to fail, failed:  fails'
[ "$got" = "$wanted" ] || { echo "FAILED: $got" && exit 1; }
grep -q '^left out: 1[0-9]* s are over' "$work/said" || { echo 'FAILED: the stage does not say why' && exit 1; }
grep -q 'left out: %s' "$run" || { echo 'FAILED: the closing lines do not name them' && exit 1; }
echo 'left_out_test: all passed'
