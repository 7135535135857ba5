#!/usr/bin/env bash
# usage: machine_code.sh [--write]
# What nvcc makes of every kernel for sm_90, held against the ceilings in machine_code.txt: registers, bytes of stack, bytes
# of spills, and the instructions of the longest loop (where there are tensor cores: of the longest one that uses them). No GPU
# is needed. The loops need nvdisasm: of the toolkit, that which TINYMP_NVDISASM names, or with TINYMP_FETCH_NVDISASM=1 from
# PyPI by pinned hash into build/nvdisasm; without it that column is skipped (exit code 77). --write makes the file anew: then
# look at the difference.
set -u
cd "$(dirname "$0")/../.." || exit 1
export LC_ALL=C
ceilings=tests/cuda/machine_code.txt
nvcc=$(command -v nvcc || command -v /usr/local/cuda/bin/nvcc) || { echo '[skipped] there is no nvcc on this machine' && exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

fetch_nvdisasm() { # 4 MB; the wheel is an archive that tar or python can open
  local wheel=nvidia_cuda_nvdisasm-13.2.51-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl
  local hash=5a7acf77c55d6d2911ed6155d4d5bc156ffadf9df7a68a89b0c1155f4b13688c
  [ "$(uname -sm)" = 'Linux x86_64' ] && command -v python3 >/dev/null || return 1
  python3 -m venv "$work/venv" >/dev/null 2>&1 &&
    "$work/venv/bin/pip" download --quiet --disable-pip-version-check --no-deps --dest "$work" nvidia-cuda-nvdisasm==13.2.51 \
      >"$work/pip.log" 2>&1 &&
    echo "$hash  $work/$wheel" | sha256sum --check --quiet &&
    python3 -m zipfile -e "$work/$wheel" "$work/wheel" && mkdir -p build/nvdisasm &&
    cp "$work/wheel/nvidia/cu13/bin/nvdisasm" build/nvdisasm/ && chmod +x build/nvdisasm/nvdisasm
}
nvdisasm=${TINYMP_NVDISASM:-$(command -v nvdisasm)}
for place in /usr/local/cuda/bin build/nvdisasm; do
  if [ -z "$nvdisasm" ] && [ -x $place/nvdisasm ]; then nvdisasm=$place/nvdisasm; fi
done
if [ -z "$nvdisasm" ] && [ "${TINYMP_FETCH_NVDISASM:-}" = 1 ] && fetch_nvdisasm; then nvdisasm=build/nvdisasm/nvdisasm; fi
if [ -z "$nvdisasm" ] && [ "${1:-}" = --write ]; then echo 'no nvdisasm: loops cannot be counted; TINYMP_FETCH_NVDISASM=1 gets it' && exit 1; fi

options=$(sed -n 's/^set(TINYMP_CUDA_FLAGS \(.*\))$/\1/p' cmake/Cuda.cmake)
compile() { # KERNEL_FILE: its cubin, what ptxas says of it, and its code
  local name
  name=${1##*/} name=${name%.cuh}
  # shellcheck disable=SC2086 # words
  if ! "$nvcc" -x cu $options -I. -arch=sm_90 -cubin -Xptxas -v -o "$work/$name.cubin" "$1" >"$work/$name.log" 2>&1; then
    echo "cannot compile $1" && tail -n 5 "$work/$name.log" && return 255 # xargs starts no more
  fi
  if [ -n "$nvdisasm" ]; then "$nvdisasm" -c "$work/$name.cubin" >"$work/$name.code" || return 255; fi
}
export -f compile
export nvcc nvdisasm options work
printf '%s\n' kernels/cuda/*.cuh kernels/cuda/gemm/*.cuh |
  xargs -P "$(getconf _NPROCESSORS_ONLN)" -n 1 bash -c 'compile "$@"' compile || exit 1

# KERNEL registers stack spills
awk '
  /Compiling entry function/ { split($0, part, "\047"); kernel = part[2] }
  /bytes stack frame/ { stack = $1; spills = $5 + $9 }
  /Used [0-9]+ registers/ { match($0, /Used [0-9]+/); print kernel, substr($0, RSTART + 5, RLENGTH - 5), stack, spills }
' "$work"/*.log | sort >"$work/resources"

# KERNEL loop: from a label to the last branch back to it
loops() {
  awk '
    function close_kernel() { if (kernel != "") print kernel, (tensor > 0 ? tensor : longest) }
    /^\.text\./ { close_kernel(); kernel = substr($1, 7); sub(/:$/, "", kernel); n = matrix = longest = tensor = 0; delete at; delete before }
    /^\.L_x_[0-9]+:/ { label = $1; sub(/:$/, "", label); at[label] = n; before[label] = matrix }
    /^ +\/\*[0-9a-f]+\*\/ / {
      ++n
      if ($0 ~ /HMMA/) ++matrix
      if (match($0, /BRA .*`\(\.L_x_[0-9]+\)/)) {
        target = substr($0, RSTART, RLENGTH); sub(/.*`\(/, "", target); sub(/\)$/, "", target)
        if (target in at) {
          length_ = n - at[target]
          if (length_ > longest) longest = length_
          if (matrix > before[target] && length_ > tensor) tensor = length_
        }
      }
    }
    END { close_kernel() }' "$work"/*.code | sort
}
if [ -n "$nvdisasm" ]; then loops >"$work/loops"; else awk '{ print $1, "-" }' "$work/resources" >"$work/loops"; fi

# A name that a reader knows, and that is the same on every machine.
join "$work/resources" "$work/loops" | c++filt | sed -E '
    s/^void //
    s/nvcuda::wmma:://g; s/tinymp::kernels:://g; s/tinymp:://g; s/cuda::(_GLOBAL__N_[^:]*|\(anonymous namespace\))?(::)?//g
    s/small_float<8, 7, \(Specials\)0>/bfloat16/g' |
  awk '
    function without_parameters(name, depth, at) { # the last list in parentheses
      for (at = length(name); at > 0; --at) {
        if (substr(name, at, 1) == ")") ++depth
        if (substr(name, at, 1) == "(" && --depth == 0) return substr(name, 1, at - 1)
      }
      return name
    }
    {
      split($(NF - 3) " " $(NF - 2) " " $(NF - 1) " " $NF, figure, " ")
      NF -= 4; name = without_parameters($0, 0, 0); gsub(/ /, "", name)
      for (i = 1; i <= 4; ++i) if (!((name, i) in most) || figure[i] + 0 > most[name, i] + 0) most[name, i] = figure[i] # of overloads
      names[name] = 1
    }
    END { for (name in names) print name, most[name, 1], most[name, 2], most[name, 3], most[name, 4] }' | sort >"$work/now"

if [ "${1:-}" = --write ]; then
  { echo '# kernel registers stack spills loop: ceilings for sm_90, written by tests/cuda/machine_code.sh --write' && cat "$work/now"; } >"$ceilings"
  exit 0
fi
grep -v '^#' "$ceilings" | sort >"$work/ceilings"
# Another release of the compiler may need a register or some instructions more.
if ! awk -v now="$work/now" '
  { for (i = 2; i <= 5; ++i) most[$1, i] = $i; known[$1] = 1 }
  END {
    split("kernel registers stack spills loop", what, " ")
    while ((getline < now) > 0) {
      if (!($1 in known)) { print $1 ": has no ceiling; --write makes one"; bad = 1 }
      else for (i = 2; i <= 5; ++i) {
        slack = i == 2 ? 4 : i == 5 ? most[$1, i] / 10 : 0
        if ($i != "-" && $i > most[$1, i] + slack) { print $1 ": " what[i] " " $i ", ceiling " most[$1, i]; bad = 1 }
      }
      delete known[$1]; ++count
    }
    for (kernel in known) { print kernel ": is gone; --write drops its ceiling"; bad = 1 }
    print count " kernels"
    exit bad
  }' "$work/ceilings"; then exit 1; fi
if [ -z "$nvdisasm" ]; then echo '[skipped] no nvdisasm: loops were not counted' && exit 77; fi
