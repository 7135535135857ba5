#!/usr/bin/env bash
# usage: format.sh ROOT [--fix]
# clang-format 14 has nothing to change. Not a CTest test: other versions format differently.
set -u
root=$(cd "${1:?usage: format.sh ROOT [--fix]}" && pwd -P) || exit 1
formatter=${CLANG_FORMAT:-$(command -v clang-format-14 || command -v clang-format)}
case $("${formatter:-false}" --version 2>/dev/null) in
  *'version 14.'*) ;;
  *) echo "format.sh: clang-format 14 is not installed; name it in CLANG_FORMAT" >&2 && exit 3 ;;
esac

files() { # all that git knows or would add; everything where there is no git
  cd "$root" || exit 1
  if [ -e .git ] && git rev-parse >/dev/null 2>&1; then
    git ls-files --cached --others --exclude-standard
  else
    find . -type f -not -path './build*'
  fi | grep -E '\.(h|cpp|cu|cuh|inc)$' | while IFS= read -r file; do [ -f "$file" ] && printf '%s\0' "$file"; done
}

how='--dry-run -Werror'
if [ "${2:-}" = --fix ]; then how=-i; fi
cd "$root" || exit 1
# shellcheck disable=SC2086
files | xargs -0 "$formatter" --style=file $how || exit 1
