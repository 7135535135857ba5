#!/usr/bin/env bash
# The first half hour on an NVIDIA GPU: builds without a network and without ./learn, runs each part under a deadline,
# and leaves one archive. Given again it goes on with the parts that did not end.
# shellcheck disable=SC2317 # parts are started by name
set -u
usage() {
  cat <<'TXT'
usage: first_contact.sh [OPTIONS]
  --packages DIR   unpacked packages for a machine without a network: zlib, fmt, nlohmann-json, stb, CLI11, Catch2
  --fetch DIR      on Debian or Ubuntu with a network: puts those packages there, 3 MB, and ends
  --out DIR        the results (runs/first-contact); DIR.tar.gz is the archive
  --build DIR      the build (build/first-contact)
  --arch LIST      CUDA architectures (that of the GPU: 90-real)
  --minutes N      starts nothing that may take longer than what is left of so many minutes (28)
  --only PART,...  only these parts: machine configure build kernels bits launch gemm memory speed profile sweep
                   counters sanitizer programs lessons archive
  --again          parts that have ended, too
  --alone          configures with nothing but --packages and the compilers, to prove that they are enough
  --rehearse       without a GPU: emulates an H200 with the programs in --build, ends one part by force, and goes on;
                   its results go to build/rehearsal
Without a GPU nothing begins, but for --rehearse and --only machine,configure,build,archive --arch LIST.
Needs CMake 3.24, g++ 11 and a driver for the toolkit. TINYMP_COMMIT names the commit of a tree without .git.
Exit codes: 0 every part is good, 1 one is not or did not end, 2 wrong use, 3 there is no GPU.
TXT
}

root=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
out='' build=$root/build/first-contact
parts='machine configure build kernels bits launch gemm memory speed profile sweep counters sanitizer programs lessons archive'
wrong() { # MESSAGE: of an argument
  echo "first_contact: $1 (--help lists the options)" >&2
  exit 2
}
packages='' fetch='' arch='' only='' again='' alone='' rehearse='' minutes=28
while [ $# -gt 0 ]; do
  case $1 in
    --packages | --fetch | --out | --build | --arch | --minutes | --only)
      [ $# -gt 1 ] || wrong "$1 needs a value"
      declare "${1#--}=$2"
      shift
      ;;
    --again) again=1 ;;
    --alone) alone=1 ;;
    --rehearse) rehearse=1 ;;
    --help) usage && exit 0 ;;
    *) wrong "there is no option '$1'" ;;
  esac
  shift
done
if [ -z "$out" ] && [ -n "$rehearse" ]; then out=$root/build/rehearsal; fi
: "${out:=$root/runs/first-contact}"
case $minutes in '' | *[!0-9]*) wrong "--minutes takes a whole number, not '$minutes'" ;; esac
minutes=$((10#$minutes))
for name in ${only//,/ }; do
  case " $parts " in *" $name "*) ;; *) wrong "there is no part '$name'; the parts are: $parts" ;; esac
done
[ -z "$packages" ] || [ -d "$packages/usr" ] || wrong "$packages holds no unpacked packages; --fetch makes such a folder"

if [ -n "$fetch" ]; then
  mkdir -p "$fetch/debs" && fetch=$(cd "$fetch" && pwd) && cd "$fetch/debs" || exit 1
  # libfmt.so is a package of its own; on Debian 13 catch2 is nothing but the name of another.
  mapfile -t behind < <(LC_ALL=C apt-cache depends libfmt-dev catch2 | sed -nE 's/^ *Depends: (libfmt[0-9.]*|libcatch2-dev)$/\1/p')
  apt-get download -q libfmt-dev "${behind[@]}" nlohmann-json3-dev libcli11-dev libstb-dev catch2 zlib1g-dev || exit 1
  for package in *.deb; do dpkg -x "$package" "$fetch" || exit 1; done
  rm -f "$fetch"/usr/lib/*/libz.so # it points at a library that is not here; libz.a is taken
  echo "first_contact: --packages $fetch"
  exit 0
fi

# shellcheck source=lessons/lab/learn/gpu.sh
. "$root/lessons/lab/learn/gpu.sh"
PATH=$PATH:/usr/local/cuda/bin
# One GPU, and the same one for nvidia-smi and for CUDA, which would take the fastest.
export CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=${CUDA_VISIBLE_DEVICES:-0}
CUDA_VISIBLE_DEVICES=${CUDA_VISIBLE_DEVICES%%,*}
asked() { # FIELD: nvidia-smi's answer for this GPU; nothing where it has none
  nvidia-smi -i "$CUDA_VISIBLE_DEVICES" "--query-gpu=$1" --format=csv,noheader 2>/dev/null | head -n 1
}

wants_gpu() { # whether one of the wanted parts runs on it, or asks it for its architecture
  local name
  for name in ${only:+${only//,/ }}; do
    case $name in machine | build | programs | archive) ;; configure) [ -n "$arch" ] || return 0 ;; *) return 0 ;; esac
  done
  [ -z "$only" ]
}

if [ -z "$rehearse" ]; then
  [ "${TINYMP_EMULATE:-0}" = 0 ] || wrong "TINYMP_EMULATE=$TINYMP_EMULATE asks for an emulated GPU: unset it, or give --rehearse"
  if wants_gpu && ! gpu_answers; then
    echo 'first_contact: there is no NVIDIA GPU here that answers, so nothing is built (--help: what goes without one)' >&2
    exit 3
  fi
fi

mkdir -p "$out/done" || exit 1
out=$(cd "$out" && pwd) || exit 1
case $build in /*) ;; *) build=$PWD/$build ;; esac
case $packages in '' | /*) ;; *) packages=$PWD/$packages ;; esac
began=$SECONDS
left() { echo $((60 * minutes - (SECONDS - began))); }

# Parts that ended on another GPU, or with other sources, say nothing about these. (Reports have a key of their own.)
key="$(asked name,uuid) $arch $(cd "$root" && find kernels tinymp lessons/lab lessons/*/main.cpp tests/cuda cmake CMakeLists.txt -type f -print0 |
  LC_ALL=C sort -z | xargs -0 cat | sha256sum)"
if [ "$(cat "$out/key" 2>/dev/null)" != "$key" ]; then
  if [ -n "$(ls "$out/done")" ] && [ -z "$rehearse" ]; then echo 'Another GPU, or other sources than before: each part begins anew.'; fi
  rm -f "$out"/done/* "$out"/ncu-*.csv
  echo "$key" >"$out/key"
fi

gist() { # PART LOG CODE: the line that tells most; CMake says what is wrong below the line "CMake Error"
  local line
  line=$(grep "^$1: " "$2" | tail -n 1)
  [ -n "$line" ] || line=$(grep -A 2 '^CMake Error' "$2" | sed -n 's/^  *\([^ ].*\)/\1/p' | head -n 1)
  [ -n "$line" ] || [ "$3" = 0 ] || line=$(grep -m 1 -E '(^|[^a-z])error[: ]|Killed|No space left' "$2")
  [ -n "$line" ] || line=$(grep -v '^$' "$2" | tail -n 1)
  cut -c 1-200 <<<"$line"
}

said() { # PART CODE SECONDS LOG: one line to read, one to keep
  local word=PASS
  case $2 in 0) ;; 124 | 137) word='TIME' ;; *) word=FAIL ;; esac
  printf '%s  %-10s %4s s  %s\n' "$word" "$1" "$3" "$(gist "$1" "$4" "$2")"
  [ $word = PASS ] || echo "      all of it: $4"
  printf '{"part": "%s", "code": %s, "seconds": %s, "date": "%s"}\n' "$1" "$2" "$3" "$(date -u +%FT%TZ)" >>"$out/parts.jsonl"
}

is_done() { # NAME: a part that found a fault is done; a build that failed is not
  case $1 in
    configure | build | programs) [ "$(cat "$out/done/$1" 2>/dev/null)" = 0 ] ;;
    *) [ -e "$out/done/$1" ] ;;
  esac
}

child=''
interrupted() { # CODE: ends the part that runs, and does not count it as done
  trap '' INT TERM HUP
  if [ -n "$child" ]; then kill -TERM "$child" 2>/dev/null && wait "$child"; fi
  archive >/dev/null 2>&1
  echo
  echo 'Interrupted. The same command goes on with the parts that did not end.'
  exit "$1"
}
trap 'interrupted 130' INT
trap 'interrupted 143' TERM
trap 'interrupted 129' HUP

part() { # NAME SECONDS COMMAND...: at most so long; one that ends by itself is not run again
  local name=$1 seconds=$2 start=$SECONDS code
  shift 2
  case ",$only," in ,, | *",$name,"*) ;; *) return 0 ;; esac
  if is_done "$name" && [ -z "$again" ]; then return 0; fi
  # The archive needs the last minute.
  if [ "$name" != archive ] && [ "$(left)" -lt $((seconds + 60)) ]; then
    echo "LEFT  $name: it may take $seconds s, and $(left) s are left; give the command again"
    return 1
  fi
  # gpu-check ends its part a little earlier, and writes down what it has.
  # In the background, so that an interrupt is heard at once.
  part_seconds=$((seconds > 60 ? seconds - 20 : (2 * seconds + 2) / 3)) timeout -k 10 "$seconds" "$@" >"$out/$name.log" 2>&1 </dev/null &
  child=$!
  wait "$child"
  code=$?
  child=''
  # Of timeout, and of gpu-check where its time was over; 126 and 127: it did not begin.
  case $code in 124 | 126 | 127 | 137) rm -f "$out/done/$name" ;; *) echo $code >"$out/done/$name" ;; esac
  said "$name" $code $((SECONDS - start)) "$out/$name.log"
  return $code
}

resumed() { # NAME MOST LEAST COMMAND...: a part that goes on later where its time ended, so it takes what is left
  local name=$1 most=$2 least=$3 rest=$(($(left) - 60))
  shift 3
  if [ "$rest" -lt "$most" ]; then most=$((rest > least ? rest : least)); fi
  part "$name" "$most" "$@"
}

machine() {
  date -u +%FT%TZ
  uname -a
  lscpu | grep -E 'Model name|^CPU\(s\)|Flags'
  for command in 'nvidia-smi -q' 'nvcc --version' 'g++ --version' 'cmake --version'; do
    printf '\n$ %s\n' "$command"
    $command 2>&1
  done
  python3 -c 'import torch; print("PyTorch", torch.__version__, torch.version.cuda)' 2>&1
  git -C "$root" rev-parse HEAD 2>/dev/null || echo "commit ${TINYMP_COMMIT:-unknown}"
}

configure() {
  local flags=(-DCMAKE_BUILD_TYPE=Release -DTINYMP_CUDA=ON -DTINYMP_TESTS=ON -DTINYMP_FETCH=NEVER) libz of_driver of_nvcc
  if [ -z "$arch" ]; then
    arch=$(asked compute_cap | tr -d .)
    [ "${arch:-75}" -ge 75 ] || { echo "configure: this GPU is sm_$arch; tinymp needs sm_75 or newer" && return 1; }
    arch=${arch:+$arch-real}
    of_driver=$(nvidia-smi | sed -nE 's/.*CUDA Version: ([0-9]+).*/\1/p') of_nvcc=$(nvcc --version | sed -nE 's/.*release ([0-9]+).*/\1/p')
    [ "${of_driver:-99}" -ge "${of_nvcc:-0}" ] ||
      { echo "configure: the driver is for CUDA $of_driver and nvcc of CUDA $of_nvcc: install a newer driver or an older toolkit" && return 1; }
  fi
  [ -n "$arch" ] || { echo 'configure: nvidia-smi does not tell the architecture: name it, as --arch 90-real' && return 1; }
  flags+=("-DCMAKE_CUDA_ARCHITECTURES=$arch")
  if [ -n "$packages" ]; then
    libz=$(echo "$packages"/usr/lib/*/libz.a)
    flags+=("-DCMAKE_PREFIX_PATH=$packages/usr" "-DZLIB_LIBRARY=$libz" "-DZLIB_INCLUDE_DIR=$packages/usr/include")
    [ -n "$alone" ] && flags+=(-DCMAKE_IGNORE_PREFIX_PATH=/usr)
  fi
  command -v ninja >/dev/null && flags+=(-G Ninja)
  cmake -S "$root" -B "$build" "${flags[@]}"
}

made() { # TARGET...: 2 GB for each compiler, since a rented machine may have many cores and little memory
  local jobs most
  jobs=$(getconf _NPROCESSORS_ONLN)
  most=$(awk '/^MemAvailable/ { print int($2 / 2097152) }' /proc/meminfo)
  if [ "${most:-$jobs}" -lt "$jobs" ]; then jobs=$((most > 0 ? most : 1)); fi
  cmake --build "$build" --parallel "$jobs" --target "$@"
}
compile() { made learn measure test_cuda cuda_same_bits; } # all that the parts below start, but for the lessons
programs() { made lessons; }

checked() {
  local flags=(--plain --out "$out/report" --part "$1")
  [ "${part_seconds:-0}" = 0 ] || flags+=(--seconds "$part_seconds")
  "$build/bin/measure" gpu-check "${flags[@]}"
}

counters() { # of the kernels of some steps, by Nsight Compute; the first launches fill the parameters
  command -v ncu >/dev/null || { echo 'ncu is not installed' && return 0; }
  local model
  for model in lenet resnet20 decoder; do
    [ ! -e "$out/ncu-$model.csv" ] || continue
    ncu --csv --set basic --clock-control none --launch-count 700 "$build/bin/measure" bench steps --device cuda --profile \
      --recipe f16 --quick --model $model --plain >"$out/ncu.csv" || return
    mv "$out/ncu.csv" "$out/ncu-$model.csv"
  done
}

profile() {
  local flags=(--device cuda --profile --plain --out "$out/profile.json")
  [ -n "$rehearse" ] && flags+=(--quick --model mlp)
  "$build/bin/measure" bench steps "${flags[@]}" &&
    echo "profile: $(grep -c '"format"' "$out/profile.json") steps, kernel by kernel, in profile.json"
}

archive() { tar -czf "$out.tar.gz" -C "$(dirname "$out")" --exclude 'scratch/*-*/*' "$(basename "$out")" && ls -l "$out.tar.gz"; }

export -f machine asked configure made compile programs checked counters profile archive
export root out build packages arch alone rehearse

everything() {
  part machine 30 bash -c machine
  if [ -z "$rehearse" ]; then
    if ! part configure 120 bash -c configure || ! part build $(($(left) > 1440 ? $(left) - 900 : 540)) bash -c compile; then
      part archive 60 bash -c archive
      return 1
    fi
  fi
  part kernels 300 bash -c 'checked kernels'
  part bits 60 bash -c 'checked bits'
  part launch 30 bash -c 'checked launch'
  part gemm 240 bash -c 'checked gemm'
  part memory 90 bash -c 'checked memory'
  # Nine models, 20 s each, then torch.compile, which takes a minute or more for each.
  resumed speed 600 120 bash -c 'checked speed'
  part profile 150 bash -c profile
  resumed sweep "${sweep_seconds:-420}" 60 bash -c 'checked sweep'
  if [ -z "$rehearse" ]; then part counters 150 bash -c counters; fi
  resumed sanitizer 420 120 bash -c 'checked sanitizer'
  # A part of its own: gpu-check then has all the time that it is told.
  if [ -n "$rehearse" ] || part programs 300 bash -c programs; then resumed lessons 400 90 bash -c 'checked lessons'; fi
  rm -f "$out/done/archive"
  part archive 60 bash -c archive
}

verdict() { # 0 when each part has ended well
  local name bad='' built='machine configure build programs'
  [ -n "$rehearse" ] && built=machine
  for name in $built kernels bits launch gemm memory speed profile sweep sanitizer lessons archive; do
    case ",$only," in ,, | *",$name,"*) ;; *) continue ;; esac
    [ "$(cat "$out/done/$name" 2>/dev/null)" = 0 ] || bad="$bad $name"
  done
  [ ! -e "$out.tar.gz" ] || echo "Archive: $out.tar.gz"
  [ -z "$bad" ] && return 0
  echo "Not good, or not ended:$bad"
  return 1
}

if [ -n "$rehearse" ]; then
  export TINYMP_EMULATE=h200
  [ -x "$build/bin/measure" ] || { echo "first_contact: build measure, learn and test_cuda in $build first" >&2 && exit 2; }
  rm -f "$out"/done/*
  sweep_seconds=3 everything # too short: gpu-check ends it
  [ ! -e "$out/done/sweep" ] || { echo 'first_contact: the sweep was not ended early' >&2 && exit 1; }
  echo 'Once more: only what did not end.'
fi
everything
verdict
