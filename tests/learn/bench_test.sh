#!/usr/bin/env bash
# usage: bench_test.sh PROGRAM
# ./learn bench: its use, its exit codes, what it measures on this CPU, and the ladder under emulation.
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
prints_not() { ! grep -q -- "$1" "$work/out" || fail "not wanted in the output: $1"; }
prints() { grep -q -- "$1" "$work/out" || fail "wanted in the output: $1"; }
lines_with() { # COUNT PATTERN
  [ "$(grep -c -- "$2" "$work/out")" = "$1" ] || fail "wanted $1 lines with: $2"
}

learn 0 --help && prints 'Usage: ./learn bench \[NAME\]' && prints '^  cpu-gemm ' && prints '^  gemm '
for name in cpu-gemm steps telemetry ranks gemm; do
  learn 0 "$name" --help && prints "Usage: ./learn bench $name"
done
learn 2 conv && complains "there is no measurement 'conv'; there are: cpu-gemm, steps, telemetry, ranks, micro, gemm"
learn 2 steps --model vgg && complains 'vgg'
learn 2 cpu-gemm --model mlp && complains 'model'
learn 2 steps --threads 0 && complains 'takes a whole number from 1'
learn 2 --qick && complains "did you mean '--quick'"
learn 1 steps --quick --out "$work/no/such/folder.json" && complains 'cannot write' && prints_not 'Training steps'
learn 2 gemm --rung wgmma && complains 'choose one of naive, tiled, wmma-naive'
learn 2 gemm --size 0 && complains 'takes a whole number from 1'
learn 2 gemm --k 1e3 && complains 'takes a whole number from 1'
learn 2 gemm --format fp8 && complains 'fp8'
learn 2 gemm --format bf16 --sums f16 && complains 'kept in FP32'
learn 2 gemm --transposed c && complains "c"
learn 2 gemm --sise 4 && complains "did you mean '--size'"
learn 2 gemm 64 && complains 'one argument too many'
learn 2 gemm --count --size 1025 && complains 'takes sizes up to 1024'
learn 2 gemm --count --out "$work/cpu.json" && complains 'writes no file'
# A warp of `naive` reads one element of a, a sector, and 32 of b: two sectors, or 32 where they are a column. It writes two.
# A warp of `tiled` reads two rows of a tile, a sector each.
learn 0 gemm --count --plain
prints "^naive  *$((512 * 128 * 3 + 512 * 2))  *0 " && prints "^tiled  *$((8 * 2 * 64 * 8 * 2 + 512 * 2))  *0 "
table='^(naive|tiled|wmma-[a-z]*|mma)  *[0-9]+ +[0-9]+ +[0-9.]+ '
grep -E "$table" "$work/out" | diff - <(grep -E "$table" ../lessons/02_matmul/README.md) || fail 'chapter 02 has another table'
prints '^wmma-stages  *[0-9]*  *[1-9]' && prints '^mma  *[0-9]*  *0 '
learn 0 gemm --count --plain --transposed b --rung naive && prints "^naive  *$((512 * 128 * 33 + 512 * 2))  *0 " && prints_not '^mma'

# On this CPU, without OpenBLAS and PyTorch: their columns are not there, and why is told.
export TINYMP_OPENBLAS=/no/such/library TINYMP_PYTHON=/no/such/python
json() { # CONDITION ON j
  command -v python3 >/dev/null || return
  python3 -c "import json, sys; j = json.load(open('$work/cpu.json')); sys.exit(not ($1))" || fail "wanted of the JSON: $1"
}
learn 0 --quick --plain --threads 1 --model mlp,autoencoder --out "$work/cpu.json"
prints '^Matrix products$' && prints '^Training steps$' && prints '^Telemetry$'
prints '^No OpenBLAS found: TINYMP_OPENBLAS=/no/such/library cannot be loaded (.*/no/such/library.*)\.'
prints '^No PyTorch found: TINYMP_PYTHON=/no/such/python: it cannot be started: No such file'
awk 'length > 80 && /  [0-9.]+x?$/ { long = 1 } END { exit long }' "$work/out" || fail 'a table wider than 80 columns'
prints_not '  PyTorch' && prints_not '  OpenBLAS' && prints_not WRONG
json 'j["command"].startswith("./learn bench --quick") and j["machine"]["threads"] == 1 and j["machine"]["processor"]'
json 'all(j["machine"][key] for key in ("compiler", "commit", "date", "cores"))'
json 'len(j["parts"]["cpu-gemm"]["rows"]) == 4 * 6 and all(r["right"] for r in j["parts"]["cpu-gemm"]["rows"])'
json 'all(r["ours"]["milliseconds"] >= r["ours"]["fastest_milliseconds"] > 0 for r in j["parts"]["cpu-gemm"]["rows"])'
json 'all(r["ours"]["samples"] == 3 and r["gflops"] > 0 for r in j["parts"]["cpu-gemm"]["rows"])'
json 'all(r["ours_to_pytorch"] is None and "no/such" in r["pytorch"]["why_not"] for r in j["parts"]["cpu-gemm"]["rows"])'
json '{r["format"] for r in j["parts"]["steps"]["rows"]} == {"f32", "f16", "bf16", "fp8", "fp8 sr"}'
json 'all(r["steps_per_second"] > 0 and r["ours_to_pytorch_fp32"] is None for r in j["parts"]["steps"]["rows"])'
json 'all(r["time_of_our_fp32"] == 1 for r in j["parts"]["steps"]["rows"] if r["format"] == "f32")'
json 'len(j["parts"]["telemetry"]["logged_ratios"]) == 1'
prints '^\.\.\. or histograms of gradients and updates every 100 steps  *[+-]' && prints '^in every run: copies .*  *+0\.'
json 'all(len(j["parts"]["telemetry"][k]) == 1 for k in ("shadowed_ratios", "histograms_ratios", "copies_shares", "all_ratios"))'
json 'j["parts"]["telemetry"]["copies_shares"][0] > 0'
learn 0 steps --profile --quick --model mlp --out "$work/cpu.json"
prints '^MLP 784-128-10, batch 64, bf16$' && prints '^between kernels ' && lines_with 5 '^a step  *1.00 '
json 'all(sum(k["seconds"] for k in p["kernels"]) < p["seconds"] for p in j["parts"]["profiles"])'
# The gradient of the first layer's weights is one product; that of the images, which nobody needs, is none.
json 'all([k["kernel"] == "gemm" and "-> (784,128)" in k["operands"] for k in p["kernels"]].count(True) == 1 for p in j["parts"]["profiles"])'
json 'not any(k["kernel"] == "gemm" and "-> (64,784)" in k["operands"] for p in j["parts"]["profiles"] for k in p["kernels"])'
json 'all(k["calls"] % p["steps"] == 0 for p in j["parts"]["profiles"] for k in p["kernels"])'
[ -e "$(dirname "$program")/microbench" ] || { learn 3 micro && complains './learn bench micro builds them'; }

# Several processes, where there is MPI: two models, one rank with one and two threads, two ranks in four ways.
if "$program" bench ranks --quick --plain --out "$work/cpu.json" >"$work/out" 2>"$work/err" </dev/null; then
  what='ranks --quick' code=0
  prints '^Several processes$' && lines_with 6 '^mlp ' && lines_with 6 '^lenet ' && lines_with 4 'strong'
  json 'len(j["parts"]["ranks"]["rows"]) == 12'
  json 'all(r["samples_per_second"] > 0 and 0 <= r["share_on_the_wire"] <= 1 for r in j["parts"]["ranks"]["rows"])'
  json 'all(r["speedup"] == 1 for r in j["parts"]["ranks"]["rows"] if r["ranks"] == r["threads"] == 1)'
  # FP16 sends half of the bytes, but for the words that ranks exchange in each step.
  json 'all(0.49 < r["bytes_sent"] / q["bytes_sent"] < 0.52 for q, r in zip(j["parts"]["ranks"]["rows"], j["parts"]["ranks"]["rows"][1:]) if r["wire"] == "f16")'
else
  learn 3 ranks --quick && complains 'this build has no MPI'
fi

# A process that answers as PyTorch would, and badly: wrong values are not timed, an error or an end is told.
# shellcheck disable=SC2016  # a script in quotes
printf '%s\n' '#!/usr/bin/env bash' 'echo noise' 'while read -r what rest; do case $what in' \
  "hello) echo '{\"version\": \"9.9\", \"built with\": \"tape\", \"threads\": 1}' ;;" \
  "product) echo '{\"values\": [1, 2]}' ;;" "model) echo '{\"parameters\": 7}' ;;" \
  "*) exit 1 ;; esac; done" >"$work/python"
chmod +x "$work/python"
export TINYMP_PYTHON="$work/python"
learn 0 cpu-gemm --quick && prints '^PyTorch 9.9 (tape), threads: 1\.' && prints 'no PyTorch: it gives another number'
learn 0 steps --quick --model mlp && prints 'no PyTorch: its model has 7 parameters and ours 101770'
sed -i.old 's/"parameters": 7/"parameters": 101770/' "$work/python"
learn 0 steps --quick --model mlp && prints "no PyTorch: PyTorch's process has ended without an answer to 'step mlp f32 1'"
# It ends in the middle of a race: the race goes on, and what --out names is replaced when all is over.
cat >"$work/python" <<END
#!/usr/bin/env bash
while read -r what rest; do case \$what in
hello) echo '{"version": "9.9", "built with": "tape", "threads": 1}' ;;
model) echo '{"parameters": 101770}' ;;
step) cp "$work/cpu.json" "$work/meanwhile"; n=\$((n + 1)); [ \$n -lt 12 ] || exit 1; echo '{"seconds": 0.001}' ;;
esac; done
END
echo 'of yesterday' >"$work/cpu.json"
learn 0 steps --quick --model mlp --out "$work/cpu.json"
prints "f32: no PyTorch: not timed: PyTorch's process has ended without an answer to 'step mlp f32"
json 'all(r["steps_per_second"] > 0 and "not timed" in r["pytorch"]["why_not"] for r in j["parts"]["steps"]["rows"] if "fp8" not in r["format"])'
[ "$(cat "$work/meanwhile")" = 'of yesterday' ] || fail 'the file of --out was touched before there were figures'
[ ! -e "$work/cpu.json.new" ] || fail 'a file was left beside that of --out'
# Answers that are JSON and make no sense.
sed -i.old 's/"parameters": 101770/"parameters": "many"/' "$work/python"
learn 0 steps --quick --model mlp && prints "no PyTorch: PyTorch's process answers 'model mlp' without 'parameters'"
sed -i.old 's/"version": "9.9", //' "$work/python"
learn 0 steps --quick --model mlp && prints "^No PyTorch found: .* answers 'hello [0-9]* cpu' without 'version'"
printf '%s\n' '#!/usr/bin/env bash' "echo '{\"error\": \"this Python has no PyTorch\"}'" >"$work/python"
learn 0 steps --quick --model mlp && prints '^No PyTorch found: .*this Python has no PyTorch'
unset TINYMP_PYTHON TINYMP_OPENBLAS

# Ours of PyTorch's side: it makes what takes part in a race once, though there are many. A pretended torch counts.
if command -v python3 >/dev/null; then
  mkdir "$work/torch"
  cat >"$work/torch/__init__.py" <<'END'
import os
from unittest.mock import MagicMock
class nn(type):
    def __getattr__(cls, name): return MagicMock()
class nn(metaclass=nn):
    Module = object
def manual_seed(seed): open(os.environ["MADE"], "a").write("made\n")
def __getattr__(name): return MagicMock()
END
  ways='f32 f32+compile f32+graph f16 f16+compile f16+graph bf16 bf16+compile bf16+graph'
  for model in mlp wide autoencoder; do
    for _ in 1 2 3; do for way in $ways; do echo "step $model $way 1"; done; done
  done >"$work/requests"
  MADE=$work/made PYTHONPATH=$work python3 "$(dirname "$0")/../../lessons/lab/bench/pytorch.py" <"$work/requests" >"$work/out" 2>"$work/err"
  lines_with 81 '^{"seconds": '
  [ "$(wc -l <"$work/made")" = 27 ] || fail "makes $(wc -l <"$work/made") trainings for three models in nine ways"
fi

# Without a GPU. Where there is one it is hidden.
export CUDA_VISIBLE_DEVICES=
learn 3 gemm && complains 'TINYMP_EMULATE=1'
TINYMP_EMULATE=0 learn 3 gemm && complains 'TINYMP_EMULATE=1'

export TINYMP_EMULATE=1
learn 0 gemm --size 32 --out "$work/all.json"
lines_with 6 ' right'
prints '^Emulated: the times are those of a CPU'
prints '^(32,32) = (32,32) (32,32), f16 with sums in f32$'
[ "$(grep -c '"products": 146' "$work/all.json")" = 4 ] || fail 'wanted 146 products of each rung that takes any rows'
[ "$(grep -c '"products": 50' "$work/all.json")" = 2 ] || fail 'wanted 50 products of each other rung'
for text in '"bench": "gemm"' '"emulated": true' '"name": "emulated GPU"' '"rung": "wmma-stages"' '"commit": "' \
  '"date": "20' '"driver": ""' '"command": "TINYMP_EMULATE=1 ./learn bench gemm --size 32 --out'; do
  grep -q -- "$text" "$work/all.json" || fail "wanted in the JSON: $text"
done
[ "$(grep -c '"milliseconds": null' "$work/all.json")" = 8 ] || fail 'no time of an emulation is a result'
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

if [ $failures = 0 ] && ! command -v python3 >/dev/null; then
  echo '[skipped] no python3 to read the JSON'
  exit 77
fi
[ $failures = 0 ] && echo 'bench_test: all passed'
exit $((failures > 0))
