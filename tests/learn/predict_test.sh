#!/usr/bin/env bash
# usage: predict_test.sh PROGRAM
# ./learn predict on pictures, folders and data sets, by models that are trained here for a few steps: what it prints, what it
# refuses, and with which exit code. PROGRAM is bin/learn.
set -u
program=${1:?usage: predict_test.sh PROGRAM}
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
export BIN=${program%/*}
program=$source_folder/tests/learn/start.sh
unset TINYMP_DATA TINYMP_DATASETS NO_COLOR TINYMP_EMULATE
export LC_ALL=C.UTF-8
failures=0 what='' code=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

fail() {
  echo "FAILED: learn $what (exit code $code): $*"
  cat out err
  failures=$((failures + 1))
}
learn() { # EXIT_CODE ARGUMENT...
  local wanted=$1
  shift
  what=$*
  "$program" "$@" >out 2>err </dev/null
  code=$?
  [ "$code" = "$wanted" ] || fail "wanted exit code $wanted"
}
complains() { # PATTERN: one line on stderr, with this in it
  [ "$(grep -c '^learn: ' err)" = 1 ] || fail 'wanted one message'
  grep -q -- "$1" err || fail "wanted in the message: $1"
  [ ! -s out ] || fail 'wanted nothing on standard output'
}
prints() { grep -q -- "$1" out || fail "wanted in the output: $1"; }
begins() { head -n 1 out | grep -q -- "$1" || fail "wanted as the first line: $1"; }
fits() { # 80 columns, and a path stays whole
  local line
  while IFS= read -r line; do
    if [ ${#line} -gt 80 ]; then fail "${#line} columns: $line"; fi
  done < <(grep -v -e '^JSON: ' out)
}
rows() { # PATTERN: how many lines of the output
  grep -c -- "$1" out
}

# Models: of garments; of "digits", the same images under the name of MNIST; of a folder; one that draws; one of NaN.
mkdir -p data/mnist pictures/low pictures/high
cp "$source_folder"/datasets/fashion-mnist-cut/*ubyte* data/mnist/
cp "$source_folder"/datasets/digits/[0-4].png pictures/low/
cp "$source_folder"/datasets/digits/[5-9].png pictures/high/
digits=$source_folder/datasets/digits
train() { # OUT ARGUMENT...
  learn 0 train --threads 2 --out "$@"
}
train garment --data cut --steps 40 --recipe fp16_static
train drawer --data cut --steps 1 --model autoencoder
train broken --data cut --steps 3 --lr 1e30
train folder --data folder:pictures --steps 30 --batch 7
TINYMP_DATA=$work/data train digit --data mnist --steps 40
garment=garment/train-001 digit=digit/train-001

use() {
  learn 0 predict --help && fits && prints 'Examples:'
  [ "$(rows '^  ./learn predict')" = 3 ] || fail 'wanted three examples'
  learn 2 predict && complains 'predict what?'
  learn 2 predict "$digits/7.png" && complains 'checkpoint RUN is missing'
  learn 2 predict "$digits/7.png" --checkpoint nowhere && complains '--checkpoint: there is no nowhere'
  learn 2 predict "$digits/7.png" --checkpoint pictures && complains 'pictures has no checkpoint.safetensors'
  learn 2 predict nowhere.png --checkpoint $digit && complains 'no picture or folder nowhere.png, and no data set'
  learn 2 predict "$digits/7.png" --checkpoint $digit --recipe fp61 && complains '"fp61" is not a recipe; choose from fp32, fp16'
  learn 2 predict "$digits/7.png" --checkpoint $digit --recipe fp32,fp32 && complains 'fp32 is named twice'
  learn 2 predict "$digits/7.png" --checkpoint $digit --recipe '' && complains "--recipe: takes names of recipes, not ''"
  learn 2 predict "$digits/7.png" --checkpoint $digit --recipe fp16_sum16_sum16 && complains 'is not a recipe'
  learn 2 predict cifar10 --checkpoint $digit && complains 'images of 32 x 32 in colour, and .*choose mnist, fashion or cut'
  learn 2 predict folder:pictures --checkpoint $digit && complains 'not trained on a folder of pictures'
  learn 3 predict "$digits/7.png" --checkpoint $digit --device cuda && complains 'cuda'

  # Checkpoints
  learn 1 predict "$digits/7.png" --checkpoint drawer/train-001 && complains 'names no class; take the checkpoint of a classifier'
  head -c 2000 $digit/checkpoint.safetensors >cut.safetensors
  learn 1 predict "$digits/7.png" --checkpoint cut.safetensors && complains 'cut.safetensors'
  learn 1 predict "$digits/7.png" --checkpoint "$digits/7.png" && complains '7.png'
  printf '\x02\0\0\0\0\0\0\0{}' >other.safetensors
  learn 1 predict "$digits/7.png" --checkpoint other.safetensors && complains 'tensors of another program'

  # Pictures
  echo 'no picture' >text.png
  learn 1 predict text.png --checkpoint $digit && complains 'text.png'
  head -c 300 "$digits/7.png" >short.png
  learn 1 predict short.png --checkpoint $digit && complains 'short.png'
  printf 'P5\n60000 60000\n255\n' >huge.pgm
  learn 1 predict huge.pgm --checkpoint $digit && complains 'huge.pgm'
  { printf 'P5\n40 40\n255\n' && head -c 1600 /dev/zero; } >empty.pgm
  learn 1 predict empty.pgm --checkpoint $digit && complains 'empty.pgm: no ink stands out'
  mkdir -p nothing
  learn 1 predict nothing --checkpoint $digit && complains 'nothing: no picture in it'
  mkdir -p bad && cp text.png empty.pgm bad/
  learn 1 predict bad --checkpoint $digit && complains 'no picture in it can be taken; the first: '
  learn 2 predict pictures --checkpoint $digit && complains 'high: a sub-folder is a class, and the model knows none of this name; it knows 0, 1, 2'
  mkdir -p mixed/0 && cp "$digits/0.png" mixed/ && cp "$digits/0.png" mixed/0/
  learn 1 predict mixed --checkpoint $digit && complains 'pictures and sub-folders in it'
  learn 1 predict "$digits/7.png" --checkpoint $digit --json nowhere/it.json && grep -q 'cannot write the answers nowhere/it.json' err
}

picture() {
  learn 0 predict "$digits/7.png" --checkpoint $digit
  begins '^[0-9]  [0-9]*[.][0-9] %$' && fits && prints '^Inverted: the ink is dark' && prints '^Cropped: '
  prints '^Model: mlp 784-64-10, 40 steps on mnist, ' && prints '^┌─'
  [ "$(rows '^  [0-9]  .* %$')" = 10 ] || fail 'wanted a bar for each of 10 classes'
  [ "$(rows '^│')" = 28 ] || fail 'wanted an image of 28 rows'
  grep '^  [0-9]  .* %$' out | sed 's/.* \([0-9.]*\) %$/\1/' | awk '{ all += $1 } END { exit !(all > 99.4 && all < 100.6) }' ||
    fail 'the shares do not add up to 100 %'
  cp out kept
  learn 0 predict "$digits/7.png" --checkpoint $digit --plain && fits
  if LC_ALL=C grep -q '[^ -~]' out; then fail 'not ASCII under --plain'; fi
  # The file alone is enough.
  cp $digit/checkpoint.safetensors alone.safetensors
  learn 0 predict "$digits/7.png" --checkpoint alone.safetensors --threads 1
  diff <(grep -v ^Model: kept) <(grep -v ^Model: out) >/dev/null || fail 'a copy of the checkpoint answers otherwise'
  learn 0 predict "$digits/7.png" --checkpoint $digit --recipe all --json it.json && fits
  for name in 'fp32 \*' fp32_sum16 fp16 fp16_sum16 bf16 bf16_sum16 o1 o1_sum16; do prints "^$name  *[bf]*[136]*[26]  "; done
  [ "$(rows '^[a-z][a-z0-9_]*[* ]*  [bf]*[136]*[26]  ')" = 8 ] || fail 'wanted 8 recipes'
  prints '^fp32 \*  *f32  *f32  *f32  .* %  *0$'
  grep -q '"largest_difference": 0.0,\?$' it.json || fail 'JSON has no FP32'
  [ "$(grep -c '"logits": \[' it.json)" = 8 ] || fail 'JSON does not have the logits of 8 recipes'
  learn 0 predict "$digits/7.png" --checkpoint $digit --recipe fp16_weights,fp16_dynamic_sum16
  prints '^fp16_weights  *f16  *f16  *f32 ' && prints '^fp16_dynamic_sum16  *f16  *f16  *f16 '

  # A garment model: its own names, under its own recipe.
  learn 0 predict "$digits/8.png" --checkpoint $garment && begins '^[A-Z][A-Za-z/ -]*  [0-9.]* %$' && prints '^  Ankle boot  '
  prints '^Inverted: the ground is light' && prints 'the whole picture of 200 x 260 pixels'
  # A model of a folder: its classes.
  learn 0 predict "$digits/3.png" --checkpoint folder/train-001 && begins '^\(high\|low\)  [0-9.]* %$'
  prints '^  high  ' && prints '^  low   ' && prints 'the whole picture of'
  # Weights of NaN are a result.
  learn 0 predict "$digits/3.png" --checkpoint broken/train-001 && begins '^no answer  NaN$' && prints 'logits are not finite'
}

sets() {
  local logged class
  mkdir -p plain && cp "$digits"/[0-9].png text.png plain/ && echo 'not a picture' >plain/notes.txt
  learn 0 predict cut --checkpoint $garment --recipe all && fits && prints '^Asked about the test part of cut (1000 images)[.]$'
  # What the run logged at its end is the accuracy under its own recipe.
  logged=$(sed -n 's/.*"result":{"value":\([0-9.]*\),.*/\1/p' $garment/*.jsonl)
  prints "^fp16 \*  *f16  *f16  *f32  *$(printf '%.2f' "$logged") %  "
  prints '^fp32  *f32  *f32  *f32  *[0-9.]* %  *0  *0$'
  prints '^changed: other answers than in FP32[.] logits off: '
  learn 0 predict cut --checkpoint $garment && prints '^fp16 \*  '
  [ "$(rows ' % ')" = 1 ] || fail 'wanted one recipe'
  learn 0 predict cut --checkpoint $garment --limit 50 --recipe fp32,o1 && prints '^Asked about the first 50 images of the test part of cut (1000 images)[.]$'
  learn 2 predict plain --checkpoint $garment --limit 5 && complains '--limit is for data sets'
  learn 0 predict cut --checkpoint broken/train-001 && prints '  not finite$' && prints '0[.]00 %  .*1000$'

  # A folder without classes: a line a picture, then the table; what cannot be read is left out, and told.
  learn 0 predict plain --checkpoint $digit --recipe fp32,fp16 && fits && prints '^Asked about the 10 pictures of plain[.]$'
  [ "$(rows '^plain/[0-9].png  *[0-9]  *[0-9.]* %$')" = 10 ] || fail 'wanted a line for each of 10 pictures'
  [ "$(grep -c '^left out: plain/text.png' err)" = 1 ] || fail 'does not tell what is left out'
  prints '^recipe  *weights  *matmuls  *sums  *changed  *logits off$'
  # With classes: the accuracy is the share of lines that say yes.
  for class in 0 1 2 3 4; do mkdir -p classes/$class && cp "$digits/$class.png" classes/$class/; done
  learn 0 predict classes --checkpoint $digit && fits
  prints "^fp32 \*  *f32  *f32  *f32  *$((20 * $(rows ' yes$'))).00 %  *0 "
  [ "$(rows ' yes$\| no: [0-4]$')" = 5 ] || fail 'wanted yes or no for each of 5 pictures'
  # The part of its folder that a model was not trained on: 2 pictures, as training said.
  learn 0 predict folder:pictures --checkpoint folder/train-001 && prints '^Asked about the test part of folder:pictures (2 images)[.]$'
  logged=$(sed -n 's/.*"result":{"value":\([0-9.]*\),.*/\1/p' folder/train-001/*.jsonl)
  prints "  $(printf '%.2f' "$logged") %  "
  learn 0 predict pictures --checkpoint folder/train-001 && prints '^Asked about the 10 pictures of pictures[.]$'
}

emulated() { # the kernels for a GPU have the bits of the CPU; a GPU's own tensor cores have others
  learn 0 predict plain --checkpoint $digit --recipe fp32,fp16
  cp out kept
  export TINYMP_EMULATE=1
  learn 0 predict plain --checkpoint $digit --recipe fp32,fp16 --device cuda && fits
  prints 'CUDA'
  diff <(grep '^plain\|^fp' kept) <(grep '^plain\|^fp' out) >/dev/null ||
    fail 'an emulated GPU answers otherwise than the CPU'
  TINYMP_EMULATE=v100
  learn 0 predict "$digits/7.png" --checkpoint $digit --recipe fp32,fp16_sum16 --device cuda && prints v100
  learn 2 predict plain --checkpoint $digit --recipe bf16_sum16 --device cuda && complains 'bf16_sum16 is for --device cpu'
  unset TINYMP_EMULATE
}

use
picture
sets
emulated
echo "predict_test: $failures failed"
[ $failures = 0 ]
