#!/usr/bin/env bash
# shellcheck disable=SC2016 # sed's $ in quotes
# usage: mine_build_test.sh BUILD CLASSROOM
# What ./learn run N --mine builds, beside the ordinary build in BUILD: only what the pieces touch is compiled, and what runs
# is the learner's. Two pieces carry a mark: with a word in the environment they compute something else.
set -u
build=${1:?usage: mine_build_test.sh BUILD CLASSROOM}
classroom=${2:?usage: mine_build_test.sh BUILD CLASSROOM}
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d) && cd "$work" || exit 1
trap 'cd / && rm -rf "$work"' EXIT
export LC_ALL=C.UTF-8 TINYMP_MINE=$work/mine
unset TINYMP_DATA TINYMP_DATASETS

fail() {
  echo "FAILED: $*"
  tail -n 30 log
  exit 1
}

piece() { # EXERCISE FILE WORD: the reference's text, in which the second sed script puts the mark
  mkdir -p "$(dirname "mine/$1")"
  { echo 'extern "C" char* getenv(const char*) noexcept;' && sed "/<exercise $3>/,/<.exercise $3>/!d" "$root/$2" | sed "$4"; } >"mine/$1"
}

options=("-DTINYMP_OVERLAY=$work/overlay" -DTINYMP_TESTS=OFF -DCMAKE_CXX_COMPILER_LAUNCHER= -G
  "$(sed -n 's/^CMAKE_GENERATOR:INTERNAL=//p' "$build/CMakeCache.txt")")
while IFS= read -r line; do options+=("-D$line"); done < <(grep -E \
  '^(CMAKE_BUILD_TYPE|CMAKE_CXX_COMPILER|CMAKE_CXX_FLAGS[A-Z_]*|FETCHCONTENT_BASE_DIR|TINYMP_CUDA|TINYMP_WERROR):' "$build/CMakeCache.txt")

built() { # NUMBER: as prepare_mine in ./learn; so many files are compiled
  "$classroom" overlay overlay >log 2>&1 || fail 'classroom overlay'
  cmake "-DFROM=$build" "-DTO=$work/overlay" -P "$root/cmake/TakeBuilt.cmake" >log 2>&1 || fail 'TakeBuilt.cmake'
  if [ ! -e own/CMakeCache.txt ]; then cmake -S "$root" -B own "${options[@]}" >log 2>&1 || fail 'it does not configure'; fi
  cmake --build own --target learn --parallel 2 >log 2>&1 || fail 'it does not build'
  compiled=$(grep -c 'Building C' log)
  [ "$compiled" = "$1" ] || fail "$compiled files are compiled, not $1"
}
trained() { # [PROGRAM]: what it says of five steps
  "${1:-own/bin/learn}" train --data cut --steps 5 --recipe fp16_static --loss-scale 8 >log 2>&1 || fail 'it does not train'
  grep 'test accuracy (%) [0-9]' log | sed 's/, [0-9.]* s$//'
}
members() { ar t "$1" | sort; }
marked() { nm -A own/libtinymp.a 2>/dev/null | grep 'marked_sums' | sed 's/.*:\(.*\)\.o:.*/\1/' | sort -u | tr '\n' ' '; }

# A piece that is a source: it, and the file that says whose pieces these are.
piece 06_loss_scaling/unscale_then_clip.cpp kernels/cpu/step.cpp unscale_then_clip \
  's/= true_factor(/= getenv("MARK_UNSCALE") ? 0 : true_factor(/'
built 2
grep -q 'cpu/step.cpp.o' log || fail 'step.cpp is not compiled'
[ "$(members own/libtinymp.a)" = "$(members "$build/libtinymp.a")" ] || fail 'the library is not made of the same objects'
reference=$(trained "$build/bin/learn")
[ -n "$reference" ] || fail 'train does not say how good it is'
[ "$(trained)" = "$reference" ] || fail 'with a piece that is right the run differs'
[ "$(MARK_UNSCALE=1 trained)" != "$reference" ] || fail 'not the piece runs, but the reference'
[ -z "$(marked)" ] || fail 'a mark of what is not there yet'

built 0 # nothing has changed

# A piece in a header: with it all sources that include it.
piece 03_accumulation/add_rounded.h kernels/cpu/column_sums.h add_rounded 's/ sums\[i\] += term;/ marked_sums = 1;&/'
echo 'inline volatile int marked_sums = 0;' | cat - mine/03_accumulation/add_rounded.h >with_mark && mv with_mark mine/03_accumulation/add_rounded.h
includers=$(grep -rl --include='*.cpp' '<kernels/cpu/column_sums.h>' "$root/kernels" "$root/tinymp" | wc -l)
built $((includers + 1))
case $(marked) in *'batch_norm.cpp '*layer_norm.cpp*) ;; *) fail "its text is in '$(marked)' only" ;; esac
[ "$(trained)" = "$reference" ] || fail 'with two pieces that are right the run differs'
[ "$(MARK_UNSCALE=1 trained)" != "$reference" ] || fail 'with two pieces the first no longer runs'

# A piece in a kernel: CMake writes the source that includes it.
piece 02_matmul/missing_barrier.cuh kernels/cuda/gemm/tiled.cuh missing_barrier 's/^/ /'
built 2
grep -q 'tiled_emu.cpp.o' log || fail 'tiled_emu.cpp is not compiled'
rm mine/02_matmul/missing_barrier.cuh
built 1

# Taken back: the reference's objects are there again.
rm mine/03_accumulation/add_rounded.h
built 1
[ -z "$(marked)" ] || fail 'a piece that was taken back is still there'
echo 'mine_build_test: passed'
