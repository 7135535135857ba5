#!/usr/bin/env bash
# shellcheck disable=SC2016  # the fakes are scripts in quotes
# usage: launcher_test.sh ROOT
# What ./learn decides, on machines made of small fakes: a PATH with the common tools and a pretended cmake, g++,
# apt-get, sudo, id ... that write down how they were called.
set -u
root=$(cd "${1:?usage: launcher_test.sh ROOT}" && pwd -P) || exit 1
work=$(mktemp -d) && work=$(cd "$work" && pwd -P) || exit 1
trap 'rm -rf "$work"' EXIT
tree="$work/a tree"
build="$tree/build"
bin=$work/bin
passed=0
failed=0

# ---- the pretended machine ------------------------------------------------------------------------------------------

fake() { # FOLDER NAME SCRIPT
  rm -f "$1/$2" # it may be a link to the real one
  printf '#!/bin/sh\necho "%s $*" >>"%s/calls"\n%s\n' "$2" "$work" "$3" >"$1/$2"
  chmod +x "$1/$2"
}

fake_compiler() { # FOLDER NAME: knows C++20 unless it is old; prints what the preprocessor would of lacking headers
  fake "$1" "$2" 'cat >/dev/null
    case "$*" in
      *-std=c++20*) [ ! -e "'"$work"'/old_compiler" ] ;;
      *) sed s/^/lacks_/ "'"$work"'/lacks" ;;
    esac'
}

fake_cmake() { # FOLDER VERSION: configuring and building fail with the text of these files, when they exist
  fake "$1" cmake 'case "$1" in
      --version) echo "cmake version '"$2"'" ;;
      -S)
        if [ -e "'"$work"'/configure_fails" ]; then cat "'"$work"'/configure_fails"; exit 1; fi
        : >"$4/build.ninja"
        for word; do
          case "$word" in
            -DTINYMP_TESTS=*) echo "TINYMP_TESTS:BOOL=${word#*=}" >"$4/CMakeCache.txt" ;;
            -DTINYMP_EMULATION=*) echo "TINYMP_EMULATION:BOOL=${word#*=}" >>"$4/CMakeCache.txt" ;;
            -DTINYMP_MICROBENCH=*) echo "TINYMP_MICROBENCH:BOOL=${word#*=}" >>"$4/CMakeCache.txt" ;;
          esac
        done ;;
      --build)
        echo "[1/2] Building CXX object x.o"
        if [ -e "'"$work"'/build_takes" ]; then sleep "$(cat "'"$work"'/build_takes")"; fi
        echo "[2/2] Linking CXX executable x"
        case "$2" in *-mine) if [ -e "'"$work"'/mine_takes" ]; then sleep "$(cat "'"$work"'/mine_takes")"; fi ;; esac
        if [ -e "'"$work"'/build_fails" ]; then cat "'"$work"'/build_fails"; exit 1; fi
        mkdir -p "$2/bin"
        folder=$2
        while [ "$1" != --target ]; do shift; done
        for target in learn "$@"; do # what each target makes; learn always, so that later commands find it
          case $target in --target | for_* | tinymp_* | gpu_tests | all) continue ;; esac
          printf "%s\n" "#!/bin/sh" "echo program $target" "for word; do echo \"<\$word>\"; done" "exit 7" >"$folder/bin/$target"
          chmod +x "$folder/bin/$target"
        done
        case " $* " in *" classroom "*)
          printf "%s\n" "#!/bin/sh" "case \$1 in overlay) echo pieces of \$* ;; *) echo program classroom; for word; do echo \"<\$word>\"; done; exit 7 ;; esac" \
            "[ ! -e '"$work"'/no_pieces ]" >"$folder/bin/classroom" ;;
        esac ;;
    esac'
}

mkdir -p "$work/installable"
fake_compiler "$work/installable" g++
fake_compiler "$work/installable" clang++
fake_cmake "$work/installable" 3.25.1
fake "$work/installable" ninja true

machine() { # WORD...: user (else root), sudo, apt, dnf, brew, compiler, cmake, ninja, libraries; and a fresh tree
  local word tool install='[ ! -e "'$work'/offline" ] && cp "'$work'/installable/"* "'$bin'/" && : >"'$work'/lacks"'
  rm -rf "$bin" "$tree" "$work"/{old_compiler,offline,configure_fails,build_fails,build_takes}
  mkdir -p "$bin" "$tree/lessons/lab/learn" "$tree/datasets" "$tree/lessons/"{00_why,02_matmul,03_accumulation,06_loss_scaling}
  cp -p "$root/learn" "$tree/learn"
  cp -p "$root/lessons/lab/learn/"{*.sh,commands.txt} "$tree/lessons/lab/learn/"
  for word in build gpu; do # this one may have a toolkit and a GPU
    sed -E "s#/usr/local/cuda#$work/cuda#g; s#/dev/(nvidiactl|nvidia0|dxg|nvmap)#$work/\\1#g; s#/proc/driver/#$work/#g" \
      "$root/lessons/lab/learn/$word.sh" >"$tree/lessons/lab/learn/$word.sh"
  done
  echo 'echo "fetch: $*"' >"$tree/datasets/fetch.sh"
  : >"$work/calls"
  for tool in bash sh env awk sed grep cat cp ln mkdir rm rmdir tr cut cksum dirname readlink tee tail sleep ps chmod find head; do
    ln -s "$(command -v $tool)" "$bin/$tool"
  done
  fake "$bin" uname 'echo Linux'
  fake "$bin" nproc 'echo 4'
  fake "$bin" id 'echo 0'
  fake "$bin" ctest 'exit 8'
  printf '%s\n' zlib fmt json stb CLI11 dygraphs >"$work/lacks"
  for word; do
    case $word in
      user) fake "$bin" id 'echo 1000' ;;
      sudo) fake "$bin" sudo 'unset DEBIAN_FRONTEND; exec "$@"' ;; # env_reset
      apt)
        fake "$bin" apt-cache true
        fake "$bin" apt-get '[ "$DEBIAN_FRONTEND" = noninteractive ] || exit 1
          case "$*" in *install*) '"$install"' ;; esac'
        ;;
      dnf) fake "$bin" dnf "$install" ;;
      brew) fake "$bin" brew 'case $1 in --prefix) echo /opt/homebrew ;; *) '"$install"' ;; esac' ;;
      compiler) fake_compiler "$bin" g++ ;;
      cmake) fake_cmake "$bin" 3.25.1 ;;
      ninja) fake "$bin" ninja true ;;
      libraries) : >"$work/lacks" ;;
    esac
  done
}

learn() { # ARGUMENTS, with VARIABLE=value before them: runs ./learn without a terminal; sets code and said
  local settings=()
  while case ${1:-} in [A-Z]*=*) true ;; *) false ;; esac do
    settings+=("$1")
    shift
  done
  said=$(env -i PATH="$bin" HOME="$work" ${settings[@]+"${settings[@]}"} "$tree/learn" "$@" 2>&1 </dev/null)
  code=$?
}

learn_at_terminal() { # ANSWER ARGUMENTS
  local answer=$1
  shift
  said=$(printf '%s\n' "$answer" |
    script -qec "env -i PATH='$bin' HOME='$work' '$tree/learn' $*; echo code=\$?" /dev/null | tr -d '\r')
  code=${said##*code=}
}

# ---- expectations ---------------------------------------------------------------------------------------------------

check() { # WHAT CONDITION...
  local what=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf '%s\n' "FAILED: $what" "  exit code ${code:-}, output:" "${said:-}" '  calls:' "$(cat "$work/calls")"
  fi
}

ends_with() { [ "$code" = "$1" ]; }
says() { case $said in *"$1"*) true ;; *) false ;; esac }
is_silent_about() { ! says "$1"; }
called() { grep -qF -- "$1" "$work/calls"; }
not_called() { ! called "$1"; }
count_of() { [ "$(grep -c -- "$2" "$work/calls")" = "$1" ]; }

# ---- installing -----------------------------------------------------------------------------------------------------

libraries='zlib1g-dev libfmt-dev nlohmann-json3-dev libstb-dev libcli11-dev libjs-dygraphs'

machine apt
learn quickstart 'two words' --smoke
line="apt-get install -y --no-install-recommends g++ cmake ninja-build $libraries"
check 'a bare Debian, root: shows the exact line' says "  $line
"
check 'and installs without asking' called "--no-install-recommends g++ cmake ninja-build $libraries"
check 'after an update of the lists' called 'Acquire::Retries=1 update'
check 'with ninja' called '-G Ninja'
check 'without tests' called '-DTINYMP_TESTS=OFF'
check 'builds what it runs, and no more' called '--target quickstart'
check 'without the emulation of CUDA kernels' called '-DTINYMP_EMULATION=OFF'
check 'and hands over: arguments' says 'program quickstart
<two words>
<--smoke>'
check 'and hands over: exit code' ends_with 7

machine apt
learn test
check 'test: Catch2 too' called "$libraries catch2"
check 'test: builds all' called '--target all'
check 'test: the exit code of CTest' ends_with 8

machine apt
learn bench --quick
check 'bench: what measures' called '--target measure'
check 'bench: with the emulation' called '-DTINYMP_EMULATION=ON'
check 'bench: no Google Benchmark' not_called libbenchmark-dev
echo benchmark >"$work/lacks"
learn bench micro -- --benchmark_filter=gemm
check 'bench micro: Google Benchmark' called '--no-install-recommends libbenchmark-dev'
check 'bench micro: configures with it' called '-DTINYMP_MICROBENCH=ON'
check 'bench micro: builds it' called '--target measure tinymp_microbench'
check 'bench micro: hands over' says '<--benchmark_filter=gemm>'
: >"$work/calls"
learn bench micro
check 'bench micro once more: configures nothing' not_called '-DTINYMP_MICROBENCH'

machine apt
learn CXX=clang++ quickstart
check 'CXX=clang++: installs clang' called '--no-install-recommends clang cmake'

machine apt compiler cmake ninja libraries
learn quickstart
check 'nothing lacks: nothing is installed' not_called apt-get

machine apt cmake ninja libraries
mkdir "$bin/a folder"
fake_compiler "$bin/a folder" g++
learn CXX="$bin/a folder/g++" quickstart
check 'a compiler in a path with a space: nothing is installed' not_called apt-get
check 'a compiler in a path with a space: goes on' ends_with 7
machine apt compiler cmake ninja libraries
fake "$bin" ccache 'exec "$@"'
learn CXX='ccache g++' quickstart
check 'a compiler of two words: nothing is installed' not_called apt-get

machine user sudo apt
learn quickstart
check 'a user, no terminal: does not call sudo' not_called sudo
check 'says why' says 'no terminal'
check 'names the packages for apt' says 'apt-get install -y --no-install-recommends g++ cmake ninja-build'
check 'and for dnf' says 'dnf install -y gcc-c++ cmake ninja-build zlib-devel fmt-devel json-devel stb_image-devel cli11-devel'
check 'and for brew' says 'brew install gcc cmake ninja zlib fmt nlohmann-json cli11'
check 'exit code 3' ends_with 3

machine user sudo apt
learn --yes quickstart
check 'a user, --yes: sudo' called 'sudo env DEBIAN_FRONTEND=noninteractive apt-get'
check 'and goes on' ends_with 7

if [ "$(uname -s)" = Linux ] && command -v script >/dev/null; then
  machine user sudo apt
  learn_at_terminal n quickstart
  check 'a user at a terminal: asks' says 'Run this now? [Y/n]'
  check 'shows what it would run with sudo' says "  sudo $line"
  check 'no: does not call sudo' not_called sudo
  check 'no, without a compiler: exit code 3' ends_with 3
  machine user sudo apt
  echo 2 >"$work/build_takes"
  learn_at_terminal '' quickstart
  rm "$work/build_takes"
  check 'Enter: installs' called 'sudo env DEBIAN_FRONTEND=noninteractive apt-get'
  check 'and goes on after the question' ends_with 7
  check 'and tells how far the build is' says '] 2 of 2, 0:00 left'
fi

machine user compiler cmake
fake "$bin" make true
learn quickstart
check 'no right to install, but compiler and cmake: goes on' ends_with 7
check 'and says so in one line' says 'downloaded and built from source: zlib fmt json stb CLI11 dygraphs'
check 'with make' not_called Ninja

machine user compiler ninja
learn quickstart
check 'no cmake, nobody may install: exit code 3' ends_with 3
check 'says what' says 'CMake 3.24 or newer is missing'

machine dnf
learn quickstart
check 'dnf' called 'gcc-c++ cmake ninja-build zlib-devel fmt-devel json-devel stb_image-devel cli11-devel'
check 'dnf: goes on' ends_with 7

machine brew user compiler
learn quickstart --yes
check 'brew: without sudo, only what lacks' called 'brew install cmake ninja zlib fmt nlohmann-json cli11'
check 'brew: looks for headers where brew puts them' called '-I/opt/homebrew/include'

machine apt
touch "$work/offline"
learn quickstart
check 'no network, no compiler: exit code 3' ends_with 3
check 'no network: says so' says 'No network?'

machine apt compiler cmake ninja
touch "$work/offline"
echo 'CMake Error: tinymp needs what is not installed here: fmt.' >"$work/configure_fails"
learn quickstart
check 'no network, libraries lack: exit code 3' ends_with 3
check 'no network: one line with what and how' says \
  "lacks zlib fmt json stb CLI11 dygraphs and they could not be downloaded (no network?): apt-get install -y --no-install-recommends $libraries"

machine user compiler cmake ninja
echo 'CMake Error: tinymp needs what is not installed here: fmt.' >"$work/configure_fails"
learn quickstart
check 'neither network nor package manager: exit code 3' ends_with 3
check 'neither network nor package manager: all lists' says 'dnf install -y'

machine apt cmake ninja libraries
touch "$work/old_compiler"
learn CXX=g++ quickstart
check 'an old compiler: exit code 3' ends_with 3
check 'an old compiler: says so' says 'CXX=g++ does not compile C++20'

machine user compiler ninja libraries
fake_cmake "$bin" 3.22.1
learn quickstart
check 'an old cmake: exit code 3' ends_with 3
check 'an old cmake: says where there is a newer one' says 'pip install cmake'
# python3 -m venv FOLDER makes a pip that makes a new cmake.
fake "$work" pip 'cp "'"$work"'/installable/cmake" "$(dirname "$0")"'
fake "$bin" python3 '[ "$1" = -c ] && exit 0; mkdir -p "$3/bin" && { [ -e "$3/bin/pip" ] || cp "'"$work"'/pip" "$3/bin/pip"; }'
learn quickstart
check 'an old cmake, no answer: asks first' not_called venv
learn quickstart --yes
check 'an old cmake: from pip, in the build folder' called "venv $build/tools"
check 'an old cmake: goes on' ends_with 7
: >"$work/calls"
learn quickstart
check 'the second time the new cmake is there' ends_with 7
check 'and pip is not' not_called pip
for tool in pip cmake; do fake "$build/tools/bin" $tool '' && sed -i.old '1s/.*/#!\/moved\/away/' "$build/tools/bin/$tool"; done
learn quickstart --yes
check 'of a moved tree, where neither starts: installs them again' ends_with 7

# ---- building -------------------------------------------------------------------------------------------------------

machine compiler cmake ninja libraries
learn quickstart
check 'the first time it configures' called 'cmake -S'
check 'and says that it builds' says 'building tinymp (the first time'
: >"$work/calls"
learn run 3
check 'the second time it does not configure' not_called 'cmake -S'
check 'run: builds that lesson alone' called '--target lesson_03'
check 'but lets CMake see to edited sources' called 'cmake --build'
learn check 1
check 'check 1: builds what judges' called '--target classroom'
check 'check 1: with the emulation' called '-DTINYMP_EMULATION=ON'
: >"$work/calls"
learn check
check 'check: only lists, so it builds nothing' not_called 'cmake --build'
learn run 3
check 'the emulation stays' not_called '-DTINYMP_EMULATION=OFF'
check 'nothing else on standard output' [ "$(env -i PATH="$bin" HOME="$work" "$tree/learn" run 3 2>/dev/null </dev/null)" = 'program lesson_03' ]
: >"$work/calls"
learn test --filter half
check 'test after quickstart: configures with tests' called '-DTINYMP_TESTS=ON'
check 'test --filter' called '-R half'
mkdir -p "$tree/tests/numeric" && : >"$tree/tests/numeric/half_test.cpp"
: >"$work/calls"
learn test --only numeric
check 'test --only: builds that program alone' called '--target tinymp test_numeric'
check 'test --only: runs its tests alone' called '-L ^(numeric)$'
: >"$work/calls"
learn test --only numeric --filter half
check 'test --only with --filter: builds those' called '--target tinymp test_numeric'
check 'test --only with --filter: runs what matches' called '-R half'
check 'test --only with --filter: whatever its folder' not_called '-L '
learn test --only numeric,nowhere
check 'test --only of a folder without tests' says 'tests/nowhere has no tests'
for none in '' ','; do
  : >"$work/calls"
  learn test --only "$none"
  check "test --only '$none': refused" says '--only wants a folder of tests/'
  check "test --only '$none': runs nothing" not_called ctest
done
: >"$work/calls"
learn quickstart
check 'quickstart after test: keeps them' not_called 'cmake -S'
learn
check 'alone: the program tells' says program
learn run 6 --help
check 'run 6 --help, not built: in short' says 'usage: ./learn run N [OPTIONS]'
learn run 3 --help
check 'run 3 --help, built: the program tells' says '<--help>'
for word in rnu --version; do
  learn $word
  check "$word, built: the program tells" says "<$word>"
done

machine compiler cmake ninja libraries
learn
check 'alone, before the build: what is next' says './learn quickstart'
check 'alone, before the build: exit code 0' ends_with 0
check 'alone: builds nothing' not_called 'cmake -'
for command in '' quickstart run 'run 6' train verify-all compare test; do
  # shellcheck disable=SC2086
  learn $command --help
  check "$command --help: exit code 0" ends_with 0
  check "$command --help: usage" says "usage: ./learn${command:+ ${command% *}}"
  check "$command --help: builds nothing" not_called 'cmake -'
  case $command in '' | test) ;; *) check "$command --help: what is built first" says 'builds its program first' ;; esac
done
mkdir "$tree/lessons/42_answer"
learn run --help
check 'run --help: which lessons there are' says '42_answer'
for word in '' 99 six -1 3x --smoke '0 0'; do
  learn run "$word"
  check "run '$word': exit code 2" ends_with 2
  check "run '$word': which there are" says 'there are 0, 2, 3, 6, 42'
  check "run '$word': builds nothing" not_called 'cmake -'
done
check "run '0 0': says what is none" says "there is no lesson '0 0'"
learn --plain
check 'alone, --plain: what is next' says './learn quickstart'
learn --plain quickstart
check '--plain before a command: exit code 2' ends_with 2
check '--plain before a command: says why' says "not before 'quickstart'"
for word in 0 00 00_why 06 6 42_answer; do
  learn run $word
  check "run $word: hands over" says 'program lesson_'
  check "run $word: hands over the rest alone" is_silent_about "<$word>"
done
learn --plain
check 'alone, --plain, built: the program tells' says '<--plain>'
learn data mnist --from 'x'
check 'data goes to fetch.sh' says 'fetch: mnist --from x'

fake_compiler "$bin" clang++
learn quickstart
learn CXX=clang++ quickstart
learn --cuda off quickstart
learn TINYMP_CUDA=ON quickstart
learn TINYMP_CMAKE_ARGS='-DTINYMP_WERROR=ON *' quickstart
check 'extra arguments, unglobbed' called '-DTINYMP_WERROR=ON *'
learn test --sanitize address
check 'a sanitizer: without the exhaustive tests' called '-LE ^exhaustive$'
check 'a sanitizer: CMake knows which' called '--preset address'
learn test --sanitize=thread --all
check 'a folder for each compiler and set of options' count_of 7 'cmake -S'
check 'CUDA as it was asked for: off' called '-DTINYMP_CUDA=OFF'
check 'CUDA as it was asked for: on' called '-DTINYMP_CUDA=ON'
check '--all: with the exhaustive tests' count_of 1 '-LE'
: >"$work/calls"
learn quickstart
learn CXX=clang++ quickstart
check 'back again: both are still there' not_called 'cmake -S'
: >"$work/calls"
learn run 2 --smoke
check 'run 2: builds what it asks ThreadSanitizer with' called '--target lesson_02 for_lesson_02'
learn train
check 'train: builds no lesson' count_of 1 '--target learn$'
learn run 6 --mine --smoke
check 'run 6 --mine: the ordinary objects, to take what no piece touches' called "--build $build/release-g++ --parallel 4 --target lesson_06"
check 'run 6 --mine: takes them' called "-DFROM=$build/release-g++ -DTO=$build/release-g++/mine-"
check 'run 6 --mine: puts the pieces together' says "pieces of overlay $build/release-g++/mine-"
check 'run 6 --mine: configures another folder with them' called "-B $build/release-g++-mine"
check 'run 6 --mine: CMake knows where they are' called "-DTINYMP_OVERLAY=$build/release-g++/mine-"
check 'run 6 --mine: builds that lesson alone' called '--target lesson_06'
check 'run 6 --mine: hands over' says '<--mine>'
: >"$work/calls"
: >"$work/no_pieces"
learn run 6 --mine
rm "$work/no_pieces"
check 'run 6 --mine, without any piece: ends' ends_with 1
check 'run 6 --mine, without any piece: builds nothing with them' not_called 'lesson_06'
learn check 1.1
: >"$work/calls"
learn run 6 --mine
check 'run 6 --mine, where check compiled the emulation: with it, as the objects are' \
  [ "$(grep -- "-B $build/release-g++-mine" "$work/calls" | grep -c -- '-DTINYMP_EMULATION=ON')" = 1 ]
echo "undefined reference to what is not there" >"$work/build_fails"
learn run 6 --mine
rm "$work/build_fails"
check 'run 6 --mine, where the build fails: no word of two names' is_silent_about 'same name'
: >"$work/calls"
mv "$tree" "$work/moved"
tree=$work/moved learn quickstart
check 'a moved tree: starts afresh' called '--fresh'
mv "$work/moved" "$tree"

machine compiler cmake ninja libraries
sed "s#/usr/share/javascript/dygraphs/#$work/#" "$root/lessons/lab/learn/install.sh" >"$tree/lessons/lab/learn/install.sh"
learn quickstart
: >"$work/calls"
: >"$work/dygraph.min.js"
learn quickstart
check 'libjs-dygraphs, installed since: configures again' count_of 1 'cmake -S'
check 'libjs-dygraphs, installed since: keeps what is built' not_called '--fresh'
fake "$bin" nvcc true
learn quickstart
learn quickstart
check 'nvcc, installed since: configures again' count_of 2 'cmake -S'
rm "$work/dygraph.min.js"

machine compiler cmake ninja libraries
printf '  %s\n' 'TINYMP_CUDA=ON, but no nvcc' 'found.' '' 'Install the CUDA toolkit, 12.0' >"$work/configure_fails"
learn --cuda on quickstart
check '--cuda on without nvcc: exit code 3' ends_with 3
check '--cuda on without nvcc: says how' says '--cuda on: no nvcc found. Install the CUDA toolkit'

machine compiler cmake ninja libraries
{
  echo 'x.cpp:3: error: no such thing'
  for ((line = 0; line < 99; line++)); do echo "note: $line"; done
} >"$work/build_fails"
learn quickstart
check 'a failed build: exit code 1' ends_with 1
check 'a failed build: the error' says 'x.cpp:3: error: no such thing'
check 'a failed build: not the whole log' is_silent_about 'note: 40'
check 'a failed build: where the log is' says "$build/release-g++/build.log"
echo 'c++: fatal error: Killed signal terminated program cc1plus' >"$work/build_fails"
learn quickstart
check 'out of memory: says what helps' says '--jobs 1'
machine compiler cmake ninja libraries
echo 'CMake Error at CMakeLists.txt:3: oh' >"$work/configure_fails"
learn quickstart
check 'a failed configure: exit code 1' ends_with 1
check 'a failed configure: the error' says 'CMake Error at CMakeLists.txt:3: oh'
rm "$work/configure_fails"
learn quickstart
check 'and is tried again' ends_with 7

learn TINYMP_BUILD_DIR=/dev/null/build quickstart
check 'a read-only tree: exit code 1' ends_with 1
check 'a read-only tree: says how' says 'TINYMP_BUILD_DIR='
learn TINYMP_BUILD_DIR="$work/else where" quickstart
check 'a build folder elsewhere' [ -x "$work/else where/release-g++/bin/learn" ]
ln -s "$tree/learn" "$work/link"
said=$(cd / && env -i PATH="$bin" "$work/link" run 3 2>&1)
code=$?
check 'through a link, from another folder, without HOME' ends_with 7
said=$(cd "$tree" && env -i PATH="$bin" sh learn run 3 2>&1)
code=$?
check 'started as sh learn' ends_with 7

# ---- folders ----

for file in build.ninja CMakeCache.txt; do
  learn quickstart
  rm "$build/release-g++/$file"
  : >"$work/calls"
  learn quickstart
  check "a build folder that lost its $file: configures again" count_of 1 'cmake -S'
  check "a build folder that lost its $file: goes on" ends_with 7
done

odd_path() { # PATH CHARACTER: the tree there is refused
  mkdir "$work/$1" && mv "$tree" "$work/$1/tree"
  : >"$work/calls"
  tree=$work/$1/tree learn check 1
  check "a tree in '$1': exit code 2" ends_with 2
  check "a tree in '$1': says why" says "CMake cannot build in a path with $2: $work/$1/tree; move or rename that folder"
  check "a tree in '$1': CMake is not asked" not_called 'cmake -S'
  tree=$work/$1/tree learn
  check "a tree in '$1': what builds nothing goes on" ends_with 0
  mv "$work/$1/tree" "$tree" && rmdir "$work/$1"
}
machine compiler cmake ninja libraries
odd_path 'C#' 'the character #'
odd_path '[2026' 'the character ['
odd_path '2026]' 'the character ]'
odd_path 'semi;x' 'the character ;'
odd_path 'a"b' 'the character "'
# shellcheck disable=SC1003
odd_path 'back\\slash' 'the character \'
odd_path $'two\nlines' 'a line break'
mkdir "$work/o'neil, b"
learn TINYMP_BUILD_DIR="$work/o'neil, b" run 3
check "an apostrophe without nvcc: goes on" ends_with 7
mkdir -p "$work/toolkit/bin" "$work/cuda/bin"
fake "$work/toolkit/bin" nvcc true
: >"$work/nvidiactl"
for place in CUDACXX="$work/toolkit/bin/nvcc" CUDA_PATH="$work/toolkit"; do
  learn TINYMP_BUILD_DIR="$work/o'neil, b" "$place" run 3
  check "an apostrophe with nvcc at $place: exit code 2" ends_with 2
done
rm "$work/nvidiactl"
fake "$work/cuda/bin" nvcc true
learn TINYMP_BUILD_DIR="$work/o'neil, b" run 3
check 'an apostrophe with nvcc and no GPU: goes on' ends_with 7
: >"$work/nvidiactl"
learn TINYMP_BUILD_DIR="$work/o'neil, b" run 3
check 'an apostrophe with nvcc at /usr/local/cuda: exit code 2' ends_with 2
rm -r "$work/cuda"
fake "$bin" nvcc true
learn TINYMP_BUILD_DIR="$work/o'neil, b" run 3
check 'an apostrophe with nvcc: exit code 2' ends_with 2
check 'an apostrophe with nvcc: says how' says "with the character ': $work/o'neil, b; name another build folder: TINYMP_BUILD_DIR=\$HOME/tinymp-build ./learn ...; or leave CUDA out: --cuda off"
learn TINYMP_BUILD_DIR="$work/o'neil, b" --cuda off run 3
check 'an apostrophe with --cuda off: goes on' ends_with 7
rm -r "$work/o'neil, b" "$work/nvidiactl"

machine compiler cmake ninja libraries
learn gpu-check
check 'gpu-check without a GPU: exit code 3' ends_with 3
check 'gpu-check without a GPU: says so' says 'gpu-check wants an NVIDIA GPU, and there is none here'
: >"$work/nvidiactl"
fake "$bin" nvidia-smi 'echo "NVIDIA-SMI has failed"; exit 9'
learn gpu-check
check 'gpu-check with a driver that finds no GPU: exit code 3' ends_with 3
check 'gpu-check without a GPU that answers: builds nothing' not_called 'cmake -'
learn TINYMP_EMULATE=h200 gpu-check
check 'gpu-check, emulated: hands over' says 'program measure'
fake "$bin" nvidia-smi 'echo "GPU 0: Tesla T4 (UUID: GPU-1)"'
learn gpu-check
check 'gpu-check with a GPU: hands over' says 'program measure'
rm "$bin/nvidia-smi"
learn gpu-check
check 'gpu-check with a GPU and no nvidia-smi: hands over' says 'program measure'
rm "$work/nvidiactl"

# Another user's tree. For root all is writable, so the folder is no folder of ours by name.
other_user() { # ARGUMENTS: ./learn, for which -w is false
  sed "s/\\[ ! -w \"\$build_root\" \\]/true/" "$root/lessons/lab/learn/build.sh" >"$tree/lessons/lab/learn/build.sh"
  touch -t 200001010000 "$tree/lessons/lab/learn/build.sh"
  : >"$work/calls"
  learn "$@"
  cp -p "$root/lessons/lab/learn/build.sh" "$tree/lessons/lab/learn/"
  touch -t 200001010000 "$tree/lessons/lab/learn/build.sh"
}
machine compiler cmake ninja libraries
learn run 6
find "$tree" -type f ! -path "$build/*" -exec touch -t 200001010000 {} +
other_user run 6
check "another user's tree, all built: runs" ends_with 7
check "another user's tree, all built: builds nothing" not_called 'cmake'
other_user bench
check "another user's tree, one program is not built: says so" says "cannot write to $build"
touch "$tree/lessons/lab/learn/changed.h"
other_user run 6
check "another user's tree, a source is newer: says so" says "cannot write to $build"

printf '%s\n' 'env | grep ^PATH=' >"$tree/datasets/fetch.sh"
said=$(env -i "$(command -v bash)" "$tree/learn" data 2>&1 </dev/null)
check 'env -i: what it starts has a PATH' says 'PATH='
# shellcheck disable=SC2317
said=$(cd() { echo 'a function'; } && export -f cd && PATH=$bin "$tree/learn" run 3 2>&1 </dev/null)
code=$?
check 'a function cd in the environment: goes on' ends_with 7

# ---- one at a time --------------------------------------------------------------------------------------------------

machine compiler cmake ninja libraries
echo 1 >"$work/build_takes"
(learn quickstart) &
(learn quickstart) &
wait
check 'two at once: the first configures, the second finds it done' count_of 1 'cmake -S'
check 'two at once: no lock is left' [ -z "$(find "$build" -name '*.lock*')" ]
rm "$work/build_takes"
lock=$build/release-g++.lock
sh -c 'exit 0' &
ln -s "$!@1" "$lock"
wait
learn quickstart
check 'a lock left by a killed build: goes on' ends_with 7
ln -s "$$@1" "$lock" # alive, but it started at another time
SECONDS=0
learn quickstart
check 'a lock whose number another program has by now: goes on' ends_with 7
check 'a lock whose number another program has by now: at once' [ "$SECONDS" -lt 3 ]
started=$(bash -c '. "$1" && born "$2"' born "$root/lessons/lab/learn/build.sh" $$)
check 'born: tells a start' [ -n "$started" ]
ln -s "$$@$started" "$lock"
learn CXX=clang++ run 3
check 'a lock of another folder: does not wait' is_silent_about 'waiting'
(sleep 3 && rm "$lock") &
SECONDS=0
learn quickstart
check 'a lock that is held: waits' [ "$SECONDS" -ge 3 ]
check 'and says so' says "another ./learn works in $build/release-g++; waiting"
check 'and then goes on' ends_with 7
echo 5 >"$work/mine_takes"
(learn run 6 --mine >/dev/null) &
waits=0
until [ -L "$build/release-g++-mine.lock" ] || [ $((waits += 1)) -gt 300 ]; do sleep 0.1; done
learn check 1
check 'check during run 6 --mine: goes on' ends_with 7
check 'check during run 6 --mine: does not wait' is_silent_about 'waiting'
check 'check during run 6 --mine: which still builds' [ -L "$build/release-g++-mine.lock" ]
wait
check 'run 6 --mine: no lock is left' [ -z "$(find "$build" -name '*.lock*')" ]
rm "$work/mine_takes"
fake "$bin" ln 'exit 1'
learn quickstart
check 'a disk that takes no lock: exit code 1' ends_with 1
check 'a disk that takes no lock: says what and how' says "cannot write to $build: full or read-only; to build elsewhere: TINYMP_BUILD_DIR="
check 'a disk that takes no lock: blames nobody' is_silent_about 'another ./learn works'
machine compiler cmake ninja libraries
echo 'no space' >"$work/configure_fails"
fake_cmake "$work" 3.25.1
fake "$bin" cmake 'if [ "$1" = -S ]; then rm -r "'"$build"'" && : >"'"$build"'"; exit 1; fi; exec "'"$work"'/cmake" "$@"'
learn quickstart
check 'a disk that fills up while configuring: says so' says "cannot write to $build"
check 'a disk that fills up while configuring: exit code 1' ends_with 1

# ---- memory and cores -----------------------------------------------------------------------------------------------

(
  . "$root/lessons/lab/learn/build.sh"
  printf 'MemTotal: 9000000 kB\nMemAvailable:    3500000 kB\n' >"$work/meminfo"
  echo max >"$work/no_limit"
  echo 1500000000 >"$work/limit"
  echo "$(jobs_for 4 7000) $(jobs_for 4 2500) $(jobs_for 4 300) $(jobs_for 4 '')" \
    "$(memory_mb "$work/meminfo" "$work/no_limit") $(memory_mb "$work/meminfo" "$work/limit")" \
    "$(memory_mb "$work/none" "$work/limit") $(memory_mb "$work/none" "$work/none")"
) >"$work/numbers" 2>&1
said=$(cat "$work/numbers")
if [ "$(uname -s)" = Darwin ]; then wanted='4 2 1 4'; else wanted='4 2 1 4 3417 1430 1430 '; fi
check 'jobs: cores, or as many as fit into memory' says "$wanted"
machine compiler cmake ninja libraries
fake "$bin" uname 'echo Darwin'
fake "$bin" sysctl 'echo 2147483648'
learn quickstart
check 'macOS with 2 GB: two at once' called '--parallel 2'
fake "$bin" sysctl 'echo 536870912'
learn quickstart
check 'macOS with half a GB: one at once' called '--parallel 1'
learn --jobs 3 run 3
check '--jobs' called '--parallel 3'

# ---- wrong use ------------------------------------------------------------------------------------------------------

machine compiler cmake ninja libraries
learn quikstart
check 'quikstart: exit code 2' ends_with 2
check 'quikstart: what there is' says "no command 'quikstart'; there are: quickstart, test, run"
for wrong in '--jobs 0' '--jobs x' '--jobs' '--cuda maybe' 'test --sanitize' 'test --sanitize memory' 'test --fliter x'; do
  # shellcheck disable=SC2086
  learn $wrong
  check "$wrong: exit code 2" ends_with 2
done
check 'wrong use builds nothing' not_called 'cmake -'

# ---- the text of the scripts ----------------------------------------------------------------------------------------

code=
for script in "$root/learn" "$root/lessons/lab/learn/"*.sh "$root/datasets/fetch.sh"; do
  said=$(bash -n "$script" 2>&1)
  check "$script is bash" [ -z "$said" ]
  said=$(sed 's/^[[:space:]]*#.*//' "$script" | grep -nE \
    'declare -[aA-Z]*A|local -[nA]|\$\{[A-Za-z_]+(,|\^|@)|mapfile|readarray|coproc|\|&|&>>|\[\[ -v|wait -n|printf .%\(|sed -i|readlink -[a-z]*f|realpath|date -d|stat -c|grep -[a-zA-Z]*P|(^|[;&| ])timeout |;;&|\$EPOCH|head -n -|sort -V|xargs -r|mktemp --|(sed|grep) [^|]*\\\||tr .*\\x')
  check "$script: nothing newer than bash 3.2, nothing of GNU alone" [ -z "$said" ]
done
said=$(sed -n 's/.*APT \([a-z0-9-]*\).*/\1/p' "$root/cmake/Dependencies.cmake" | while read -r package; do
  grep -qw -- "$package" "$root/lessons/lab/learn/install.sh" || echo "$package"
done)
check 'install.sh knows every package of cmake/Dependencies.cmake' [ -z "$said" ]

echo "launcher_test: $passed passed, $failed failed"
[ $failed = 0 ]
