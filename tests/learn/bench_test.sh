#!/usr/bin/env bash
# usage: bench_test.sh PROGRAM
# ./learn bench: its use, its exit codes, and the ladder under emulation.
set -u
program=${1:?usage: bench_test.sh PROGRAM}
export LC_ALL=C.UTF-8
unset TINYMP_EMULATE
failures=0 what='' code=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

fail() {
  echo "FAILED: learn bench $what (exit code $code): $*"
  head -20 "$work/out" "$work/err"
  failures=$((failures + 1))
}
learn() { # EXIT_CODE ARGUMENT...
  local wanted=$1
  shift
  what=$*
  "$program" bench "$@" >"$work/out" 2>"$work/err" </dev/null
  code=$?
  [ "$code" = "$wanted" ] || fail "wanted exit code $wanted"
}
complains() { # PATTERN: one message on stderr, with this in it
  [ "$(grep -c '^learn: ' "$work/err")" = 1 ] || fail 'wanted one message'
  grep -q -- "$1" "$work/err" || fail "wanted in the message: $1"
}
prints() { grep -q -- "$1" "$work/out" || fail "wanted in the output: $1"; }
lines_with() { # COUNT PATTERN
  [ "$(grep -c -- "$2" "$work/out")" = "$1" ] || fail "wanted $1 lines with: $2"
}

learn 0 && prints '^  gemm '
learn 0 --help && prints 'Usage: ./learn bench NAME'
learn 0 gemm --help && prints 'Usage: ./learn bench gemm'
learn 2 conv && complains "there is no measurement 'conv'; there is: gemm"
learn 2 gemm --rung wgmma && complains 'choose one of naive, tiled, wmma-naive'
learn 2 gemm --size 0 && complains 'takes a whole number from 1'
learn 2 gemm --k 1e3 && complains 'takes a whole number from 1'
learn 2 gemm --format fp8 && complains 'fp8'
learn 2 gemm --format bf16 --sums f16 && complains 'kept in FP32'
learn 2 gemm --transposed c && complains "c"
learn 2 gemm --sise 4 && complains "did you mean '--size'"
learn 2 gemm 64 && complains 'one argument too many'

# Without a GPU. Where there is one it is hidden.
export CUDA_VISIBLE_DEVICES=
learn 3 gemm && complains 'TINYMP_EMULATE=1'
TINYMP_EMULATE=0 learn 3 gemm && complains 'TINYMP_EMULATE=1'

export TINYMP_EMULATE=1
learn 0 gemm --size 32 --out "$work/all.json"
lines_with 6 ' right'
prints '^Emulated: the times are those of a CPU'
prints '^(32,32) = (32,32) (32,32), f16 with sums in f32$'
[ "$(grep -c '"products": 34' "$work/all.json")" = 6 ] || fail 'wanted 34 products a rung'
for text in '"bench": "gemm"' '"emulated": true' '"name": "emulated GPU"' '"rung": "wmma-stages"' '"commit": "' \
  '"date": "20' '"driver": ""' '"command": "./learn bench gemm --size 32 --out'; do
  grep -q -- "$text" "$work/all.json" || fail "wanted in the JSON: $text"
done
[ "$(grep -c '"milliseconds": null' "$work/all.json")" = 7 ] || fail 'no time of an emulation is a result'
learn 0 gemm --rung wmma-tiled --m 40 --n 24 --k 72 --format bf16 --transposed both --plain
lines_with 1 ' right'
prints '^(40,24) = (40,72)^T (72,24)^T, bf16 with sums in f32$'
learn 0 gemm --rung naive --format f32 --sums f16 --size 16
learn 0 gemm --format f32 --size 16 && lines_with 4 '^gemm: .* does not take f32'
learn 2 gemm --rung mma --format f32 && complains 'mma does not take f32'
learn 2 gemm --rung wmma-naive --size 33 && complains 'does not take these sizes'
learn 1 gemm --rung naive --size 16 --out "$work/no/such/folder.json" && complains 'cannot write'

TINYMP_EMULATE=a100 learn 0 gemm --rung mma --size 32 --sums f16 && prints '^emulated a100, sm_80$'
TINYMP_EMULATE=v100 learn 0 gemm --size 32 && lines_with 2 'needs sm_80, and this GPU is sm_70'
TINYMP_EMULATE=p100 learn 2 gemm && complains 'choose one of v100, a100, ada, h100, h200, b200, or 1'

[ $failures = 0 ] && echo 'bench_test: all passed'
exit $((failures > 0))
