#!/usr/bin/env bash
# usage: first_minutes.sh [--strict] [LESSON...]
# What a beginner waits for: builds quickstart with the launcher and without ccache, then each LESSON (02, 04, 09 and
# 11) as if it came right after that, and holds the seconds of CPU against the budgets. A busy machine takes longer, and
# hardly more of these seconds; another processor needs others, so only --strict ends with 1 over a budget. The build lies
# in TINYMP_BUILD_DIR, which must be new; without it, in a folder that goes.
set -u
tree=$(cd "$(dirname "$0")/.." && pwd -P) || exit 1
work=$(mktemp -d "${TMPDIR:-/var/tmp}/tinymp-first.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
strict=0
if [ "${1:-}" = --strict ]; then strict=1 && shift; fi
[ $# -gt 0 ] || set -- 02 04 09 11
: "${TINYMP_BUILD_DIR:=$work/build}"
if [ -e "$TINYMP_BUILD_DIR" ]; then echo "$TINYMP_BUILD_DIR is there already: nothing to measure" && exit 2; fi
export TINYMP_BUILD_DIR TINYMP_CUDA=AUTO
if command -v ccache >/dev/null; then export TINYMP_CMAKE_ARGS="${TINYMP_CMAKE_ARGS:-} -DCMAKE_CXX_COMPILER_LAUNCHER="; fi
export LC_ALL=C PATH="$TINYMP_BUILD_DIR/tools/bin:$PATH" # ./learn puts CMake there where the system's is too old
unset TINYMP_EMULATE
failed=0

within() { # WHAT AMOUNT LIMIT UNIT
  local over=''
  if [ "$2" -gt "$3" ]; then over='  OVER BUDGET' failed=$strict; fi
  printf '%-44s %4s %s (budget: %s)%s\n' "$1" "$2" "$4" "$3" "$over"
}

cpu_of() { # PATTERN: the seconds of CPU of the lines in the cost file that begin with it
  awk -v what="$1" 'index($0, what) == 1 { sub(".*: ", ""); sum += $1 } END { print sum + 0 }' "$build/cost"
}

mkdir -p "$work/out"
began=$SECONDS
"$tree/learn" quickstart --yes --out "$work/out" </dev/null >"$work/log" 2>&1 || { cat "$work/log" && exit 1; }
wall=$((SECONDS - began))
build=$(dirname "$(find "$TINYMP_BUILD_DIR" -maxdepth 2 -name cost)")
within 'quickstart, configured and compiled' $(($(cpu_of configured) + $(cpu_of compiled))) 150 's of CPU'
printf '%-44s %4s s of wall time\n' 'quickstart, to the page' "$wall"
within 'its build folder' "$(du -sm "$build" | cut -f 1)" 100 MB
cp -a "$TINYMP_BUILD_DIR" "$work/fresh"
for lesson; do # its program alone: what lesson 02 asks ThreadSanitizer with is another
  TIMEFORMAT='%U %S'
  if ! { time cmake --build "$build" --target "lesson_$lesson" >"$work/log" 2>&1; } 2>"$work/time"; then
    tail -n 20 "$work/log" && exit 1
  fi
  within "run $lesson, compiled" "$(awk '{ printf "%d", $1 + $2 }' "$work/time")" 30 's of CPU'
  rm -rf "$TINYMP_BUILD_DIR" && cp -a "$work/fresh" "$TINYMP_BUILD_DIR"
done
exit $failed
