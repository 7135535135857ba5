#!/usr/bin/env bash
# usage: tensor_core_test.sh PROGRAM use|recorded
#   use        small vectors, what is printed, what is refused
#   recorded   blocks that real tensor cores computed, from $TINYMP_DATA; exits 77 (skipped) without them
set -u
program=${1:?usage: tensor_core_test.sh PROGRAM use|recorded}
part=${2:?usage: tensor_core_test.sh PROGRAM use|recorded}
export LC_ALL=C.UTF-8
failures=0 what='' code=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

fail() {
  echo "FAILED: learn tensor-core $what (exit code $code): $*"
  head -20 "$work/out" "$work/err"
  failures=$((failures + 1))
}
learn() { # EXIT_CODE ARGUMENT...: vectors on standard input
  local wanted=$1
  shift
  what=$*
  "$program" tensor-core "$@" >"$work/out" 2>"$work/err"
  code=$?
  [ "$code" = "$wanted" ] || fail "wanted exit code $wanted"
}
complains() { # PATTERN: one message on stderr, with this in it
  [ "$(grep -c '^learn: ' "$work/err")" = 1 ] || fail 'wanted one message'
  grep -q -- "$1" "$work/err" || fail "wanted in the message: $1"
}
prints() { # TEXT: the whole output
  [ "$(cat "$work/out")" = "$1" ] || fail "wanted the output: $1"
}
last() { [ "$(tail -n 1 "$work/out")" = "$1" ] || fail "wanted the last line: $1"; }

one=3f800000 two=40000000 tiny=33800000 # 2^-24
use() {
  learn 0 --help </dev/null
  grep -q 'Usage: ./learn tensor-core' "$work/out" || fail 'no usage'
  local h100='--gpu h100 --format fp16'
  # shellcheck disable=SC2086
  {
    learn 0 $h100 <<<"$one $one $two $two $one" && prints 40a00000                   # 2 + 2 + 1
    learn 0 $h100 <<<"$one $one $two $two $one 40a00000" && prints '0 mismatches of 1'
    learn 0 $h100 --print <<<"$one $one $two $two $one 40a00000" && prints $'40a00000\n0 mismatches of 1'
    learn 1 $h100 <<<"$one $one $two $two $one 40a00001" && prints '1 mismatches of 1'
    grep -q 'line 1: computed 40a00000, expected 40a00001' "$work/err" || fail 'does not tell which line'
    printf '# a b c d\n\n  %s %s %s %s \r\n%s %s %s %s\n' $one $one $one $two $one $one $one $one >"$work/vectors"
    learn 1 $h100 <"$work/vectors" && last '1 mismatches of 2'
    learn 0 $h100 <<<"7F800000 $one FF800000 7fc00000" && last '0 mismatches of 1' # any NaN will do
    learn 0 $h100 <<<"$one $tiny $one $tiny $one" && prints "$two"
    learn 0 $h100 <<<"$one $tiny $one $one 34000000" && prints 3f800001              # 1 + 2^-23 + 2^-24, cut off
    learn 0 $h100 --accumulator f16 <<<"$one 3a000000 $one $one 00000000" && prints $one # 1 + 2^-11: a tie

    learn 2 $h100 </dev/null && complains 'no vectors'
    learn 2 $h100 <<<"# nothing" && complains 'no vectors'
    learn 2 $h100 <<<$'# x\n3f800000 zz 3f800000' && complains "line 2: 'zz' is not"
    learn 2 $h100 <<<"$one 3f8000000 $one" && complains "line 1: '3f8000000' is not"
    learn 2 $h100 <<<"$one -3f80000 $one" && complains "line 1: '-3f80000' is not"
    learn 2 $h100 <<<"$one $one" && complains 'line 1: a line holds'
    learn 2 $h100 <<<"$one $one $one"$'\n'"$one $one $one $two" && complains 'line 2: 4 numbers, but 3 before it'
    learn 2 $h100 <<<"$one $one $one $one $one"$'\n'"$one 3f800001 $one" && complains 'line 2: b\[0\] = 3f800001'
    learn 2 $h100 extra <<<"$one" && complains 'one argument too many'
    learn 2 $h100 --accumulator f64 <<<"$one" && complains 'f64'
    learn 2 $h100 --accumulate f16 <<<"$one" && complains "did you mean '--accumulator'"
    learn 2 $h100 --prnt <<<"$one" && complains "did you mean '--print'"
  }
  learn 2 --gpu h100 <<<"$one" && complains '--format is required'
  learn 2 --gpu p100 --format fp16 <<<"$one" && complains 'choose one of v100, a100, ada, h100, h200, b200'
  learn 2 --gpu h100 --format fp64 <<<"$one" && complains 'choose one of fp16, bf16, e4m3, e5m2'
  learn 2 --gpu v100 --format bf16 <<<"$one" && complains 'v100 do not take bf16; they take fp16'
  learn 2 --gpu a100 --format e5m2 <<<"$one" && complains 'they take fp16, bf16'
  learn 2 --gpu b200 --format bf16 --accumulator f16 <<<"$one" && complains 'FP32 only'
  learn 2 --gpu h100 --format e4m3 <<<"43f00000 $one $one" && complains 'a\[0\] = 43f00000 (480) is not a number of e4m3'

  # FP8 of Hopper: c is left out unless asked for; mma.sync keeps more bits.
  local fp8='3f800000 3c000000 3f800000 3c000000 3f800000' # 1 * 1 + 2^-7 * 2^-7 + 1
  # shellcheck disable=SC2086
  {
    learn 0 --gpu h100 --format e4m3 <<<$fp8 && prints $one
    learn 0 --gpu h100 --format e4m3 --c column <<<$fp8 && prints $two
    learn 0 --gpu h200 --format e5m2 --instruction mma <<<$fp8 && prints 40000100
    learn 0 --gpu b200 --format e4m3 <<<$fp8 && prints 40000100
    learn 0 --gpu h100 --format e4m3 <<<"$fp8 3f800000" && last '0 mismatches of 1' # the recorded d tells how
    learn 0 --gpu h100 --format e4m3 <<<"$fp8 40000000" && last '0 mismatches of 1'
    learn 0 --gpu h100 --format e4m3 <<<"$fp8 40000100" && last '0 mismatches of 1'
    grep -q 'by mma.sync' "$work/err" || fail 'does not tell how'
    learn 1 --gpu h100 --format e4m3 --c column --instruction native <<<"$fp8 3f800000" && last '1 mismatches of 1'
    learn 1 --gpu h100 --format e4m3 --instruction mma <<<"$fp8 40000000" && last '1 mismatches of 1'
    learn 1 --gpu h100 --format e4m3 <<<"$fp8 40000001" && last '1 mismatches of 1'
    printf '%s 3f800000\n%s 40000100\n%s 40000100\n' "$fp8" "$fp8" "$fp8" >"$work/vectors"
    learn 1 --gpu h200 --format e5m2 <"$work/vectors" && last '1 mismatches of 3' # one way for all lines
    learn 0 --gpu ada --format e4m3 <<<$fp8 && prints $two
  }
  for pair in 'v100 fp16' 'a100 fp16' 'a100 bf16' 'ada fp16' 'ada bf16' 'ada e5m2' 'h200 fp16' 'b200 bf16' 'b200 e5m2'; do
    learn 0 --gpu "${pair% *}" --format "${pair#* }" <<<"$one $two $one $two $one" && prints 40c00000
  done
}

recorded() {
  local folder=${TINYMP_DATA:-}/tensor_core
  [ -d "$folder" ] || { echo "[skipped] no tensor_core/ in \$TINYMP_DATA" && exit 77; }
  for pair in 'a100 fp16' 'h100 fp16' 'h100 bf16' 'h100 e4m3'; do
    gzip -dc "$folder/${pair% *}_${pair#* }.txt.gz" >"$work/vectors"
    learn 0 --gpu "${pair% *}" --format "${pair#* }" <"$work/vectors" && last '0 mismatches of 5000'
  done
  gzip -dc "$folder/a100_fp16.txt.gz" >"$work/vectors"
  learn 1 --gpu v100 --format fp16 <"$work/vectors" && grep -q '^[1-9][0-9]* mismatches of 5000$' "$work/out"
  learn 0 --gpu a100 --format fp16 --print <"$work/vectors"
  grep -v '^#' "$work/vectors" | sed 's/.* //' >"$work/expected"
  head -n 5000 "$work/out" | cmp -s - "$work/expected" || fail 'what is printed is not what was recorded'
}

case $part in
  use) use ;;
  recorded) recorded ;;
  *) echo "no part '$part'" && exit 2 ;;
esac
[ $failures = 0 ] && echo "tensor_core_test $part: all passed"
exit $((failures > 0))
