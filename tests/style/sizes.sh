#!/usr/bin/env bash
# usage: sizes.sh ROOT
# A lesson is read in one sitting, each other file and the check of an exercise hold one idea: 120, 320 and 300 lines.
set -u
# shellcheck source=tests/style/sources.sh
. "$(dirname "$0")/sources.sh"
root=${1:?usage: sizes.sh ROOT}

too_long() { # LIMIT PATTERN FOLDER...
  local limit=$1 pattern=$2 file lines
  shift 2
  sources "$root" "$@" | grep -E "$pattern" | while IFS= read -r file; do
    lines=$(awk 'END { print NR }' "$file")
    if [ "$lines" -gt "$limit" ]; then echo "${file#"$root"/}: $lines lines, more than $limit"; fi
  done
}
found=$(
  too_long 320 . tinymp kernels lessons
  too_long 300 '/exercises/[^/]*/check[.]cpp$' lessons
  too_long 120 '/lessons/[0-9][^/]*/main[.]cpp$' lessons
)
[ -z "$found" ] && exit 0
printf '%s\n' "$found"
exit 1
