#!/usr/bin/env bash
# usage: banned.sh ROOT
# Finds in the library and the lessons what would give other bits on another machine, and library code that prints or
# exits. Comments and strings do not count. (A float that does not fit its integer is left to -Wconversion and to
# -fsanitize=float-cast-overflow: text does not show it.)
set -u
# shellcheck source=tests/style/sources.sh
. "$(dirname "$0")/sources.sh"
root=${1:?usage: banned.sh ROOT}
failed=0

# Each C library rounds these in its own way, or as the rounding mode says. floor, ldexp, isnan and the like are exact.
inexact='exp2|expm1|log2|log10|log1p|pow|sin|cos|tan|asin|acos|atan|atan2|sinh|cosh|asinh|acosh|atanh|cbrt|hypot'
inexact="$inexact|erf|erfc|tgamma|lgamma|rint|lrint|llrint|nearbyint"
ours='exp|log|tanh' # tinymp has its own: <tinymp/numeric/exp_log.h>
alone='(^|[^[:alnum:]_.>:])'
end='($|[^[:alnum:]_])'

library=$(sources "$root" tinymp kernels | code_of)
all=$(printf '%s\n' "$library" && sources "$root" lessons | code_of)

ban() { # TEXT PATTERN WHY
  local hits
  hits=$(printf '%s\n' "$1" | grep -E -- "$2" | sed "s|^$root/||")
  if [ -n "$hits" ]; then
    printf '%s\n' "$hits" "  ^ $3"
    failed=1
  fi
}

maths='the C library gives other bits elsewhere; use <tinymp/numeric/exp_log.h>'
ban "$all" "std::($inexact|$ours)[fl]?$end" "$maths"
ban "$all" "(^|[^[:alnum:]_>])::($inexact|$ours)[fl]?$end" "$maths"
ban "$all" "__builtin_($inexact|$ours)[fl]?$end" "$maths"
ban "$all" "$alone($inexact|($ours)[fl]|($inexact)[fl])[[:space:]]*\(" "$maths"
ban "$all" '#[[:space:]]*include[[:space:]]*<math\.h>' "$maths"
ban "$all" "(std::|$alone)f(min|max)[fl]?[[:space:]]*\(" 'fmin and fmax drop NaN and leave the sign of zero open'
ban "$all" 'std::([a-z_]+_distribution|shuffle|random_shuffle|sample)'"$end" 'each standard library draws differently; use tinymp::Rng'
ban "$all" 'std::(reduce|transform_reduce)'"$end" 'sums in an order of its own'
ban "$all" '#[[:space:]]*pragma[[:space:]].*simd' 'a vectorised sum depends on the vector width'
ban "$library" "std::(cout|cerr|clog|print|println|exit|abort|terminate)$end|fmt::print" 'library code neither prints nor exits; it throws'
ban "$library" "$alone(std::)?(printf|puts|putchar|exit|_exit|quick_exit|abort)[[:space:]]*\(" 'library code neither prints nor exits; it throws'

# f(rng.uniform(0, 1), rng.uniform(0, 1)): the compiler chooses which is drawn first.
draws=$(printf '%s\n' "$all" | awk -v root="$root/" '
  { match($0, /:[0-9]+:/)
    place = substr($0, length(root) + 1, RSTART + RLENGTH - 2 - length(root))
    line = substr($0, RSTART + RLENGTH)
    while (line != "") {
      if (match(line, /[;{}]/)) { part = substr(line, 1, RSTART); line = substr(line, RSTART + 1); ends = 1 }
      else { part = line; line = ""; ends = 0 }
      count += gsub(/(\.|->)(next_u64|uniform|below|normal)[ ]*\(/, "&", part)
      if (count > 1 && !told) { print place; told = 1 }
      if (ends) { count = 0; told = 0 }
    } }')
if [ -n "$draws" ]; then
  printf '%s: two random draws in one statement: their order is the choice of the compiler\n' "$draws"
  failed=1
fi
exit $failed
