#!/usr/bin/env bash
# usage: objects.sh LIBTINYMP BUILD_TYPE
# Looks into the compiled library. Exits 77 (skipped) where that shows nothing.
set -u
library=${1:?usage: objects.sh LIBTINYMP BUILD_TYPE}
case $(uname -s) in Darwin) echo '[skipped] nm writes another format here' && exit 77 ;; esac
command -v nm >/dev/null || { echo '[skipped] no nm' && exit 77; }
[ -f "$library" ] || { echo "[skipped] $library is not built" && exit 77; }
symbols=$(nm -A "$library" 2>/dev/null) || { echo "nm cannot read $library" && exit 1; }
failed=0

# An inline function in a file compiled for AVX-512 is a weak symbol; the linker may keep that copy for every machine.
# Without optimisation the compiler inlines nothing, so only a Release build can be held to this.
if [ "${2:-Release}" = Release ]; then
  weak=$(printf '%s\n' "$symbols" | grep -E '[_.](avx2|avx512|f16c|fma)[^:]*\.o:' | grep -E ' [VWuvw] ' | grep -v ' DW\.ref\.')
  if [ -n "$weak" ]; then
    printf '%s\n' "$weak" 'weak symbols in objects for one instruction set: give them internal linkage'
    failed=1
  fi
fi

# The same of single functions: what is compiled for AVX inside a common file (tinymp/base/isa.h) is nobody else's.
if command -v objdump >/dev/null; then
  shared=$(printf '%s\n' "$symbols" | awk '$(NF - 1) ~ /^[VWuvw]$/ { print "<" $NF ">:" }' | sort -u)
  avx=$(objdump -d --no-show-raw-insn "$library" |
    awk '/^[0-9a-f]+ <.*>:$/ { name = $2 } /%[yz]mm|\tv[a-z0-9]+ .*%xmm/ { print name }' | sort -u)
  both=$(comm -12 <(printf '%s\n' "$shared") <(printf '%s\n' "$avx") | grep .)
  if [ -n "$both" ]; then
    printf '%s\n' "$both" 'AVX code in weak functions, which the linker may keep for every machine: give them internal linkage'
    failed=1
  fi
fi

# Whatever the text says, these must not be called.
calls=$(printf '%s\n' "$symbols" |
  grep -E ' U (exp|exp2|expm1|log|log2|log10|log1p|pow|sin|cos|tan|sincos|asin|acos|atan|atan2|sinh|cosh|tanh|cbrt|hypot|erf|tgamma|fmin|fmax|rand|random)[fl]?(@|$)')
if [ -n "$calls" ]; then
  printf '%s\n' "$calls" 'calls a C library function whose result differs between machines'
  failed=1
fi
exit $failed
