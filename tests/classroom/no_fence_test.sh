#!/usr/bin/env bash
# usage: no_fence_test.sh LEARN NO_FENCE
# Where neither Landlock nor bubblewrap works nobody's submission is judged, but with --trust.
set -u
learn=${1:?usage: no_fence_test.sh LEARN NO_FENCE}
no_fence=${2:?usage: no_fence_test.sh LEARN NO_FENCE}
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d) && cd "$work" || exit 1
trap 'cd / && rm -rf "$work"' EXIT
export LC_ALL=C.UTF-8
mkdir -p class/ada/mine/01_half
sed '/exercise half_to_float/,/exercise half_to_float/!d' "$source_folder/tinymp/numeric/half_codec.h" \
  >class/ada/mine/01_half/half_to_float.h

fail() {
  echo "FAILED: $*"
  cat out err
  exit 1
}
without_fence() { # EXIT_CODE ARGUMENT...
  local wanted=$1 code
  shift
  "$no_fence" "$learn" "$@" >out 2>err </dev/null
  code=$?
  if [ $code = 77 ]; then echo '[skipped] this kernel has no seccomp' && exit 77; fi
  [ $code = "$wanted" ] || fail "$*: exit code $code, not $wanted"
}

without_fence 3 grade --mine class/ada/mine --out grades.json
grep -q 'nothing keeps a submission from writing' err || fail 'grade does not say why'
grep -q 'Install bubblewrap' err || fail 'grade does not say what to do'
[ ! -e grades.json ] || fail 'grade wrote grades.json'
without_fence 3 collect class --out class.out
grep -q -- '--trust' err || fail 'collect does not say what to do'
without_fence 0 collect class --out class.out --trust
grep -q 'limits only' out || fail 'collect --trust does not say that there is no fence'
grep -q '^ada,10,' class.out/class.csv || fail 'collect --trust does not judge as it should'
