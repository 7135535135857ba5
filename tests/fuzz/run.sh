#!/usr/bin/env bash
# usage: run.sh [SECONDS [NAME...]]
# Builds the fuzzers with clang++, ASan and UBSan in build/fuzz and runs each for so long (10 s). What they find lies in
# build/fuzz/found; what is new stays in build/fuzz/corpus. Exit code 77 without clang++ or its libFuzzer. No block of
# memory may pass 600 MB: the most that a file is granted are the 512 MiB of most_decoder_bytes.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
seconds=${1:-10}
[ $# -gt 0 ] && shift
if [ $# -eq 0 ]; then set -- cifar csv idx logs notes pictures safetensors submissions; fi
build=$root/build/fuzz
probe=$(mktemp -d) || exit 1
printf 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }\n' >"$probe/a.cpp"
clang++ -fsanitize=fuzzer,address "$probe/a.cpp" -o "$probe/a" 2>/dev/null
has_fuzzer=$?
rm -rf "$probe"
if [ $has_fuzzer != 0 ]; then echo "[skipped] clang++ with libFuzzer is not here" && exit 77; fi

mkdir -p "$build/found"
cmake -S "$root" -B "$build" --preset fuzz -G Ninja >"$build/configure.log" 2>&1 || { cat "$build/configure.log" && exit 1; }
cmake --build "$build" --target fuzzers >"$build/build.log" 2>&1 || { tail -n 40 "$build/build.log" && exit 1; }

fuzz() { # NAME
  local name=$1 code
  mkdir -p "$build/corpus/$name"
  "$build/tests/fuzz/fuzz_$name" -max_total_time="$seconds" -max_len=4096 -timeout=10 -rss_limit_mb=1024 -malloc_limit_mb=600 \
    -print_final_stats=1 -artifact_prefix="$build/found/$name-" "$build/corpus/$name" "$root/tests/fuzz/seeds/$name" \
    >"$build/$name.log" 2>&1
  code=$?
  echo "fuzz: $name, $seconds s: $(sed -n 's/^stat::number_of_executed_units: *//p' "$build/$name.log") runs"
  if [ $code = 0 ]; then return 0; fi
  grep -aE 'ERROR|SUMMARY|runtime error|Test unit written' "$build/$name.log"
  return 1
}
export -f fuzz
export build root seconds
printf '%s\n' "$@" | xargs -P "$(getconf _NPROCESSORS_ONLN)" -n 1 bash -c 'fuzz "$@"' fuzz
