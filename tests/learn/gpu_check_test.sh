#!/usr/bin/env bash
# usage: gpu_check_test.sh PROGRAM
# ./learn gpu-check and --device cuda, as far as a machine without a GPU shows them.
set -u
program=${1:?usage: gpu_check_test.sh PROGRAM}
export LC_ALL=C.UTF-8 BIN=${program%/*}
program=$(cd "$(dirname "$0")" && pwd)/start.sh
unset TINYMP_EMULATE
failures=0 what='' code=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

fail() {
  echo "FAILED: learn $what (exit code $code): $*"
  head -30 "$work/out" "$work/err"
  failures=$((failures + 1))
}
learn() { # EXIT_CODE ARGUMENT...
  local wanted=$1
  shift
  what=$*
  "$program" "$@" >"$work/out" 2>"$work/err" </dev/null
  code=$?
  [ "$code" = "$wanted" ] || fail "wanted exit code $wanted"
}
complains() { # PATTERN: one message on stderr, with this in it
  [ "$(grep -c '^learn: ' "$work/err")" = 1 ] || fail 'wanted one message'
  grep -q -- "$1" "$work/err" || fail "wanted in the message: $1"
}
prints() { grep -q -- "$1" "$work/out" || fail "wanted in the output: $1"; }
prints_not() { ! grep -q -- "$1" "$work/out" || fail "not wanted in the output: $1"; }
holds() { grep -q -- "$2" "$1" || fail "wanted in $1: $2"; }

learn 0 gpu-check --help && prints '  bits  *Tensor cores against the simulator'
learn 2 gpu-check --part speeds && complains 'speeds'

# Without a GPU. Where there is one it is hidden.
export CUDA_VISIBLE_DEVICES=
learn 3 gpu-check && complains 'TINYMP_EMULATE=1'
learn 3 train --device cuda --steps 2 && complains 'TINYMP_EMULATE=1'
learn 3 run 6 --device cuda --smoke && complains 'TINYMP_EMULATE=1'
[ ! -e runs ] || fail 'a run that could not begin left a folder'

# Emulated: the same losses, to the last bit, from the same command.
flags='train --data cut --steps 4 --batch 16 --widths 784,12,10 --log-every 1 --recipe fp16_dynamic'
# shellcheck disable=SC2086  # words
learn 0 $flags --out cpu --plain
export TINYMP_EMULATE=1
# shellcheck disable=SC2086
learn 0 $flags --out gpu --plain --device cuda
steps() { grep -h '^{"step"' "$1"/*/*.jsonl | sed 's/,"seconds":[^,}]*//'; }
[ "$(steps cpu | wc -l)" = 4 ] || fail 'wanted four logged steps'
[ "$(steps cpu)" = "$(steps gpu)" ] || fail 'emulated training has other bits than the CPU'
holds "$(echo gpu/*/*.jsonl)" '"device":"CUDA kernels emulated on the CPU"'
prints "^Again:  TINYMP_EMULATE=1 ./learn $flags --out gpu --plain --device cuda\$"
learn 0 train --resume gpu/train-001 --plain && prints '^All 4 steps are done[.]$' # its command names the emulation
TINYMP_EMULATE=p100 learn 2 train --device cuda --steps 1 && complains 'choose one of v100, a100'

# The parts of gpu-check, and that they are not done twice.
learn 2 gpu-check && complains 'give --out DIR'
learn 0 gpu-check --out report --part memory --plain && prints '^memory: good'
holds report/emulated-gpu.md '^Not run'
learn 0 gpu-check --out report --part memory,lessons --plain
prints '^(done before; --again repeats it)  memory: good' && prints '^lessons: good' && prints '^train   *1 '
learn 0 gpu-check --out report --part lessons --again --plain && prints_not 'done before'
# Figures of other sources stay, under their heading.
sed -i 's/"sources": "[0-9a-f]*"/"sources": "0123456789abcdef"/' report/emulated-gpu.json
learn 0 gpu-check --out report --part memory --plain && prints_not 'done before' && prints '^memory: good'
holds report/emulated-gpu.json '"earlier": \['
holds report/emulated-gpu.md '^## emulated GPU' && holds report/emulated-gpu.md 'sources 0123456789abcdef'
learn 0 gpu-check --out report --part gemm --plain && prints '^gemm: good' && prints '^f16 *f32 *mma '
echo '{' >report/emulated-gpu.json
learn 0 gpu-check --out report --part bits --plain && prints '^bits: left out. there is no model'
TINYMP_EMULATE=h100 learn 0 gpu-check --out report --part bits --plain
prints '^bits: good. the model of h100 has every bit' && prints '^wmma 16x16x16  *bf16 .* 0$'
holds report/emulated-h100.json '"commit": "'
holds report/emulated-h100.md '^| wmma 16x16x16 | fp16 | f32 | spread | 1024 | 0 |$'
: >file
learn 1 gpu-check --out file --part bits && complains 'file'

# A part whose time was over says so by its exit code: first_contact.sh goes on with it.
TINYMP_EMULATE=1 learn 124 gpu-check --part sweep --seconds 1 --out late && prints '^sweep: not ended'

[ $failures = 0 ] && echo 'gpu_check_test: all passed'
exit $((failures > 0))
