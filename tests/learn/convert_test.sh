#!/usr/bin/env bash
# usage: convert_test.sh PROGRAM
# ./learn convert and ./learn scale-trace: what they print, and what they refuse.
set -u
program=${1:?usage: convert_test.sh PROGRAM}
export LC_ALL=C.UTF-8
failures=0 command=convert what='' code=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

fail() {
  echo "FAILED: learn $command $what (exit code $code): $*"
  head -20 "$work/out" "$work/err"
  failures=$((failures + 1))
}
learn() { # EXIT_CODE ARGUMENT...: lines on standard input
  local wanted=$1
  shift
  what=$*
  "$program" "$command" "$@" >"$work/out" 2>"$work/err"
  code=$?
  [ "$code" = "$wanted" ] || fail "wanted exit code $wanted"
}
complains() { # PATTERN: one message on stderr with this in it, and no output
  [ "$(grep -c '^learn: ' "$work/err")" = 1 ] || fail 'wanted one message'
  tr '\n' ' ' <"$work/err" | grep -q -- "$1" || fail "wanted in the message: $1"
  [ ! -s "$work/out" ] || fail 'wanted no output'
}
prints() { # TEXT: the whole output
  [ "$(cat "$work/out")" = "$1" ] || fail "wanted the output: $1"
}
gives() { # FLAGS INPUT OUTPUT: lines are divided by commas
  # shellcheck disable=SC2086 # flags
  learn 0 $1 < <(tr ',' '\n' <<<"$2") && prints "$(tr ',' '\n' <<<"$3")"
}
refuses() { # FLAGS INPUT PATTERN
  # shellcheck disable=SC2086 # flags
  learn 2 $1 < <(tr ',' '\n' <<<"$2") && complains "$3"
}

convert() {
  learn 0 --help </dev/null
  grep -q 'Usage: ./learn convert' "$work/out" || fail 'no usage'
  learn 0 --to f16 </dev/null && prints ''
  gives '--to f16' '1,-0,65504,65519.996,65520,1e-8,0x1p-24' \
    '0x3c00 1,0x8000 -0,0x7bff 65504,0x7bff 65504,0x7c00 inf,0x0000 0,0x0001 5.96046448e-08'
  gives '--to bf16' '0.1,0x3f800000,-inf,nan,1e-40,3.4e38' \
    '0x3dcd 0.100097656,0x3f80 1,0xff80 -inf,0x7fc0 nan,0x0001 9.18354962e-41,0x7f80 inf'
  gives '--to e4m3' '448,464,465,-inf,-0x1p-9,0xffc00000' '0x7e 448,0x7e 448,0x7f nan,0x7f nan,0x81 -0.001953125,0x7f nan'
  gives '--to e4m3 --saturate' '465,-inf,nan' '0x7e 448,0xfe -448,0x7f nan'
  gives '--to e4m3 --rounding zero' '479.9,1e30,-inf,0.1' '0x7e 448,0x7e 448,0x7f nan,0x1c 0.09375'
  gives '--to e5m2 --rounding zero' '-1e30,inf,-inf' '0xfb -57344,0x7c inf,0xfc -inf'
  gives '--to e5m2 --rounding zero --saturate' 'inf,-inf' '0x7b 57344,0xfb -57344'
  gives '--to e2m1' '0.25,0.75,1.25,1.75,2.5,3.5,5,-100,nan,-inf' \
    '0x0 0,0x2 1,0x2 1,0x4 2,0x4 2,0x6 4,0x6 4,0xf -6,0x7 6,0xf -6'
  gives '--to e8m0' '0,1,-1.0001,1e38,3e38,inf,nan,1e-45' \
    '0x00 5.87747175e-39,0x7f 1,0x80 2,0xfe 1.70141183e+38,0xfe 1.70141183e+38,0xfe 1.70141183e+38,0xff nan,0x00 5.87747175e-39'
  gives '--to e8m0 --rounding zero' '1.9,0x007fffff' '0x7f 1,0x00 5.87747175e-39'
  # 464 is halfway from 448 to what would follow; 2^-41 is one of 2^32 parts of the smallest number.
  gives '--to e4m3 --rounding stochastic' '464 2147483647,464 2147483648,0x1p-41 0,0x1p-41 1,1 0,-1.0625 0' \
    '0x7f nan,0x7e 448,0x01 0.001953125,0x00 0,0x38 1,0xb9 -1.125'
  gives '--to e4m3 --rounding stochastic --saturate' '464 0' '0x7e 448'
  gives '--to f16 --rounding stochastic' '1.00048828125 2147483647,1.00048828125 2147483648' \
    '0x3c01 1.00097656,0x3c00 1'
  # Decimals are rounded once: this one lies above the middle of two floats by less than a double shows.
  gives '--to bf16' '1.00390625000000000000000000000000001' '0x3f80 1'
  gives '--to f16' '2.00000011920928955078125000000000000000000001' '0x4000 2'
  LC_NUMERIC=de_DE.UTF-8 LC_ALL='' gives '--to f16' '1.5' '0x3e00 1.5'
  printf ' 1.5\t\r\n2' >"$work/in" && learn 0 --to f16 <"$work/in" && prints $'0x3e00 1.5\n0x4000 2'

  learn 2 --to f16 </ && complains 'standard input cannot be read: Is a directory'
  refuses '--to f16' '1,abc' "line 2: 'abc' is not a number"
  refuses '--to f16' '1x' 'line 1'
  refuses '--to f16' '1;5' 'line 1'
  refuses '--to f16' '1,,2' 'line 2: this line is empty'
  refuses '--to f16' '0x3f80000' 'eight digits'
  refuses '--to f16' '0x3f8000000' 'eight digits'
  refuses '--to f16' '-0x3f800000' 'no sign'
  refuses '--to f16' 'nan(1)' 'not a number'
  refuses '--to f16' '1 2' 'line 1: this line has 2 words; it takes one number'
  refuses '--to f16 --rounding stochastic' '1 2,1' 'line 2: this line has 1 word; it takes a number and a random integer'
  refuses '--to f16 --rounding stochastic' '1 -1' "'-1' is not a random integer"
  refuses '--to f16 --rounding stochastic' '1 4294967296' 'from 0 to 4294967295'
  refuses '--to f16 --rounding stochastic' '1 0x10' 'random integer'
  refuses '--to e8m0 --rounding stochastic' '1 1' 'e8m0 has no stochastic rounding'
  refuses '--to f64' '1' 'f64'
  refuses '--rounding zero' '1' '--to is required'
  refuses '--to f16 --rounding up' '1' 'up'
  refuses '--to f16 --satrate' '1' "did you mean '--saturate'"
}

scale_trace() {
  learn 0 --help </dev/null
  grep -q 'Usage: ./learn scale-trace' "$work/out" || fail 'no usage'
  for policy in dynamic enhanced te-delayed te-current torchao-current; do
    learn 0 --policy $policy </dev/null && prints ''
  done
  gives '--policy dynamic' 'ok,inf,ok' '1 65536 65536 step,2 65536 32768 skip,3 32768 32768 step'
  gives '--policy dynamic --initial 0.1 --growth 1.1 --backoff 0.7 --interval 2' 'ok,ok,inf,ok' \
    '1 0.100000001 0.100000001 step,2 0.100000001 0.109999999 step,3 0.109999999 0.0769999996 skip,4 0.0769999996 0.0769999996 step'
  gives '--policy dynamic --initial 3e38 --interval 1' 'ok' '1 3.00000001e+38 3.00000001e+38 step'
  gives '--policy enhanced --interval 2 --floor 1:40000,6:50000' 'ok,inf,ok,ok,inf,inf' \
    '1 65536 65536 step,2 65536 40000 skip,3 40000 40000 step,4 40000 80000 step,5 80000 40000 skip,6 40000 50000 skip'
  gives '--policy enhanced --initial 8 --floor 2:4,3:64' 'inf,inf,ok,inf' '1 8 4 skip,2 4 4 skip,3 4 4 step,4 4 64 skip'
  gives '--policy enhanced' 'inf' '1 65536 32768 skip'
  gives '--policy te-delayed --history 2' '3.5,skip,7,0,inf,1,1,0x40000000' \
    '1 1,2 128,3 128,4 64,5 64,6 64,7 64,8 448'
  gives '--policy te-delayed --margin 1 --format e5m2 --algorithm most_recent' '2,nan,0,4,1e-45' \
    '1 1,2 14336,3 14336,4 14336,5 7168'
  gives '--policy te-delayed --margin 100' '3e38,1' '1 1,2 0'
  gives '--policy te-current' '3.5,0,inf,nan,1e-40' '1 128,2 1,3 1,4 1,5 3.40282347e+38'
  gives '--policy torchao-current --format e5m2' '3.5,0,inf,nan' '1 16384,2 5.73439982e+16,3 0,4 nan'

  refuses '--policy dynamic' 'ok,nan' "line 2: 'nan' is neither ok nor inf"
  refuses '--policy dynamic' 'ok,' 'line 2: this line is empty'
  refuses '--policy enhanced' 'ok ok' 'line 1'
  refuses '--policy te-delayed' '1,-1' 'line 2: an amax'
  refuses '--policy te-delayed' 'x' "'x' is not a number"
  refuses '--policy te-current' 'skip' 'skip has no meaning here'
  refuses '--policy dynamic --floor 1:8' 'ok' '--floor has no meaning for --policy dynamic'
  refuses '--policy te-current --margin 1' '1' '--margin has no meaning for --policy te-current'
  refuses '--policy torchao-current --history 1' '1' '--history has no meaning'
  refuses '--policy te-delayed --growth 2' '1' '--growth has no meaning'
  refuses '--policy enhanced --format e4m3' 'ok' '--format has no meaning'
  refuses '--policy enhanced --floor 2:8,1:9' 'ok' 'steps must rise'
  refuses '--policy enhanced --floor 1:8,2:7' 'ok' 'must not fall'
  refuses '--policy enhanced --floor 0:8' 'ok' 'below 1'
  refuses '--policy enhanced --floor 8' 'ok' 'STEP:VALUE'
  refuses '--policy dynamic --growth 1' 'ok' 'above 1'
  refuses '--policy dynamic --backoff 1' 'ok' 'below 1'
  refuses '--policy dynamic --initial 0' 'ok' 'above 0'
  refuses '--policy dynamic --initial 1e39' 'ok' 'FP32'
  refuses '--policy dynamic --interval 0' 'ok' 'from 1'
  refuses '--policy te-delayed --history 0' '1' 'from 1'
  refuses '--policy te-delayed --margin 0.5' '1' 'whole number'
  refuses '--policy te-delayed --algorithm mean' '1' 'mean'
  refuses '--policy tedelayed' '1' 'tedelayed'
  refuses '--initial 8' 'ok' '--policy is required'
}

command=convert && convert
command=scale-trace && scale_trace
[ $failures = 0 ] && echo 'convert_test: all passed'
exit $((failures > 0))
