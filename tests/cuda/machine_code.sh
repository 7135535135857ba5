#!/usr/bin/env bash
# usage: machine_code.sh [--write]
# What nvcc makes of every kernel for sm_90, held against the ceilings in machine_code.txt: registers, bytes of stack, bytes
# of spills, and the instructions of the longest loop (where there are tensor cores: of the longest innermost one that uses
# them). For what memory bounds also "copy": the share of a copy's speed, in percent, that this code allows on an H200. No GPU
# is needed. The loops need nvdisasm: of the toolkit, that which TINYMP_NVDISASM names, or with TINYMP_FETCH_NVDISASM=1 from
# PyPI by pinned hash into build/nvdisasm; without it those columns are skipped (exit code 77). --write makes the file anew:
# then look at the difference.
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

# KERNEL loop: from a label to the last branch back to it. Of loops with tensor cores only those that hold no other such
# loop: a loop over whole products would hide the loop over their terms.
loops() {
  awk '
    function close_kernel(i, j, length_, longest, tensor, inner) {
      if (kernel == "") return
      for (i in end) {
        length_ = end[i] - at[i]
        if (length_ > longest) longest = length_
        inner = uses[i]
        for (j in end) if (j != i && uses[j] && at[j] >= at[i] && end[j] <= end[i]) inner = 0
        if (inner && length_ > tensor) tensor = length_
      }
      print kernel, (tensor > 0 ? tensor : longest + 0)
    }
    /^\.text\./ { close_kernel(); kernel = substr($1, 7); sub(/:$/, "", kernel); n = matrix = 0; delete at; delete before; delete end; delete uses }
    /^\.L_x_[0-9]+:/ { label = $1; sub(/:$/, "", label); at[label] = n; before[label] = matrix }
    /^ +\/\*[0-9a-f]+\*\/ / {
      ++n
      if ($0 ~ /HMMA/) ++matrix
      if (match($0, /BRA .*`\(\.L_x_[0-9]+\)/)) {
        target = substr($0, RSTART, RLENGTH); sub(/.*`\(/, "", target); sub(/\)$/, "", target)
        if (target in at) { end[target] = n; uses[target] = matrix > before[target] }
      }
    }
    END { close_kernel() }' "$work"/*.code | sort
}

# KERNEL copy: of kernels that move packs, by loads and stores of 8 bytes and more; scalars and parameters of columns, which
# caches hold, are none. 132 multiprocessors start 4 instructions of a warp in a cycle, 1.755e9 times a second, while 4.8e12 bytes pass. A
# scheduler takes 2 cycles for FP64, and 8 for what one unit for all does (MUFU, conversions). As if memory waited for none
# of it, the slower one counts: the cycles of the loop that moves most, or its bytes. A branch that is not taken counts, too.
copies() {
  awk '
    function close_kernel(cycles, memory) {
      if (kernel == "") return
      cycles = most; memory = bytes * 32 * 132 * 4 * 1.755e9 / 4.8e12
      print kernel, (bytes == 0 ? "-" : memory >= cycles ? 100 : int(100 * memory / cycles))
    }
    function width(op) { return op ~ /\.128/ ? 16 : 8 }
    function larger(a, b) { return a > b ? a : b }
    /^\.text\./ { close_kernel(); kernel = substr($1, 7); sub(/:$/, "", kernel); n = bytes = most = 0; delete at }
    /^\.L_x_[0-9]+:/ { label = $1; sub(/:$/, "", label); at[label] = n }
    /^ +\/\*[0-9a-f]+\*\/ / {
      op = $2 ~ /^@/ ? $3 : $2
      ++n
      moved[n] = moved[n - 1] + (op ~ /^(LDG|STG).*[.](64|128)([.]|$)/ ? width(op) : 0)
      double[n] = double[n - 1] + (op ~ /^D(ADD|MUL|FMA|SETP|MNMX)/)
      single[n] = single[n - 1] + (op ~ /^(MUFU|F2F[.]|F2I|I2F|FRND)/)
      if (match($0, /BRA .*`\(\.L_x_[0-9]+\)/)) {
        target = substr($0, RSTART, RLENGTH); sub(/.*`\(/, "", target); sub(/\)$/, "", target)
        if (target in at && moved[n] - moved[at[target]] > bytes) {
          first = at[target]; bytes = moved[n] - moved[first]
          most = larger(n - first, larger(2 * (double[n] - double[first]), 8 * (single[n] - single[first])))
        }
      }
    }
    END { close_kernel() }' "$work"/*.code | sort
}
if [ -n "$nvdisasm" ]; then
  loops >"$work/loops" && copies >"$work/copies"
else
  awk '{ print $1, "-" }' "$work/resources" | tee "$work/loops" >"$work/copies"
fi

# A name that a reader knows, and that is the same on every machine.
join "$work/resources" "$work/loops" | join - "$work/copies" | c++filt | sed -E '
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
      split($(NF - 4) " " $(NF - 3) " " $(NF - 2) " " $(NF - 1) " " $NF, figure, " ")
      NF -= 5; name = without_parameters($0, 0, 0); gsub(/ /, "", name)
      for (i = 1; i <= 4; ++i) if (!((name, i) in most) || figure[i] + 0 > most[name, i] + 0) most[name, i] = figure[i] # of overloads
      if (name !~ /^(map|zip|step_packs|step_rounded|for_each_pack|fill_with|fill_with_share|add_to_rows)(<|$)/) figure[5] = "-"
      if (!(name in copy) || figure[5] + 0 < copy[name] + 0) copy[name] = figure[5]
    }
    END { for (name in copy) print name, most[name, 1], most[name, 2], most[name, 3], most[name, 4], copy[name] }' | sort >"$work/now"

if [ "${1:-}" = --write ]; then
  { echo '# kernel registers stack spills loop copy: ceilings for sm_90 (of copy a floor), written by tests/cuda/machine_code.sh --write' && cat "$work/now"; } >"$ceilings"
  exit 0
fi
grep -v '^#' "$ceilings" | sort >"$work/ceilings"
# Another release of the compiler may need a register or some instructions more.
if ! awk -v now="$work/now" -v disassembled="$([ -n "$nvdisasm" ] && echo 1)" '
  { for (i = 2; i <= 6; ++i) most[$1, i] = $i; known[$1] = 1 }
  END {
    split("kernel registers stack spills loop", what, " ")
    # Optimizers, casts, arithmetic value by value, FP8 to nearest and back. The functions of formulas/unary.h compute in FP64,
    # and are not, nor is the derivative of GELU.
    promised = "^(map<(Same|Times|TimesValue|Forward<Relu>),|zip<|step_packs<|fill_with|add_to_rows|for_each_pack<(QuantizeToNearest|Widen)<)"
    while ((getline < now) > 0) {
      if (!($1 in known)) { print $1 ": has no ceiling; --write makes one"; bad = 1 }
      else for (i = 2; i <= 5; ++i) {
        slack = i == 2 ? 4 : i == 5 ? most[$1, i] / 10 : 0
        if ($i != "-" && $i > most[$1, i] + slack) { print $1 ": " what[i] " " $i ", ceiling " most[$1, i]; bad = 1 }
      }
      delete known[$1]; ++count
      if (!disassembled || most[$1, 6] == "") continue
      if (most[$1, 6] != "-" && ($6 == "-" || $6 < most[$1, 6] - 5)) {
        print $1 ": " $6 " % of a copy, floor " most[$1, 6]; bad = 1
      }
      if ($1 ~ promised && $1 !~ /^zip<Backward<Gelu>/ && ($6 == "-" || $6 < 85)) { print $1 ": " $6 " % of a copy, 85 are promised"; bad = 1 }
    }
    for (kernel in known) { print kernel ": is gone; --write drops its ceiling"; bad = 1 }
    print count " kernels"
    exit bad
  }' "$work/ceilings"; then exit 1; fi
if [ -z "$nvdisasm" ]; then echo '[skipped] no nvdisasm: loops were not counted' && exit 77; fi
