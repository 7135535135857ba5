#!/usr/bin/env bash
# usage: words.sh ROOT
# Code is no person, and a sentence begins with its subject: "Of what goes out, the shape" takes two readings, "The shape
# of the output" one. The name of a test has no semicolon.
set -u
# shellcheck source=tests/style/sources.sh
. "$(dirname "$0")/sources.sh"
root=${1:?usage: words.sh ROOT}
most=10 # of the words that are right now and then
failed=0

texts() { # FOLDER...: the sources in them, and all chapters and guides
  sources "$root" "$@"
  find "$root" -name '*.md' -not -path '*/build*/*' -not -path '*/.git/*' -not -path "$root/runs/*" -not -path "$root/mine/*"
}

found=$(sources "$root" tinymp kernels | tr '\n' '\0' | xargs -0 grep -nE '//+ (Of |Who |Whoever |Whose |Nobody )' /dev/null)
found="$found$(sources "$root" tinymp kernels lessons/lab/bench | tr '\n' '\0' | xargs -0 grep -nE '//.* who ' /dev/null)"
if [ -n "$found" ]; then
  printf '%s\n' "${found//"$root"\//}" '  ^ begin the comment with its subject, and name the function or the data'
  failed=1
fi
people=$(texts tinymp kernels lessons/lab | tr '\n' '\0' | xargs -0 grep -noiwE 'whoever|nobody|somebody' /dev/null)
if [ "$(printf '%s' "$people" | grep -c .)" -gt $most ]; then
  printf '%s\n' "${people//"$root"\//}" "  ^ whoever, nobody and somebody: more than $most; name the function or the data"
  failed=1
fi
# CMake keeps names in lists, which a semicolon divides.
divided=$(sources "$root" tests | tr '\n' '\0' | xargs -0 grep -nE '^ *(TEST_CASE|TEMPLATE_TEST_CASE)[A-Z_]*\("[^"]*;' /dev/null)
if [ -n "$divided" ]; then
  printf '%s\n' "${divided//"$root"\//}" '  ^ CTest cannot run a test whose name has a semicolon'
  failed=1
fi
exit $failed
