#!/usr/bin/env bash
# Each style check passes a clean tree and rejects every planted fault by its own message.
set -u
here=$(cd "$(dirname "$0")" && pwd -P)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
passed=0

plant() { # FILE TEXT: a tree with nothing but that file and a clean one
  rm -rf "$work/tree"
  mkdir -p "$work/tree/tinymp/base" "$work/tree/$(dirname "$1")"
  printf '%s\n' '#include <tinymp/base/error.h>' 'int clean();' >"$work/tree/tinymp/base/clean.cpp"
  printf '%s\n' "$2" >"$work/tree/$1"
}

rejects() { # CHECK WORDS FILE TEXT
  plant "$3" "$4"
  local said
  if said=$(bash "$here/$1" "$work/tree" 2>&1); then
    echo "FAILED: $1 accepts $3: $4"
    failed=$((failed + 1))
  elif [ "${said#*"$2"}" = "$said" ]; then
    echo "FAILED: $1 rejects $3: $4, but says: $said"
    failed=$((failed + 1))
  else
    passed=$((passed + 1))
  fi
}

accepts() { # CHECK FILE TEXT
  plant "$2" "$3"
  local said
  if said=$(bash "$here/$1" "$work/tree" 2>&1); then
    passed=$((passed + 1))
  else
    echo "FAILED: $1 rejects $2: $3: $said"
    failed=$((failed + 1))
  fi
}

up='lies above'
rejects layering.sh "$up" tinymp/base/a.h '#include <tinymp/numeric/half.h>'
rejects layering.sh "$up" tinymp/tensor/a.h '#include <kernels/kernels.h>'
rejects layering.sh "$up" kernels/cpu/a.cpp '#include <tinymp/ops/ops.h>'
rejects layering.sh "$up" kernels/cpu/a.cu '  #  include <tinymp/autograd/tape.h>'
rejects layering.sh "$up" tinymp/optim/a.h '#include <tinymp/amp/loss_scaler.h>'
rejects layering.sh "$up" tinymp/data/a.h '#include <tinymp/train/run_log.h>'
rejects layering.sh "$up" lessons/lab/report/a.h '#include <lessons/lab/learn/a.h>'
rejects layering.sh 'tests are for tests' lessons/lab/learn/a.h '#include <tests/catch.h>'
rejects layering.sh 'no place' tinymp/novel/a.h 'int x;'
rejects layering.sh 'quoted' kernels/cpu/a.cpp '#include "block.h"'
rejects layering.sh 'quoted' lessons/01_half/main.cpp '#include "x.h"'
rejects layering.sh "$up" tinymp/dist/a.h '#include <tinymp/train/loop.h>'
rejects layering.sh 'alone calls MPI' tinymp/dist/mpi.h '#include <mpi.h>'
accepts layering.sh tinymp/dist/mpi/mpi.cpp '#include <mpi.h>'
accepts layering.sh lessons/01_half/main.cpp '#include <tinymp/nn/mlp.h>'
accepts layering.sh kernels/cpu/a.cpp '#include <tinymp/tensor/view.h>'
accepts layering.sh tinymp/train/a.cpp '#include <tinymp/data/loader.h>'
rejects layering.sh "$up" lessons/lab/learn/a.h '#include <lessons/lab/classroom/a.h>'
rejects layering.sh "$up" lessons/lab/classroom/a.h '#include <lessons/06_loss_scaling/a.h>'
accepts layering.sh lessons/06_loss_scaling/main.cpp '#include <lessons/lab/learn/lab.h>'
accepts layering.sh lessons/lab/bench/gemm.cpp '#include <tinymp/ops/ops.h>'

bits='other bits elsewhere'
rejects banned.sh "$bits" tinymp/ops/a.cpp 'float f(float x) { return std::exp(x); }'
rejects banned.sh "$bits" tinymp/ops/a.cpp 'using std::tanh;'
rejects banned.sh "$bits" tinymp/ops/a.cpp 'float f(float x) { return ::log(x); }'
rejects banned.sh "$bits" lessons/a/main.cpp 'float f(float x) { return expf(x); }'
rejects banned.sh "$bits" kernels/cpu/a.cpp 'float f(float x) { return pow(x, 2) + /* why */ 1; }'
rejects banned.sh "$bits" kernels/cpu/a.cpp 'float f(float x) { return __builtin_cosf(x); }'
rejects banned.sh "$bits" kernels/cpu/a.cpp '#include <math.h>'
rejects banned.sh 'drop NaN' kernels/cpu/a.h 'float f(float x) { return fmaxf(x, 0); }'
rejects banned.sh 'drop NaN' kernels/cpu/a.h 'float f(float x) { return std::fmin(x, 0); }'
rejects banned.sh 'draws differently' tinymp/nn/a.cpp 'std::normal_distribution<float> d;'
rejects banned.sh 'draws differently' tinymp/nn/a.cpp 'void f() { std::shuffle(a, b, c); }'
rejects banned.sh 'order of its own' tinymp/nn/a.cpp 'float f() { return std::reduce(a, b); }'
rejects banned.sh 'vector width' kernels/cpu/a.cpp '#pragma omp parallel for simd'
rejects banned.sh 'nor exits' tinymp/nn/a.cpp 'void f() { std::exit(1); }'
rejects banned.sh 'nor exits' tinymp/nn/a.cpp 'void f() { std::cout << 1; }'
rejects banned.sh 'nor exits' kernels/cpu/a.cpp 'void f() { printf("x"); }'
rejects banned.sh 'two random draws' tinymp/nn/a.cpp 'void f() { g(rng.uniform(0, 1), rng.uniform(0, 1)); }'
rejects banned.sh 'two random draws' lessons/a/main.cpp 'void f() { g(rng.below(3),
  rng.below(4)); }'
accepts banned.sh tinymp/nn/a.cpp 'int a = rng.below(3); int b = rng.below(4);'
accepts banned.sh tinymp/nn/a.cpp '// std::exp is banned, as is fmaxf(x, 0)'
accepts banned.sh tinymp/nn/a.cpp '/* std::exp
   std::shuffle */ const char* s = "std::exp(x) \" std::reduce"; char c = 0x12'"'"'34;'
accepts banned.sh tinymp/nn/a.cpp 'const char* page = R"js(Math.pow(2, 3); "
  std::log10(x); )js";'
accepts banned.sh tinymp/nn/a.cpp 'double f(double x) { return exp(x) + tanh(x) + model.log(x) + std::sqrt(x) + std::floor(x); }'
accepts banned.sh lessons/a/main.cpp 'void f() { std::printf("a lesson prints"); }'

subject='begin the comment with its subject'
rejects words.sh "$subject" tinymp/nn/a.cpp '// Of what goes out, the shape'
rejects words.sh "$subject" kernels/cpu/a.h '  /// Whoever calls this waits.'
rejects words.sh "$subject" kernels/cpu/a.h '  int n;  ///< only who reads it waits'
rejects words.sh 'more than 10' lessons/lab/learn/a.h "$(for i in 1 2 3 4 5 6 7 8 9 10 11; do echo "// $i, nobody looks"; done)"
rejects words.sh 'semicolon' tests/nn/a.cpp 'TEST_CASE("NaN is kept; so is Inf", "[alone]") {'
accepts words.sh tests/nn/a.cpp 'TEST_CASE("NaN is kept, so is Inf") { f(";"); }'
accepts words.sh tinymp/nn/a.cpp '// The shape of the output. A step that nobody takes.'

lines() { seq -f '// %g' "$1"; }
rejects sizes.sh 'more than 320' tinymp/nn/a.cpp "$(lines 321)"
rejects sizes.sh 'more than 320' kernels/cpu/a.h "$(lines 321)"
rejects sizes.sh 'more than 320' lessons/lab/learn/a.h "$(lines 321)"
rejects sizes.sh 'more than 120' lessons/01_half/main.cpp "$(lines 121)"
accepts sizes.sh tinymp/nn/a.cpp "$(lines 320)"
accepts sizes.sh lessons/01_half/main.cpp "$(lines 120)"
accepts sizes.sh lessons/lab/learn/lab.cpp "$(lines 121)"

# The compiled objects: a tiny archive of each kind, where there is a compiler.
if command -v g++ >/dev/null && command -v nm >/dev/null && [ "$(uname -s)" != Darwin ]; then
  archive() { # MEMBER TEXT
    rm -f "$work/lib.a"
    printf '%s\n' "$2" >"$work/x.cpp"
    g++ -c "$work/x.cpp" -o "$work/$1" && ar qc "$work/lib.a" "$work/$1"
  }
  objects() { # WANTED_EXIT WHAT
    bash "$here/objects.sh" "$work/lib.a" "${3:-Release}" >"$work/said" 2>&1
    if [ $? = "$1" ]; then passed=$((passed + 1)); else
      echo "FAILED: objects.sh, $2: $(cat "$work/said")"
      failed=$((failed + 1))
    fi
  }
  archive gemm_avx2.cpp.o 'inline int f(int x) { return x + 1; } int g(int x) { return f(x); }'
  objects 1 'a weak symbol in an AVX2 object'
  objects 0 'a weak symbol without optimisation' Debug
  archive gemm.cpp.o 'inline int f(int x) { return x + 1; } int g(int x) { return f(x); }'
  objects 0 'a weak symbol in a common object'
  archive gemm_avx512.cpp.o 'static int f(int x) { return x + 1; } int g(int x) { return f(x); }'
  objects 0 'internal linkage in an AVX-512 object'
  if [ "$(uname -m)" = x86_64 ] && command -v objdump >/dev/null; then
    wide='__attribute__((target("avx2"))) %s void f(float* x) { for (int i = 0; i < 8; ++i) x[i] = _mm256_cvtss_f32(_mm256_set1_ps(x[i])); }
      void g(float* x) { f(x); }'
    # shellcheck disable=SC2059
    archive loops.cpp.o "$(printf '#include <immintrin.h>\n'; printf "$wide" inline)"
    objects 1 'AVX2 code in a weak function'
    # shellcheck disable=SC2059
    archive loops.cpp.o "$(printf '#include <immintrin.h>\n'; printf "$wide" static)"
    objects 0 'AVX2 code in a function with internal linkage'
  fi
  archive ops.cpp.o 'extern "C" float tanhf(float); float g(float x) { return tanhf(x); }'
  objects 1 'a call of tanhf'
fi

# The format, where clang-format 14 is there.
case $("${CLANG_FORMAT:-clang-format}" --version 2>/dev/null) in
  *'version 14.'*)
    rejects format.sh 'clang-format' tinymp/base/a.cpp 'int   f( ) { return 1 ; }'
    accepts format.sh tinymp/base/a.cpp 'int f() { return 1; }'
    ;;
esac

echo "style_test: $passed passed, $failed failed"
[ $failed = 0 ]
