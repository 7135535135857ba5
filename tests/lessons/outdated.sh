#!/usr/bin/env bash
# usage: bash tests/lessons/outdated.sh PROGRAM [REVISION]
# After results.json were written anew: every figure of a chapter that is no more what REVISION (HEAD) had in its place,
# with its line and what stands in that place now. A lesson that REVISION has not is left out. PROGRAM is the built test_lessons.
set -eu
program=${1:?usage: outdated.sh PROGRAM [REVISION], such as build/release-g++/tests/test_lessons}
case $program in /*) ;; *) program=$PWD/$program ;; esac # this goes to the root of the tree
before=$(mktemp -d)
trap 'rm -rf "$before"' EXIT
cd "$(dirname "$0")/../.."
revision=$(git rev-parse --verify "${2:-HEAD}^{commit}")
for file in lessons/[0-9]*/results.json; do
  git cat-file -e "$revision:$file" 2>/dev/null || continue
  mkdir "$before/$(basename "$(dirname "$file")")"
  git show "$revision:$file" >"$before/${file#lessons/}"
done
TINYMP_RESULTS_BEFORE=$before "$program" 'each chapter quotes*'
