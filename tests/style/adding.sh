#!/usr/bin/env bash
# usage: adding.sh ROOT [COMPILER]
# CONTRIBUTING says what it takes to add something. Each patch in adding/ adds one thing to a copy of the tree: it must
# apply, stay within its number of files, and compile; and where a hunk of the policy or of the format is left out, the
# compiler must say so.
set -u
root=$(cd "${1:?usage: adding.sh ROOT [COMPILER]}" && pwd -P) || exit 1
cxx=${2:-g++}
work=$(mktemp -d) && work=$(cd "$work" && pwd -P) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
warnings=(-Wall -Wextra -Werror)
# GCC warns of "text" + std::string, without reason: GCC bug 105651.
case $("$cxx" --version) in *clang*) ;; *) warnings+=(-Wno-restrict) ;; esac

command -v git >/dev/null || { echo '[skipped] no git' && exit 77; }
for header in fmt/format.h CLI/CLI.hpp nlohmann/json.hpp tests/catch.h; do # where CMake fetched it, it lies elsewhere
  if ! echo "#include <$header>" | "$cxx" -std=c++20 -fsyntax-only -I "$root" -x c++ - 2>/dev/null; then
    echo "[skipped] the system has no $header" && exit 77
  fi
done

fault() {
  echo "FAILED: $*"
  failed=1
}

fresh() { # a copy of all that is compiled
  rm -rf "$work/tree"
  mkdir "$work/tree" && cp -R "$root/tinymp" "$root/kernels" "$root/lessons" "$root/tests" "$work/tree"
}

files_of() { sed -n 's#^+++ b/##p' "$1"; } # PATCH

compiles() { # FILE...: of those that a compiler takes; headers come with the tests of the patch
  local file
  for file; do
    case $file in *.cpp) ;; *) continue ;; esac
    "$cxx" -std=c++20 -fsyntax-only "${warnings[@]}" -I "$work/tree" -DTINYMP_HAS_CUDA=0 \
      -DTINYMP_HAS_EMULATION=0 "$work/tree/$file" >"$work/said" 2>&1 || return 1
  done
}

without_hunk() { # PATCH N: the patch without its hunk N; a file whose only hunk that is goes along
  awk -v leave="$2" '
    function flush_file() { if (kept || !had) printf "%s%s", head, body; head = body = ""; kept = had = 0 }
    /^diff --git / { flush_file(); in_hunk = 0 }
    /^@@ / { hunk++; had = 1; in_hunk = 1; if (hunk != leave) kept = 1 }
    { if (!in_hunk) head = head $0 "\n"; else if (hunk != leave) body = body $0 "\n" }
    END { flush_file() }' "$1"
}

file_of_hunk() { # PATCH N
  awk -v n="$2" 'sub(/^\+\+\+ b\//, "") { file = $0 } /^@@ / && ++hunk == n { print file }' "$1"
}

check() { # NAME FILES_OUTSIDE_TESTS TEST_FILES ALL_HUNKS_NEEDED COMPILED...: files that the patch leaves alone must compile too
  local name=$1 most=$2 most_tests=$3 needed=$4 patch=$root/tests/style/adding/$1.patch files tests hunk file changed=()
  shift 4
  files=$(files_of "$patch" | grep -cv '^tests/')
  tests=$(files_of "$patch" | grep -c '^tests/')
  echo "$name: $files files, $tests of tests"
  if [ "$files" -gt "$most" ] || [ "$tests" -gt "$most_tests" ]; then fault "$name: more than $most files and $most_tests of tests"; fi
  fresh
  if ! (cd "$work/tree" && git apply "$patch") >"$work/said" 2>&1; then
    fault "$name.patch does not apply: $(head -n 3 "$work/said"); make it anew (tests/style/adding/README.md)"
    return
  fi
  while IFS= read -r file; do changed+=("$file"); done < <(files_of "$patch")
  compiles "${changed[@]}" "$@" || fault "$name: does not compile: $(grep -m 3 error "$work/said")"
  if [ "$needed" = no ]; then return; fi
  hunk=0
  while [ "$hunk" -lt "$(grep -c '^@@ ' "$patch")" ]; do
    hunk=$((hunk + 1))
    case $(file_of_hunk "$patch" "$hunk") in tests/*) continue ;; esac
    fresh
    without_hunk "$patch" "$hunk" >"$work/part.patch"
    if ! (cd "$work/tree" && git apply "$work/part.patch") 2>"$work/said"; then
      fault "$name: its hunk $hunk cannot be left out alone: $(head -n 1 "$work/said")"
    elif compiles "${changed[@]}" "$@"; then
      fault "$name: compiles without its hunk $hunk"
    fi
  done
}

check policy 4 1 yes kernels/cpu/step.cpp tinymp/train/log_json.cpp tinymp/train/run_log.cpp lessons/lab/learn/commands/recipe_flags.cpp
check dtype 5 1 yes kernels/cpu/step.cpp kernels/cpu/elementwise.cpp kernels/cpu/sums.cpp
check kernel 6 3 no
check recipe_field 5 2 no
exit $failed
