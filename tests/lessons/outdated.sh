#!/usr/bin/env bash
# usage: bash tests/lessons/outdated.sh PROGRAM [REVISION]
# After results.json were written anew: every figure of a chapter that is no more what REVISION (HEAD) had in its place,
# with its line and what stands in that place now. PROGRAM is the built test_lessons.
set -eu
program=${1:?usage: outdated.sh PROGRAM [REVISION], such as build/dev/tests/test_lessons}
before=$(mktemp -d)
trap 'rm -rf "$before"' EXIT
cd "$(dirname "$0")/../.."
for file in lessons/[0-9]*/results.json; do
  mkdir "$before/$(basename "$(dirname "$file")")"
  git show "${2:-HEAD}:$file" >"$before/${file#lessons/}"
done
TINYMP_RESULTS_BEFORE=$before "$program" 'each chapter quotes*'
