#!/usr/bin/env bash
# What first_contact.sh does before anything is compiled: a pretended nvidia-smi and a pretended cmake, each of which
# writes down how it was called.
# shellcheck disable=SC2016  # the fakes are scripts in quotes
set -u
script=$(cd "$(dirname "$0")" && pwd)/first_contact.sh
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
failures=0 code=0
unset TINYMP_EMULATE

fake() { # NAME SCRIPT
  printf '#!/bin/sh\necho "%s $*" >>"%s/calls"\n%s\n' "$1" "$work" "$2" >"$work/bin/$1"
  chmod +x "$work/bin/$1"
}
contact() { # EXIT_CODE ARGUMENT...: from the beginning
  rm -rf "$work/out" "$work/build"
  again "$@"
}
again() { # EXIT_CODE ARGUMENT...: goes on
  local wanted=$1
  shift
  : >"$work/calls"
  PATH=$work/bin:$PATH bash "$script" --out "$work/out" --build "$work/build" "$@" >"$work/said" 2>&1 </dev/null
  code=$?
  [ $code = "$wanted" ] || fail "$*: exit code $code, not $wanted"
}
fail() {
  echo "FAILED: $1"
  head -20 "$work/said"
  failures=$((failures + 1))
}
says() { grep -q -- "$1" "$work/said" || fail "does not say: $1"; }
not_called() { if grep -q -- "$1" "$work/calls"; then fail "called: $1"; fi; }
called() { grep -q -- "$1" "$work/calls" || fail "not called: $1"; }
builds_nothing() {
  if grep -q cmake "$work/calls"; then fail 'calls cmake'; fi
  [ ! -e "$work/out" ] || fail 'leaves a folder of results'
  [ "$(wc -l <"$work/said")" = 1 ] || fail 'says more than one line'
}

fake cmake true
fake nvidia-smi 'echo "NVIDIA-SMI has failed"; exit 9'
contact 3 && builds_nothing && says 'there is no NVIDIA GPU here that answers'
contact 3 --only configure,build && builds_nothing
contact 3 --only gemm && builds_nothing
contact 2 --only gems && builds_nothing && says "there is no part 'gems'"
contact 0 --only configure,build --arch 90-real && says 'PASS  build' && called '-DCMAKE_CUDA_ARCHITECTURES=90-real'
called '--target learn measure test_cuda cuda_same_bits'

gpu() { # NAME ARCHITECTURE CUDA_OF_DRIVER
  fake nvidia-smi 'case $* in -L) echo "GPU 0: '"$1"' (UUID: GPU-1)" ;; *=compute_cap*) echo '"$2"' ;; *=name*) echo '"$1"' ;; '"'')"' echo "| CUDA Version: '"$3"' |" ;; esac'
}
fake nvcc 'echo "Cuda compilation tools, release 12.4, V12.4.131"'
gpu 'Tesla P100' 6.0 12.4
contact 1 --only configure && says 'this GPU is sm_60; tinymp needs sm_75' && not_called '^cmake'
gpu 'Tesla T4' 7.5 11.4
contact 1 --only configure && says 'the driver is for CUDA 11 and nvcc of CUDA 12' && not_called '^cmake'
gpu 'Tesla T4' 7.5 12.4
contact 0 --only configure && called '-DCMAKE_CUDA_ARCHITECTURES=75-real' && called 'nvidia-smi -i 0 --query-gpu'
CUDA_VISIBLE_DEVICES=3,1 contact 0 --only configure && called 'nvidia-smi -i 3 --query-gpu'

# A part whose time was over goes on, one that has ended does not begin again, and another GPU begins anew.
measure() { # EXIT_CODE
  mkdir -p "$work/build/bin"
  fake ../build/bin/measure "exit $1"
}
contact 0 --only configure
measure 124
again 1 --only launch && says 'TIME  launch'
measure 1
again 1 --only launch && says 'FAIL  launch' && called 'gpu-check --plain --out .* --part launch --seconds 20'
again 1 --only launch && not_called 'gpu-check' && says 'Not good, or not ended: launch'
# The programs of the lessons are compiled in a part of their own: gpu-check's time for the lessons is not spent on that.
: >"$work/calls"
measure 0
again 0 --only lessons && not_called '^cmake' && called 'gpu-check --plain --out .* --part lessons --seconds 380'
again 0 --only programs && called '^cmake --build .* --target lessons' && not_called 'gpu-check'
again 0 --only programs,lessons && not_called '^cmake'
fake cmake 'case $* in *"target lessons"*) echo "error: disk" && exit 1 ;; esac'
rm -f "$work/out/done/programs" "$work/out/done/lessons"
again 1 --only programs,lessons && not_called 'gpu-check' && says 'Not good, or not ended: programs lessons'
again 1 --only programs,lessons && called '^cmake --build'
fake cmake true
gpu 'Tesla T4 of another' 7.5 12.4
measure 0
again 0 --only launch && says 'Another GPU, or other sources than before' && called 'gpu-check'
# A part that goes on later takes what is left, less the minute of the archive, where that is enough to begin.
again 0 --only speed --minutes 6 && called 'gpu-check .* --part speed --seconds 2[78][0-9]$'
rm -f "$work/out/done/speed"
again 1 --only speed --minutes 2 && not_called 'gpu-check' && says 'LEFT  speed: it may take 120 s'
# The archive has the last minute for itself.
rm -f "$work/out/done/launch"
again 1 --only launch,archive --minutes 1 && says 'LEFT  launch' && says 'PASS  archive'
[ -s "$work/out.tar.gz" ] || fail 'there is no archive'
TINYMP_EMULATE=h200 contact 2 && builds_nothing && says 'TINYMP_EMULATE=h200 asks for an emulated GPU'
TINYMP_EMULATE=0 contact 0 --only configure

fake nvidia-smi 'case $1 in -L) echo "GPU 0: Tesla T4 (UUID: GPU-1)" ;; esac'
contact 1 --only configure && says 'name it, as --arch 90-real'

contact 0 --help
for name in zlib fmt nlohmann-json stb CLI11 Catch2; do says "$name"; done

[ $failures = 0 ] && echo 'first_contact_test: all passed'
exit $((failures > 0))
