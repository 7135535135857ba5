#!/usr/bin/env bash
# usage: learn_test.sh PROGRAM use|runs|resumed|sweep|limits|disks
# PROGRAM is bin/learn; the programs of other commands lie beside it.
#   use    wrong words, flags and values: one message, the right exit code, nothing written
#   runs   train, compare, a lesson and quickstart, a few steps each, on the images that come with tinymp
#   resumed  trainings that are interrupted or killed, and go on
#   sweep  grids of trainings: what is trained, kept, refused, interrupted
#   limits files that may not grow (ulimit -f)
#   disks  full and read-only disks, on small tmpfs mounts; exits 77 (skipped) where they cannot be mounted
set -u
program=${1:?usage: learn_test.sh PROGRAM use|runs|resumed|sweep|limits|disks}
part=${2:?usage: learn_test.sh PROGRAM use|runs|resumed|sweep|limits|disks}
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
export BIN=${program%/*}
program=$source_folder/tests/learn/start.sh
unset TINYMP_DATA TINYMP_DATASETS NO_COLOR
export LC_ALL=C.UTF-8
failures=0 what='' code=0
work=$(mktemp -d) || exit 1
cd "$work" || exit 1
# shellcheck disable=SC2317 # called by trap
finish() {
  cd / || exit 1
  for mount in "$work"/*.disk; do if [ -d "$mount" ]; then umount "$mount" 2>/dev/null; fi; done
  rm -rf "$work"
}
trap finish EXIT

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
}
prints() { grep -q -- "$1" out || fail "wanted in the output: $1"; }
snapshot() { # of all recorded runs: names and contents
  (cd "$1" && find . -type f | LC_ALL=C sort | xargs -I{} cksum {}) 2>/dev/null
}

exercises() {
  export TINYMP_PROGRESS=$work/exercises.txt TINYMP_MINE=$work/mine
  learn 0 check && prints '^  1.1  *A float becomes a half  *medium  *30 min' && prints '^Next: ./learn check 1.1'
  learn 2 check 1.77 && complains "no exercise '1.77'"
  learn 2 check lesson && complains "no exercise 'lesson'"
  learn 2 hint && complains 'N is required'
  learn 2 hint 1 && complains 'hint for which of them? ./learn hint 1.1'
  learn 0 hint 1.1 && prints 'hint 1 of 3' && learn 0 hint 1.1 && prints 'hint 2 of 3'
  learn 1 solution 1.1 && prints 'Yours does not pass yet'
  learn 0 solution 1.1 --give-up && prints 'half_bits_from_float' && grep -q '^exercise 1.1 gave_up 20' exercises.txt
  learn 1 check 1.1 && prints 'gives the sign only' && prints '^Your file: '
  learn 1 check 1.1 --json && prints '"outcome": "wrong"'
  # The reference is an answer as well.
  sed '/exercise half_to_float/,/exercise half_to_float/!d' "$source_folder/tinymp/numeric/half_codec.h" >mine/01_half/half_to_float.h
  learn 0 check 1.2 && prints '^1.2 A half becomes a float: passed, 65550 cases'
  learn 0 question 7 --id ada && prints '^Question 7. A dynamic loss scaler' && learn 2 question 12 --id ada
  learn 0 grade --id ada --gradescope results.json && prints '^Sandbox: ' && prints 'passed (100 % of the'
  grep -q '"student": "ada"' grades.json || fail 'grades.json does not name the student'
  grep -q '"gave_up": true' grades.json || fail 'grades.json does not tell who gave up'
  grep -q '"tests"' results.json || fail 'results.json is not for Gradescope'
  learn 2 grade --mine nowhere && complains 'no folder nowhere'
  mkdir -p handed_in/ada handed_in/broken && cp -r mine handed_in/ada/ && cp mine/01_half/half_to_float.h handed_in/broken/progress.txt
  learn 0 collect handed_in --out class && prints '^  ada  *10 of ' && prints '^  broken  *0 of ' && prints '^2 students'
  grep -q '^ada,10,' class/class.csv || fail 'class.csv does not hold ada'
  grep -q '</html>' class/class.html || fail 'class.html is not whole'
  learn 2 collect handed_in --out handed_in/class && complains 'lies among the submissions'
  learn 2 collect nowhere && complains 'cannot read the folder nowhere'
  learn 0 && prints '1 of [0-9]* pass; next: ./learn check 1.1'
  learn 2 run 1 --mine --smoke && complains 'built without your pieces'
  # Watched, the file is saved wrong once: that is what comes out.
  : >out
  (for _ in {1..100}; do
    if grep -q '^Watching' out; then break; fi
    sleep 0.2
  done
    sed 's/- 15/- 14/' mine/01_half/half_to_float.h >mine/saved && mv mine/saved mine/01_half/half_to_float.h) &
  learn 1 watch 1.2 --once && prints '^Watching mine/01_half/half_to_float.h' && prints '^1.2 A half becomes a float: not yet'
  prints '^── ..:..:..  attempt 1 of 1.2  not yet ──' && prints '^Watching .* [0-9]* of 31 pass'
  grep -q '^checking 1.2 ...$' err || fail 'watch does not say that it checks'
  learn 0 reset 1.2 && prints '^Kept: ' && learn 1 check 1.2
}

names_fields() { # TYPE PART FEWEST: the part of the help that is about these lines of a log names each of their fields
  local field fields part
  part=$(awk -v part="  $2 " '/^[^ ]|^  [^ ]/ { on = index($0, part) == 1; sub(part, "") } on' out | sed 's/([^)]*)//g')
  fields=$(sed -n "/$1> auto/,/^}/p" "$source_folder/tinymp/train/run_log_fields.h" | grep -o 'field("[a-z_]*' | cut -d'"' -f2)
  [ "$(grep -c . <<<"$fields")" -ge "$3" ] || fail "run_log_fields.h has no fields of $1"
  for field in $fields; do
    grep -qw -- "$field" <<<"$part" || fail "does not name '$field', which a log has"
  done
}

# The figures of an MLP by hand: 784 x 64 + 64 + 64 x 10 + 10 = 50890 parameters; of an image 784 pixels, 64 and 10 results,
# and 12 bytes of the loss, which itself has 4.
plans_memory() {
  learn 0 memory --batch 100 --optimizer adam && prints '^mlp 784-64-10; images of 784 values; adam; f32' &&
    prints '^A step of 100 images[.]' && prints '^weights  *203560  *0[.]2036 ' && prints '^masters  *0 ' &&
    prints '^optimizer  *407120 ' && prints '^gradients  *203560 ' &&
    prints "^activations  *$((100 * (784 + 64 + 10) * 4 + 100 * (10 * 4 + 12) + 4)) " &&
    prints '^The peak comes in: backward of' && prints '^the batch  *(100, 784)  *f32  *1 '
  learn 0 memory --recipe fp16_dynamic --batch 100 && prints 'at the peak  *FP32$' && prints '^weights  *101780 ' &&
    prints '^masters  *203560 ' && prints '^Beside FP32: [01][.][0-9]* of its peak, 0[.]5[0-9]* of its activations'
  learn 0 memory --batch 100 --accumulate 4 && prints '^A step of 100 x 4 images, 400 in all[.]' && prints '^50890 parameters[.]$'
  learn 0 memory --batch 1 --momentum 0.9 && prints '^A step of 1 image[.]' && prints '; sgd momentum=0.9; f32$'
  learn 0 memory --model bert-base --batch 8 --recompute sqrt && prints '^Runs 12 blocks again in backward, in 3 segments[.]$'
  learn 2 memory --recompute 2 && complains '2 segments of a model that has 1 block'
  learn 0 memory --help && prints '^        its probabilities after dropout' &&
    prints '^                first,last, S dynamic from' # a line that is too long goes on in its own column
  learn 0 memory --recompute && prints '^Beside a step without recomputation: 1[.]00 of its peak' &&
    prints '^Recomputation saves nothing here[.]$'
  learn 0 memory --model bert-base --batch 8 --recompute && prints '^Beside a step without recomputation: 0[.]' &&
    if grep -q 'saves nothing' out; then fail 'recomputation of bert-base saves memory'; fi
  learn 0 memory --model bert-base --batch 8 --recompute --saved all && prints '^attention, again  *(8, 128, 768)  *f32  *1 '

  # The search ends where one more does not fit, and a training agrees.
  learn 0 memory --budget 2MB && prints '^largest batch [1-9]' && prints '^With at most 2000000 bytes:$'
  local largest
  largest=$(sed -n 's/^largest batch //p' out)
  [ "$(tail -n 1 out)" = "largest batch $largest" ] || fail 'does not end with the largest batch'
  learn 0 memory --budget 2MB --batch "$largest" && prints '^It fits: [0-9]* of 2000000 bytes$'
  learn 1 memory --budget 2MB --batch $((largest + 1)) && prints '^It does not fit: '
  learn 0 memory --budget 1.001GB --batch 1 && prints ' of 1001000000 bytes$'
  learn 0 memory --budget 900000TB && prints '^largest batch 16777216 or more$'
  learn 1 memory --model transformer --sequence 4096 --batch 1000000 && complains 'take at most 4096'
  learn 0 train --data cut --steps 2 --memory-limit 2MB --batch "$largest" --out limited && prints '^Memory: at most'
  learn 1 train --data cut --steps 2 --memory-limit 2MB --batch $((largest + 1)) --out refused &&
    complains 'and its limit is 2000000; a smaller --batch, --recompute or narrower formats take less'
  # Nothing of a model of 34 GB is made before it is refused.
  what='train under a limit, of a model that is larger than the memory'
  (ulimit -v 8000000 && exec "$program" train --data cut --widths 784,65536,65536,65536,10 --recompute --memory-limit 2MB --out refused) >out 2>err
  code=$?
  [ "$code" = 1 ] || fail 'wanted exit code 1'
  complains 'and its limit is 2000000'
  if [ -n "$(find refused -name '*.jsonl' 2>/dev/null)" ]; then fail 'a refused run leaves a log'; fi
  learn 1 train --resume limited/train-001 --memory-limit 1kB && complains 'and its limit is 1000'
  learn 0 train --resume limited/train-001 --memory-limit 3MB
  learn 0 train --data cut --steps 2 --recompute --out limited && prints '^Runs 1 block again in backward'
  learn 0 train --resume limited/train-002 && prints '^Runs 1 block again in backward'
  learn 0 train --resume limited/train-002 --recompute none
  if grep -q 'again in backward' out; then fail 'recomputes'; fi
  rm -rf limited refused
  learn 0 memory --model bert-base --optimizer adam --budget 1GB && prints '^largest batch 0$'

  learn 0 memory --model bert-large --sequence 512 --recipe fp16_dynamic --optimizer adam --batch 8 --saved all &&
    prints '^bert-large, transformer encoder of 30522 words, 24 layers of 1024, 16 heads,$' &&
    prints '^attention  *(8, 512, 1024)  *f16  *24 ' && prints '^Beside lean: 1[.]'
  learn 0 memory --model bert-base --masked-words --batch 2 && prints '19 of each'
  learn 0 memory --model bert-base --batch 2 && prints ' a class of each by its$'
  learn 0 memory --model lstm --width 16 --vocabulary 100 --sequence 9 --batch 3 && prints 'texts of 9 tokens, the next'
  learn 0 memory --model transformer --vocabulary 145 && prints 'a vocabulary of 145 (--vocabulary)'
  learn 1 memory --model transformer --sequence 65536 --width 65536 --heads 65536 --layers 30 --batch 256 &&
    complains 'too many bytes to count'
  learn 0 memory --model transformer --words --vocabulary 90 --sequence 16 --batch 3 && prints 'decoder of 90 words'
  learn 0 memory --model resnet20 --data cifar10 --batch 3 --ops 2 && prints 'images of 3072 values' && prints '^all others '
  [ "$(grep -c '  f32  ' out)" = 2 ] || fail 'wanted two ops'
}

use() {
  learn 0 --version && prints '^tinymp [0-9]'
  learn 0 && prints 'Next:  ./learn quickstart' && prints '^  cut  *11000 images'
  learn 0 --plain && prints 'Next:  ./learn quickstart' && prints '^--* *-----'
  if LC_ALL=C grep -q '[^ -~]' out; then fail 'wanted ASCII only'; fi
  learn 2 --plain extra && complains "no command '--plain'"
  learn 2 quikstart && complains "did you mean 'quickstart'"
  learn 2 tets && complains "did you mean 'test'"
  learn 2 xyzzy && complains "no command 'xyzzy' (see ./learn --help)"
  learn 2 --frobnicate && complains 'no command'
  learn 0 run --help && prints 'usage: ./learn run N' && prints '^  06_loss_scaling  Loss scaling: do small gradients survive?$'
  for command in quickstart train explain memory verify-all compare runs predict 'run 6'; do
    # shellcheck disable=SC2086
    learn 0 $command --help && prints 'Usage: ./learn'
  done

  learn 0 compare --help
  names_fields RunHeader 'first line' 20
  names_fields LogRecord 'a step' 15
  names_fields RunResult result 7

  learn 2 run && complains 'run which lesson'
  learn 2 run 99 && complains "no lesson '99': there are 0"
  learn 2 run six && complains "no lesson 'six'"
  learn 2 run 6 --smok && complains "did you mean '--smoke'"
  learn 2 run 6 --seeds 0 && complains 'whole number from 1'
  learn 2 run 6 --full && complains "there is no option '--full'"
  if [ -x "$BIN/lesson_14" ] && ! [ -e "$source_folder/datasets/text" ]; then
    learn 3 run 14 --full --data cut && complains 'data text'
  fi
  learn 2 run 6 --seeds 2.5 && complains 'whole number'
  learn 2 run 6 --seeds && complains '--seeds'
  learn 2 run 6 --data cifar10 && complains 'cifar10'
  learn 2 run 6 extra && complains "'extra' is one argument too many"
  learn 2 run 6 --sabotage barrier --smoke && complains './learn run 6 has unscale'
  learn 2 run 0 --sabotage '' --smoke && complains 'has none'
  [ "${TINYMP_LEAVE_OUT:-}" = exercises ] || exercises
  export TINYMP_PROGRESS=$work/progress.txt
  learn 0 clinic && prints '^  Patient 3: crawls  *-' && prints '^  .*  clip-before-division'
  learn 2 clinic 16 && complains "no patient '16'; there are 1 to 15"
  learn 2 clinic run && complains 'N is required'
  learn 2 check clinic 3 clip && complains "did you mean 'clip-before-division'"
  learn 1 check clinic 3 no-master && prints '^No: it is not no-master'
  [ ! -e progress.txt ] || fail 'a wrong answer is progress'
  learn 0 check clinic 3 clip-before-division && prints '^Right: ' && prints './learn clinic run 3 --cured'
  grep -q '^clinic 3 solved 20' progress.txt || fail 'what was solved is not written down'
  learn 0 clinic && prints '^  Patient 3: crawls  *solved'
  learn 2 verify-all --seeds 0 && complains 'whole number from 1'
  learn 2 verify-all --first-seed 40 --smoke && complains 'smoke excludes --first-seed'
  learn 2 verify-all --first-seed x && complains 'first-seed'
  learn 1 verify-all --out missing/log && complains 'cannot write missing/log'
  learn 1 run 6 --smoke --results missing/it.json && complains 'cannot write the results missing/it.json: .*--results FILE'
  learn 3 run 6 --device cuda --smoke && complains 'cuda'
  if [ ! -d "$source_folder/datasets/mnist" ]; then
    learn 0 && prints '^  mnist  *the data set "mnist" is not here'
    learn 3 run 6 --verify && complains './learn data mnist'
    learn 3 verify-all && complains './learn data '
    if grep -q '^Lesson 0' out; then fail 'a lesson ran before the data of all were looked for'; fi
    learn 3 quickstart --smoke --data mnist && complains './learn data mnist'
  fi
  learn 2 quickstart --verify && complains "no option '--verify'"

  for value in nan NaN inf -0.1 1e999 abc ''; do
    learn 2 train --data cut --lr "$value" && complains '--lr: takes a finite number'
  done
  learn 2 train --data cut --clip 0 && complains '--clip: takes a finite number above 0'
  learn 2 train --data cut --loss-scale nan --recipe fp16_static && complains '--loss-scale'
  learn 2 train --data cut --loss-scale 8 && complains 'no meaning for --scaling none'
  learn 2 train --data cut --scaling static --growth 2 && complains 'no meaning for --scaling static'
  learn 2 train --data cut --scaling dynamic --skip-nonfinite && complains 'no meaning for --scaling dynamic'
  learn 2 train --data cut --scaling dynamic --floor 1:8 && complains '--floor has no meaning for --scaling dynamic'
  for value in 8 0:8 1:0 2:8,1:9 1:8,2:7 1:inf ''; do
    learn 2 train --data cut --scaling enhanced --floor "$value" && complains '--floor: '
  done
  for value in 1 0.5 nan; do
    learn 2 train --data cut --scaling dynamic --growth $value && complains '--growth: takes a.* number above'
  done
  for value in 1 2 -0.5; do
    learn 2 train --data cut --scaling dynamic --backoff $value && complains '--backoff: takes a'
  done
  learn 2 train --data cut --recipe fp61 && complains 'fp16_weights'
  learn 2 train --data cut --compute f8 && complains 'f8'
  learn 2 train --data cut --accumulator bf16 && complains 'bf16'
  for format in half F16 float16 fp32; do
    learn 2 train --data cut --accumulate "$format" && complains 'takes a number of batches.* --accumulator f[13][62]'
  done
  learn 2 train --data cut --accumulate bf16 && complains 'takes a number of batches.* --accumulator f32 or f16'
  learn 2 train --data cut --ranks 2 --memory-limit 1GB && complains '--memory-limit is for a run of one process'
  learn 2 train --data cut --accumulate f16 && complains '--accumulate: takes a number of batches.* --accumulator f16'
  learn 2 train --data cut --recompute half && complains '"half" is no number of segments'
  learn 2 train --data cut --recompute 2 && complains '2 segments of a model that has 1 block'
  learn 2 train --data cut --widths 784,10 --recompute && complains 'this model names no blocks'
  learn 2 train --data cut --widths 784,10 --recompute --seeds 2 && complains 'this model names no blocks'
  learn 2 train --data cut --accumulate 0 && complains 'whole number from 1'
  learn 2 train --data cut --batch 90 --accumulate 101 && complains 'a step of 90 x 101 images, 9090 in all, cannot be drawn from 9000'
  learn 2 train --data cut --steps 0 && complains 'whole number from 1'
  learn 2 train --data cut --steps 99999999999999999999 && complains 'whole number'
  learn 2 train --data cut --seed -1 && complains 'whole number from 0'
  learn 2 train --data cut --batch 9001 && complains 'choose a batch size from 1 to 9000'
  learn 2 train --data cut --widths 784 && complains 'begins with 784'
  learn 2 train --data cut --widths 784,64,11 && complains 'ends with 10'
  learn 2 train --data cut --model autoencoder --widths 784,64,10 && complains 'ends with 784'
  learn 2 train --data cut --model residual --widths 784,10 && complains '--blocks'
  learn 2 train --data cut --blocks 3 && complains '--widths'
  learn 2 train --data cut --model lenet --widths 784,10 && complains 'lenet'
  learn 2 train --data cifar10 --widths 784,64,10 && complains 'begins with 3072'
  learn 2 train --data cifar10 --model lenet && complains 'lenet takes grey images of 28 x 28'
  learn 2 train --data nix && complains 'course}, and no folder:PATH'
  learn 2 train --data course && complains 'course is no data for mlp'
  learn 2 train --data cut --model transformer && complains 'transformer reads text or course'
  learn 2 train --data course --model transformer --augment && complains '--augment is for images'
  learn 2 train --data course --model transformer --heads 3 && complains '--heads 3 do not share --width 64'
  learn 2 train --data course --model transformer --blocks 3 && complains 'transformer has --width and --layers'
  learn 2 train --data course --model transformer --vocabulary 9 && complains '--vocabulary is for --words'
  learn 2 train --data course --model transformer --context 20000 --batch 900 && complains 'a batch of 900 texts'
  learn 2 train --data cut --layers 3 && complains 'are for models of texts, not for mlp'
  learn 2 train --data folder: && complains 'wants the path of a folder'
  learn 3 train --data folder:nowhere && complains 'nowhere: no such folder'
  learn 2 run 6 --data folder:nowhere && complains 'folder:nowhere not in'
  learn 2 train --data cut --schedule linear && complains 'linear'
  learn 2 train --data cut --steps 10 --warmup 10 && complains '--warmup 10 takes all of the 10 steps'
  learn 2 train --data cut --optimizer adam --momentum 0.9 && complains '--momentum is for sgd'
  learn 2 explain --recipe o4 && complains 'o0, o1, o2, o3'
  learn 2 explain --model mlp --widths 784,11 && complains 'ends with 10'
  learn 2 explain --batch 1 && complains '--batch'
  learn 2 memory --model bert-base --layers 3 && complains 'bert-base is what it is'
  learn 2 memory --model bert-base --sequence 513 && complains 'reads at most 512 tokens'
  learn 2 memory --model lstm --sequence 4097 && complains 'choose at most 4096'
  learn 2 memory --model lstm --dropout 0.1 && complains 'lstm has --width, --vocabulary and --sequence'
  learn 2 memory --model mlp --sequence 8 && complains 'for models of texts, not for mlp'
  learn 2 memory --model transformer --data mnist && complains 'transformer reads texts'
  learn 2 memory --model transformer --context 8 && complains "no option '--context'"
  learn 2 memory --budget 12 GB && complains "'12' is no size of memory; write 12GB"
  for size in 12 999999 12Gb GB -1GB 0 0.1B 1e30GB 12GB5; do
    learn 2 memory --budget $size && complains "'$size' is no size of memory; write 12GB"
  done
  learn 2 memory --optimizer adam --momentum 0.9 && complains '--momentum is for sgd'
  learn 2 memory --accumulate f16 && complains '--accumulate: takes a number of batches.* --accumulator f16'
  learn 2 train --memory-limit much && complains 'is no size of memory'
  learn 2 train --data cut --optimizer lion && complains 'lion'
  learn 2 train --data cut --save-every 0 && complains '--save-every: takes a whole number from 1'
  learn 2 train --data cut --weights-only && complains 'name it with --resume RUN'
  learn 2 train --resume nowhere && complains '--resume: there is no nowhere'
  mkdir no_run && learn 2 train --resume no_run && complains 'no_run has no log of a run'

  echo '{"not": "a run"}' >garbage.jsonl
  head -c 3000 /dev/urandom >noise.jsonl
  : >empty.jsonl
  mkdir folder nothing && cp garbage.jsonl folder/
  for file in garbage noise empty; do learn 1 compare $file.jsonl && complains "$file.jsonl"; done
  learn 1 compare folder && complains 'none of the files in folder'
  learn 1 compare nothing && complains 'no recorded run'
  learn 2 compare missing.jsonl && complains 'no file or folder missing.jsonl'
  learn 2 compare && complains 'compare which runs'
  learn 2 compare 'missing*.jsonl' && complains 'the pattern missing\*.jsonl meets no file'
  printf 'step,loss\n1,x\n' >bad.csv
  learn 1 compare bad.csv && complains 'bad.csv:2: "loss" is not a number: x'
  printf 'a;b\n1;2\n' >bad.csv
  learn 1 compare bad.csv && complains 'bad.csv:1: the header names no column "step"; it has a;b'
  printf 'step,loss\n1,2\n' >good.csv
  learn 2 compare good.csv --by colour && complains "no field 'colour'; there are run, name, recipe, "
  learn 2 compare good.csv --where sed=1 && complains "no field 'sed'; there are run, name, recipe, "
  learn 2 compare good.csv --where recipe && complains "'recipe' is no condition"
  learn 2 compare good.csv --where seed=1 && complains 'none of 1 runs has seed=1; seed is none (1 run)'
  learn 2 compare good.csv --against fp32 && complains '--against fp32: no group, run or recipe has that name; there are good'
  learn 2 compare good.csv --metric colour && complains 'colour'
  learn 2 compare good.csv --smooth 1 && complains 'smooth takes a weight from 0'
  learn 0 runs && prints '^Nothing is recorded in runs/ yet; ./learn quickstart'
  [ ! -e runs ] || fail "wrong use left something in runs/: $(ls runs)"
}

compares_figures() { # groups, a baseline, exports; in runs/quickstart-001 each recipe has several names
  learn 0 compare 'runs/quickstart-0*' --where recipe=fp32 --by lr --csv figures.csv --json figures.json --out elsewhere
  prints '^lr 0' && prints '^Table:  figures.csv$' && prints '^JSON:   figures.json$'
  grep -q '^run,recipe,model,data,seed,lr,final,best,diff,low,high,skips,lost,flushed,seconds,peak_bytes,samples_per_second.$' figures.csv ||
    fail 'figures.csv does not have its columns'
  grep -q '^lr 0.*,fp32,.*,0,0\.' figures.csv || fail 'figures.csv does not have FP32'
  grep -q '"peak_bytes": [1-9]' figures.json || fail 'figures.json does not have peak_bytes'
  learn 0 compare runs/quickstart-001 --against fp32 --metric flushed --x epoch --smooth 0.5 --log --out elsewhere
  prints 'Gradients flushed to zero against epoch, smoothed 0.5' && prints ' against FP32$' && prints '95 % interval'
  learn 0 compare runs/quickstart-001 --metric validation_loss --out elsewhere && prints 'These logs do not have validation_loss.'
  {
    echo 'step,loss,accuracy,seed,recipe'
    for seed in 0 1; do for step in 1 2 3; do echo "$step,1,$((90 + step)),$seed,theirs" && echo "$step,2,$((80 + step + seed)),$seed,mine"; done; done
  } >other.csv
  # Beside the runs, where they are of one question.
  learn 0 compare other.csv runs/quickstart-001/fp32-seed0.jsonl --by recipe --against fp32 --out elsewhere
  [ "$(grep -c '95 % interval' out)" = 1 ] || fail 'the table of another program is not beside the runs'
  prints '^mine ' && prints '^fp32 '
  mkdir -p elsewhere/page && : >elsewhere/page/report.html # of an earlier comparison, and met by a pattern of the shell
  learn 0 compare elsewhere/page other.csv --out elsewhere && learn 1 compare elsewhere/page
  complains 'no recorded run'
  learn 2 compare other.csv --csv other.csv --out elsewhere && complains 'this file is read'
  learn 2 compare runs/quickstart-001 --json "$(echo runs/quickstart-001/*.jsonl | cut -d' ' -f1)" --out elsewhere
  complains 'this file is read'
  learn 0 compare other.csv --against theirs --csv figures.csv --out elsewhere
  prints '^mine  *83.50 (83.00..84.00)  *83.50  *-9.5  *-15.9..-3.1  *2$'
  grep -q '^mine,mine,,,0 1,,83.5,83.5,-9.5,-15.85' figures.csv || fail 'figures.csv does not have the difference'
  learn 0 runs && prints '^quickstart-001.*  *finished  *[0-9]' && prints '^[0-9]* runs in runs; ./learn compare runs/NAME'
  learn 0 runs runs && prints '^quickstart-001' # the folder without its flag, too
  # By the name in the list a run is found again.
  learn 0 runs --out . --plain && prints '^runs/quickstart-001/'
  learn 1 compare runs/quickstart-001 --csv /dev/null/no.csv --out elsewhere && complains 'cannot write the table'
  [ ! -s out ] || fail 'the table was printed before its file was tried'
  learn 0 runs --plain
  if LC_ALL=C grep -q '[^ -~]' out; then fail 'not ASCII under --plain'; fi
}

races() { # what lesson 02 says of its kernel without a barrier; with g++ also who races with whom, and in which lines
  local kernel=lessons/02_matmul/matmul.cuh text
  prints '^with its barrier  *right  *right  *right$'
  prints '^without  *[0-9]* of 4096 wrong  *right  *[0-9]* of 4096 wrong$'
  if [ ! -x "$BIN/race_02" ] || grep -q 'ThreadSanitizer does not run on this machine' out; then return; fi
  prints 'ThreadSanitizer: data race on .rows'
  for text in 'load_matrix_sync(left' 'rows\[row\]\[k\] ='; do
    prints " of size 2  *thread ([0-9]*,0,0)  *$kernel:$(grep -n -- "$text" "$source_folder/$kernel" | cut -d: -f1)$"
  done
}

runs() {
  learn 0 quickstart --smoke --threads 2
  for curve in 'FP32' 'FP16 weights' 'FP16 + FP32 master' 'FP16, S = 1' 'FP16, static S = 1024' 'FP16, dynamic S'; do
    grep -q "^$curve  " out || fail "the table has no row '$curve'"
  done
  prints 'Do small updates survive?' && prints 'Do small gradients survive?'
  prints "Page:   .*/runs/quickstart-001/report.html"
  grep -q '</html>' runs/quickstart-001/report.html || fail 'report.html is not whole'
  [ "$(find runs -name '*-seed0*.jsonl' | wc -l)" = 8 ] || fail 'wanted 8 logs: 7 curves and the pretraining'
  [ "$(grep -c '"result"' runs/quickstart-001/*.jsonl | grep -c ':1$')" = 8 ] || fail 'a log has no result'

  learn 0 run 6 --smoke --data cut --seeds 2 --first-seed 5
  [ "$(find runs/06_loss_scaling-001 -name '*-seed[56]*.jsonl' | wc -l)" = 27 ] || fail 'wanted 11 curves of seeds 5 and 6, and 5 runs of seed 5'
  prints 'Again:  ./learn run 6 --smoke --data cut --seeds 2 --first-seed 5'
  grep -x -A 1 'Must the gradients be divided by S?' err | grep -q '^FP32, seed 5' || fail 'the runs do not stand under their question'
  grep -q '"lesson":"06_loss_scaling"' runs/06_loss_scaling-001/fp32-seed5.jsonl || fail 'the log names no lesson'

  printf '0.05\nwhat\nnan\n' >answers
  "$program" run 6 --smoke --data cut --predict --out predicted <answers >out 2>err || fail 'wanted exit code 0'
  prints 'A number, or nan, or nothing' && prints 'You predicted 0.05 for FP16, S = 1; it is' && prints 'You predicted NaN for FP16, static'
  [ "$(grep -c 'You predicted 0.05 for' out)" = 1 ] || fail 'a prediction is answered more than once'
  grep -q 'You predicted 0.05 for FP16, S = 1' predicted/*/report.html || fail 'the page does not have the prediction'
  rm -rf predicted

  # All lessons: what their smoke runs leave behind, and the claims that a few steps can judge.
  local number logs wanted lessons
  "$program" run 99 2>err
  lessons=$(sed -n "s/.*no lesson '99': there are //p" err | tr -d ,)
  for number in 0 1 3 4 5 6 7 8 9 10 11; do case " $lessons " in *" $number "*) ;; *) fail "lesson $number is not built" ;; esac done
  for number in $lessons; do
    case " ${TINYMP_LEAVE_OUT:-} " in *" $number "*) continue ;; esac
    rm -rf lesson
    learn 0 run "$number" --smoke --verify --data cut --threads 2 --out lesson
    logs=$(find lesson -name '*.jsonl' | wc -l)
    case $number in
      0) wanted=2 ;;  # FP32, mixed precision
      1) wanted=7 ;;  # FP32 and FP16; five curves with subnormals and without
      2) wanted=4 ;;  # the kernel with its barrier, and without in three orders of threads
      3) wanted=12 ;; # batch norm on white paper, on black, in a CNN; matmuls
      4) wanted=3 ;;  # three curves
      5) wanted=5 ;;  # the pretraining, four curves
      6) wanted=16 ;; # five curves, three each of the division and of clipping, five runs that are no curves
      7) wanted=14 ;; # four curves for each of three models, two more for one of them
      8) wanted=20 ;; # eight softmaxes, layer norm on paper and on black, six Adams
      9) wanted=21 ;; # eleven losses, four levels, the pretraining and five levels after it
      10) wanted=5 ;; # a pair, two with FP16 statistics, S = 1
      11) wanted=5 ;; # FP32, S = 1, S = 128, dynamic S, BF16
      *) wanted=$logs ;;
    esac
    [ "$logs" = "$wanted" ] || fail "$logs logs instead of $wanted"
    [ "$(find lesson -name '*.jsonl' -exec grep -l '"result"' {} + | wc -l)" = "$logs" ] || fail 'a log has no result'
    case $number in 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11) prints 'is not judged: --smoke takes too few steps' ;; esac
    if [ "$number" = 2 ]; then races; fi
  done

  learn 0 clinic run 3 --smoke && prints 'The recorded run, bit for bit.'
  learn 0 clinic run 7 --smoke --cured && prints '^patient 7, *'
  rm -rf runs/clinic-*

  learn 0 run 4 --verify --data cut --out lesson
  rm -rf lesson

  mkdir -p pictures/low pictures/high
  cp "$source_folder"/datasets/digits/[0-4].png pictures/low/
  cp "$source_folder"/datasets/digits/[5-9].png pictures/high/
  learn 0 train --data folder:pictures --steps 3 --batch 2 --out lesson
  prints 'Data: folder:pictures (7 train, 1 validation, 2 test): 28 x 28 grey' && prints 'pictures resized; classes: high, low'
  grep -q '"question":"mlp 784-64-10 on folder:pictures"' lesson/*/*.jsonl || fail 'the log does not name the folder'
  rm -rf pictures lesson

  learn 1 run 4 --smoke --verify --data cut --out lesson --sabotage cast_backward --results results.json
  prints 'SABOTAGED: cast_backward' && complains 'claims did not hold'
  grep -q '<title>SABOTAGED' lesson/*/report.html || fail 'the page does not tell that it is sabotaged'
  [ "$(grep -l '"name":"FP[^"]*(sabotaged: cast_backward)"' lesson/*/*.jsonl | wc -l)" = 3 ] || fail 'an honest name in a log'
  grep -q '^ "sabotaged": "cast_backward",$' results.json || fail 'results.json does not tell that it is sabotaged'

  local few='--data cut --steps 5 --threads 1'
  # shellcheck disable=SC2086
  {
    learn 0 train $few --recipe fp16_static --loss-scale 8 --skip-nonfinite --state f16 --optimizer adamw --weight-decay 0.01
    prints 'mlp 784-64-10 on fashion-mnist-cut' && prints 'fp16_static, state f16, S 8, skips'
    learn 0 train $few --model autoencoder --scaling dynamic --compute f16 --gradient f16 --growth-interval 2 --clip 1
    learn 0 train $few --recipe fp16_dynamic --scaling enhanced --floor 1:32768,3:65536 --out enhanced
    prints 'at least 32768 from step 1, 65536 from step 3'
    learn 0 train $few --recipe fp8_e5m2 --fp8-exempt last --round-errors stochastic --out eight
    prints 'gradients through e5m2, but last, errors rounded stochastic'
    learn 0 train $few --recipe fp8_hybrid --fp8-history 3 --fp8-margin -1 --fp8-amax most_recent --out hybrid
    prints 'delayed scales with margin -1 of 3 steps by most_recent'
    learn 0 train $few --recipe fp8_hybrid --fp8-exempt '*' --out exempt
    prints 'No product of this run is in FP8'
    learn 2 train $few --recipe fp8_hybrid --fp8-scaling current --fp8-margin 1
    complains '--fp8-margin has no meaning for --fp8-scaling current'
    learn 2 train $few --recipe fp8_hybrid --fp8-margin 31 && complains '--fp8-margin'
    learn 2 train $few --recipe fp8_hybrid --fp8-history 0 && complains '--fp8-history'
    learn 2 train $few --fp8-scaling current && complains 'no product is in FP8'
    rm -r enhanced eight hybrid
    learn 0 train $few --model residual --blocks 2 --width 16 --optimizer adagrad --name 'a curve'
    learn 0 train $few --model lenet --recipe fp16_dynamic && prints 'lenet on fashion-mnist-cut'
    learn 0 train $few --recipe o1 && prints 'f32, autocast f16, S dynamic'
    learn 0 train $few --model resnet20 --batch 4 --recipe o2 && prints 'batch norm f32'
    learn 0 train $few --lr 1e38 --momentum 0.9 # ends in NaN: that is a result
    prints 'NaN'
  }
  [ "$(find runs -path 'runs/train-00[1-7]/*-seed0.jsonl' | wc -l)" = 7 ] || fail 'wanted seven runs'

  local text='--data course --model transformer --steps 4 --batch 4 --context 16 --width 16 --heads 2 --threads 1'
  # shellcheck disable=SC2086
  {
    learn 0 train $text --optimizer adam --recipe fp16_dynamic --out texts
    prints 'transformer decoder of [0-9]* words, 2 layers of 16, 2 heads, context 16 on course'
    learn 0 train $text --masked --words --vocabulary 200 --layers 1 --recipe o1 --out texts
    prints 'transformer encoder of 201 words, 1 layer of 16'
    learn 0 train $text --dropout 0.1 --recipe fp32,bf16 --out grid && prints 'validation loss'
    learn 0 explain --model transformer --recipe o1 && prints '^attention  *f16 f16 f16  *f16  *f32'
    learn 0 explain --model transformer --masked --batch 2 --recipe fp16_dynamic && prints '^matmul_transposed'
  }
  rm -r texts grid

  # Whatever is narrower than FP32 on a gradient's way, the --shadow-every that was asked for is done.
  for flag in compute gradient autocast; do
    # shellcheck disable=SC2086
    learn 0 train $few --$flag f16 --shadow-every 2 --out shadowed
    [ "$(grep -c '"flushed":0' shadowed/*/*.jsonl)" -ge 2 ] || fail 'counts no flushed gradients'
    rm -rf shadowed
  done

  # shellcheck disable=SC2086
  learn 0 train $few --compute bf16 --gradient bf16 && prints 'bf16, master f32'
  # shellcheck disable=SC2086
  learn 0 train $few --name $'\e[2J' --out escaped && prints '--name '
  if grep -q $'\e' out; then fail 'the command comes back with raw escapes'; fi
  rm -rf escaped

  # shellcheck disable=SC2086
  learn 0 train $few --schedule cosine --warmup 2 --augment && prints 'sgd lr=0.1 cosine warmup=2'

  local before after
  before=$(snapshot runs)
  plans_memory
  learn 0 explain --recipe o1 && prints '^cast  *f32  *f16 .*layer 1 weight$' && prints '^linear  *f16 f16 f16  *f16  *f32'
  learn 0 explain --model resnet20 --recipe o2 && prints '^batch_norm  *f16 f32 f32  *f16'
  learn 0 explain --recipe fp8_hybrid --batch 2 && prints '^quantize  *bf16  *e4m3  *nearest  *896 ' &&
    prints 'in the first step all are 1' && prints '^quantize  *bf16  *e5m2  *nearest '
  TINYMP_EMULATE=h200 learn 0 explain --recipe o2 --batch 2 --device cuda &&
    prints '^gemm  *mma  *1  *(2,784):f16 (784,[0-9]*):f16 -> '
  TINYMP_EMULATE=1 learn 0 explain --recipe o0 --batch 2 --device cuda && prints '^gemm  *by definition\|^gemm  *tiled'
  learn 0 compare runs/train-001 runs/train-003/*.jsonl runs/train-001 --out elsewhere
  prints 'a curve' && prints 'elsewhere/compare-001/report.html'
  compares_figures
  cp runs/quickstart-001/fp32-seed0.jsonl cut.jsonl && printf '{"step":9,"lo' >>cut.jsonl
  cp -r runs/06_loss_scaling-001 mixed && echo garbage >mixed/garbage.jsonl
  learn 0 compare mixed --out elsewhere
  grep -q 'left out: mixed/garbage.jsonl' err || fail 'does not tell what was left out'
  learn 2 train --data cut --lr nan
  learn 2 train --data cut --batch 100000
  learn 2 compare cut.jsonl missing
  learn 0 run 6 --smoke --data cut --out elsewhere
  # shellcheck disable=SC2086
  learn 0 train $few --out elsewhere
  after=$(snapshot runs)
  if [ -z "$before" ] || [ "$before" != "$after" ]; then fail 'an earlier run was touched'; fi
  learn 0 && prints 'Next:  ./learn quickstart' # what ran was --smoke, and does not count as done

  "$program" train --data cut --steps 5 --out elsewhere >/dev/full 2>err
  code=$? what='train >/dev/full'
  if [ -e /dev/full ]; then
    [ "$code" = 1 ] || fail 'wanted exit code 1'
    grep -q 'cannot write the output' err || fail 'says nothing about output to a full disk'
  fi
  LC_ALL=C learn 0 compare runs/train-001 --out elsewhere
  if LC_ALL=C grep -q '[^ -~]' out; then fail 'not ASCII under LC_ALL=C'; fi
  learn 0 compare runs/train-001 --out elsewhere --plain
  if LC_ALL=C grep -q '[^ -~]' out; then fail 'not ASCII under --plain'; fi
}

resumed() { # a training that Ctrl-C or kill -9 ends goes on to the same weights, log and checkpoint
  local flags='--data cut --steps 700 --batch 16 --recipe fp16_dynamic --optimizer adam --save-every 20 --shadow-every 0'
  local hash signal pid wanted
  # shellcheck disable=SC2086
  learn 0 train $flags --hash --out whole && prints '^weights [0-9a-f]\{16\}$'
  hash=$(tail -n 1 out)
  for signal in INT TERM KILL; do
    # shellcheck disable=SC2086
    "$program" train $flags --name "it's cut" --out $signal >out 2>err &
    pid=$!
    for _ in {1..3000}; do
      if [ -e $signal/train-001/checkpoint.safetensors ]; then break; fi
      sleep 0.02
    done
    kill -$signal $pid
    wait $pid 2>/dev/null
    code=$? what="train, ended by SIG$signal"
    if [ $signal != KILL ]; then
      wanted=130
      if [ $signal = TERM ]; then wanted=143; fi
      [ $code = $wanted ] || fail "exit code $code, not $wanted"
      grep -q '^Interrupted after step [0-9]* of [0-9]*; log and checkpoint are kept' err || fail 'says nothing'
      grep -q "^  ./learn train --resume $signal/train-001\$" err || fail 'does not say how to go on'
    fi
    grep -q '"result"' $signal/train-001/*.jsonl && fail 'ended before the signal'
    learn 2 train --resume $signal/train-001 --lr 0.1 && complains '--lr would make another run'
    learn 0 train --resume $signal/train-001 --hash --threads 1 --recompute && prints "it's cut"
    prints '^Goes on after step [1-9][0-9]* of 700[.]$'
    [ "$(tail -n 1 out)" = "$hash" ] || fail "$(tail -n 1 out) after SIG$signal, not $hash"
    cmp -s whole/train-001/checkpoint.safetensors $signal/train-001/checkpoint.safetensors || fail 'another checkpoint'
    diff <(tail -n +2 whole/train-001/*.jsonl | sed 's/"seconds":[^,]*//; s/,"peak_bytes".*//') \
      <(tail -n +2 $signal/train-001/*.jsonl | sed 's/"seconds":[^,]*//; s/,"peak_bytes".*//') >/dev/null || fail 'another log'
    learn 0 train --resume $signal/train-001 --hash && prints '^All 700 steps are done[.]$'
    [ "$(tail -n 1 out)" = "$hash" ] || fail 'a finished run is not what it was'
  done
  learn 1 train --resume INT/train-001/report.html && complains 'report.html: no safetensors file'
  learn 0 train --data cut --steps 5 --widths 784,64,32,10 --resume INT/train-001 --weights-only --out tuned
  prints 'Weights: 2 tensors of INT/train-001/checkpoint.safetensors'
  prints "left there: 2.weight (10, 64): the model's is (32, 64)" && prints 'begins anew: 4.bias (10)'
  cp -r whole/train-001 damaged && printf '\377' | dd of=damaged/checkpoint.safetensors bs=1 seek=20000 conv=notrunc 2>/dev/null
  learn 1 train --resume damaged && complains 'damaged/checkpoint.safetensors: a damaged file'
  learn 1 train --data cut --steps 5 --resume damaged --weights-only --out tuned && complains 'a damaged file'
  cp -r whole/train-001 two && cp two/*.jsonl two/other.jsonl
  learn 2 train --resume two && complains 'several logs'
  rm -rf whole INT TERM KILL tuned two damaged
}

wait_for_file() { # PATH
  for _ in {1..3000}; do
    if [ -e "$1" ]; then return; fi
    sleep 0.02
  done
}

grids() { # what a sweep trains, keeps and compares
  local grid='--data cut --steps 20 --recipe fp32,fp16_dynamic --lr 0.1,1e-2 --out grid' before
  # shellcheck disable=SC2086
  learn 0 train $grid --seeds 2
  prints '^Sweep of 8 cells in grid/: 2 recipes x 2 learning rates x 2 seeds$' && prints '^7 cells to go, about ' && prints '^1 cell to go'
  prints 'against fp32' && prints 'mean of 2 seeds' && prints '^Page:  *.*/grid/compare-001/report.html'
  for cell in fp32-lr0.1-s0 fp32-lr0.01-s1 fp16_dynamic-lr0.1-s1 fp16_dynamic-lr0.01-s0; do
    grep -q '"result"' grid/$cell/*.jsonl || fail "no result in $cell"
  done
  [ "$(find grid -name '*.jsonl' | wc -l)" = 8 ] || fail 'wanted eight logs'
  # The command of a cell repeats it.
  grep -q '"command":"./learn train --recipe fp16_dynamic --lr 0.01 --seed 1 --data cut --steps 20 --out grid"' \
    grid/fp16_dynamic-lr0.01-s1/*.jsonl || fail 'another command in the log of a cell'
  learn 0 train --recipe fp16_dynamic --lr 0.01 --seed 1 --data cut --steps 20 --out one
  cmp -s one/train-001/checkpoint.safetensors grid/fp16_dynamic-lr0.01-s1/checkpoint.safetensors || fail 'another cell'
  # What is there is kept; a seed more trains its cells alone.
  before=$(snapshot grid | grep jsonl)
  # shellcheck disable=SC2086
  learn 0 train $grid --seeds 2 && prints '^8 recorded before$' && prints '^fp32-lr0.01-s0: recorded before$'
  [ "$(snapshot grid | grep jsonl)" = "$before" ] || fail 'a recorded cell was trained again'
  # shellcheck disable=SC2086
  learn 0 train $grid --seeds 3 && prints ' x 3 seeds$' && prints '^8 recorded before$'
  [ "$(find grid -name '*.jsonl' | wc -l)" = 12 ] || fail 'wanted four logs more'
  # Another request is refused before anything trains.
  before=$(snapshot grid)
  local other
  for other in '--steps 30:number of steps is 20, and here it is 30' '--steps 20 --batch 32:batch is 64, and here it is 32' \
    '--steps 20 --model lenet:model is mlp 784-64-10' '--steps 20 --momentum 0.5:optimizer is sgd lr=0.1, and' '--steps 20 --augment:--augment is off' \
    '--steps 20 --validate-every 0:--validate-every is 1, and here it is 0' '--steps 20 --log-every 7:--log-every is 10' \
    '--steps 20 --shadow-every 1:--shadow-every is 50' '--steps 20 --resume one/train-001 --weights-only:beginning is new weights'; do
    # shellcheck disable=SC2086
    learn 2 train ${grid/--steps 20/} --seeds 4 ${other%%:*} && complains "was recorded by another request: its ${other#*:}"
  done
  [ "$(snapshot grid)" = "$before" ] || fail 'a refused sweep left something'
  cp -r grid/fp32-lr0.1-s0 mixed && cp mixed/*.jsonl mixed/other.jsonl && mkdir many && mv mixed many/fp32-s0
  learn 2 train --data cut --steps 20 --seeds 1 --out many && complains 'fp32-s0 has several logs'
  learn 0 runs --out grid && prints 'fp16_dynamic'
  [ "$(wc -L <out)" -le 80 ] || fail 'the list is wider than 80 columns'
  rm -rf grid one many
}

refusals() {
  learn 2 train --data cut --recipe fp32,fp61 && complains "fp61" && complains 'fp16_weights'
  learn 2 train --data cut --recipe fp32,,o1 && complains 'a name is missing'
  learn 2 train --data cut --recipe fp32,o1,fp32 && complains 'fp32 stands there twice'
  learn 2 train --data cut --lr 0.1,1e-1 && complains '0.1 stands there twice'
  learn 2 train --data cut --lr 0.1,nan && complains '--lr: takes a finite number'
  learn 2 train --data cut --seeds 0 && complains 'whole number from 1'
  learn 2 train --data cut --seeds 2 --name x && complains '--name names one curve'
  learn 2 train --data cut --seeds 2 --hash && complains '--hash is for one run'
  learn 2 train --data cut --seeds 2 --resume runs && complains 'a sweep goes on when its own command'
  learn 2 train --data cut --recipe fp32,fp16_static --loss-scale 8 && complains 'the cell fp32-s0: --loss-scale has no meaning'
  [ ! -e runs ] || fail 'a refused sweep left something'
}

stopped_sweeps() { # Ctrl-C and SIGTERM in the second cell; the same command goes on
  local flags='--data cut --steps 600 --batch 16 --recipe fp32,fp16_dynamic --seed 3 --seeds 1 --save-every 20 --shadow-every 0'
  local signal wanted pid
  # shellcheck disable=SC2086
  learn 0 train $flags --out whole && prints '^Sweep of 2 cells'
  for signal in INT TERM; do
    if [ $signal = INT ]; then wanted=130; else wanted=143; fi
    # shellcheck disable=SC2086
    "$program" train $flags --out $signal >out 2>err &
    pid=$!
    wait_for_file $signal/fp16_dynamic-s3/checkpoint.safetensors
    if [ $signal = INT ]; then
      "$program" runs --out INT >listed 2>&1
      grep -q 'running' listed || { cat listed && fail 'a run that trains is not called running'; }
      # shellcheck disable=SC2086
      "$program" train $flags --out INT >/dev/null 2>listed
      grep -q 'another program is training this cell' listed || { cat listed && fail 'two programs train one cell'; }
    fi
    kill -$signal $pid
    wait $pid 2>/dev/null
    code=$? what="sweep, ended by SIG$signal"
    [ $code = $wanted ] || fail "exit code $code, not $wanted"
    grep -q '^Interrupted; all logs and checkpoints are kept (1 of 2 cells' err || fail 'says nothing'
    grep -qx "  ./learn train $flags --out $signal" err || fail 'does not say how to go on'
    learn 0 runs --out $signal && prints 'interrupted' && prints 'finished'
    if [ $signal = TERM ]; then printf '{"loss":\n\n[' >>"$(echo TERM/fp16_dynamic-s3/*.jsonl)"; fi # the disk lost power
    # shellcheck disable=SC2086
    learn 0 train $flags --out $signal && prints '^1 recorded before, 1 goes on$'
    cmp -s whole/fp16_dynamic-s3/checkpoint.safetensors $signal/fp16_dynamic-s3/checkpoint.safetensors || fail 'another checkpoint'
  done
  printf '[\n' >>"$(echo TERM/fp32-s3/*.jsonl)" && rm TERM/fp32-s3/checkpoint.safetensors
  # shellcheck disable=SC2086
  learn 1 train $flags --out TERM && complains 'the cell fp32-s3: ' && complains 'move its folder away'
  rm -rf whole INT TERM
}

sweep() {
  refusals
  grids
  stopped_sweeps
  learn 0 train --data cut --steps 5 --seeds 2 --seed 5 --out named && prints 'mlp 784-64-10 on fashion-mnist-cut'
  [ "$(ls named)" = "$(printf '%s\n' compare-001 fp32-s5 fp32-s6)" ] || fail 'other folders'
  if grep -q 'against' out; then fail 'a baseline without anything to compare'; fi
  learn 0 train --data cut --steps 30 --lr 1e38,0.1 --momentum 0.9 --out diverged && prints 'NaN' # a result
  learn 0 runs --out diverged && prints 'diverged' && prints 'finished'
  learn 0 train --data cut --steps 5 --recipe o1 --lr 0.1 --out plain
  [ "$(ls plain)" = train-001 ] || fail 'one value is no sweep'
  learn 2 train --data cut --recipe fp32,o1 --lr 1,2,3,4,5,6 --seeds 1000 --out plain && complains 'sweep over fewer'
  learn 0 train --data cut --steps 5 --live --out plain
  grep -q '^fp32, seed 0: test' err || fail 'lines with --live'
  rm -rf named diverged plain
}

limits() { # files of 16 KB at most
  printf '#!/bin/bash\nulimit -f 16\nexec "%s" "$@"\n' "$program" >limited
  chmod +x limited
  program=./limited learn 1 train --data cut --steps 400 --log-every 1 --out limited.out
  complains 'cannot write the run log limited.out/.*File too large.*ulimit -f'
}

disks() {
  skip() { echo "[skipped] $1" && exit 77; }
  mkdir full.disk tight.disk frozen.disk
  mount -t tmpfs -o size=16k tmpfs full.disk 2>/dev/null || skip 'mounting a tmpfs needs root'
  mount -t tmpfs -o size=96k tmpfs tight.disk || skip 'cannot mount a tmpfs'
  mount -t tmpfs -o size=1m tmpfs frozen.disk || skip 'cannot mount a tmpfs'
  local before

  learn 1 quickstart --smoke --out full.disk
  complains 'cannot write .*full.disk/quickstart-001/.*No space left.*--out DIR'
  echo before >full.disk/figures.json
  head -c 100000 /dev/zero >full.disk/filler 2>/dev/null
  before=$(snapshot full.disk)
  learn 1 train --data cut --steps 5 --out full.disk
  complains 'No space left'
  learn 1 run 6 --smoke --data cut --out elsewhere --results full.disk/results.json
  complains 'cannot write the results full.disk/results.json: No space left'
  printf 'step,loss\n1,2\n' >good.csv
  learn 1 compare good.csv --out elsewhere --json full.disk/figures.json
  complains 'cannot write the figures full.disk/figures.json: No space left.*--json FILE'
  [ "$(snapshot full.disk)" = "$before" ] || fail 'earlier runs on the full disk were touched'
  [ ! -d full.disk/train-001 ] || fail 'an empty folder was left behind'

  learn 1 quickstart --smoke --out tight.disk # the logs fit, the page does not
  complains 'report.html'
  grep -q 'The runs are safe in tight.disk/quickstart-001' err || fail 'does not tell that the runs are safe'
  prints '^FP16, dynamic S  '
  [ "$(grep -l '"result"' tight.disk/quickstart-001/*.jsonl | wc -l)" = 8 ] || fail 'logs are missing'
  [ "$(find tight.disk -name 'report*' | wc -l)" = 0 ] || fail 'half a page was left behind'

  learn 0 train --data cut --steps 5 --out frozen.disk
  mount -o remount,ro frozen.disk || skip 'cannot remount a tmpfs'
  before=$(snapshot frozen.disk)
  learn 1 train --data cut --steps 5 --out frozen.disk
  complains 'Read-only file system.*--out DIR'
  learn 1 compare frozen.disk --out frozen.disk
  complains 'Read-only file system'
  prints 'mlp 784-64-10'
  learn 1 compare frozen.disk --out elsewhere --csv frozen.disk/figures.csv
  complains 'cannot write the table frozen.disk/figures.csv: Read-only file system; write elsewhere: --csv FILE'
  [ "$(snapshot frozen.disk)" = "$before" ] || fail 'earlier runs on the read-only disk were touched'
}

case $part in
  use) use ;;
  runs) runs ;;
  resumed) resumed ;;
  sweep) sweep ;;
  limits) limits ;;
  disks) disks ;;
  *) echo "no part '$part'" && exit 2 ;;
esac
[ $failures = 0 ] && echo "learn_test $part: all passed"
exit $((failures > 0))
