# What the machine lacks and how it gets it. Sourced by ./learn; sees its variables: root, build_root, yes, tests, microbench.
# shellcheck shell=bash

# cmake/Dependencies.cmake names the libraries too: it builds from source what nobody could install.
#
# name       apt                 dnf          brew           a file that shows it is there
packages='
compiler     g++                 gcc-c++      gcc            -
clang        clang               clang        llvm           -
cmake        cmake               cmake        cmake          -
ninja        ninja-build         ninja-build  ninja          -
zlib         zlib1g-dev          zlib-devel   zlib           zlib.h
fmt          libfmt-dev          fmt-devel    fmt            fmt/core.h
json         nlohmann-json3-dev  json-devel   nlohmann-json  nlohmann/json.hpp
stb          libstb-dev          stb_image-devel  -          stb/stb_image.h|stb_image.h
CLI11        libcli11-dev        cli11-devel  cli11          CLI/CLI.hpp
dygraphs     libjs-dygraphs      -            -              /usr/share/javascript/dygraphs/dygraph.min.js
Catch2       catch2              catch-devel  catch2         catch2/catch.hpp|catch2/catch_all.hpp
benchmark    libbenchmark-dev    google-benchmark-devel  google-benchmark  benchmark/benchmark.h
'

cxx() { # the compiler; CXX may be a path with spaces, or words such as "ccache g++"
  if command -v "$CXX" >/dev/null 2>&1; then "$CXX" "$@"; else $CXX "$@"; fi
}

compiler_file() { # behind CXX; false when there is none
  command -v "$CXX" || command -v "${CXX%% *}"
}

knows_cxx20() { # [COMPILER] knows concepts, std::span and std::bit_cast
  printf '%s\n' '#include <version>' \
    '#if __cpp_concepts < 201907L || __cpp_lib_span < 202002L || __cpp_lib_bit_cast < 201806L' '#error' '#endif' |
    CXX=${1:-$CXX} cxx -std=c++20 -E -x c++ - >/dev/null 2>&1
}

cmake_is_new_enough() {
  cmake --version 2>/dev/null | awk '
    /version/ { split($3, v, "[.]"); enough = v[1] > 3 || v[1] == 3 && v[2] >= 24 }
    END { exit !enough }'
}

has_build_tool() { command -v ninja >/dev/null || command -v make >/dev/null || [ -n "${CMAKE_GENERATOR:-}" ]; }

libraries() { # names and files of the libraries that this command needs
  printf '%s' "$packages" | awk -v tests="$tests" -v microbench="${microbench:-OFF}" '
    $5 != "" && $5 != "-" && (tests == "ON" || $1 != "Catch2") && (microbench == "ON" || $1 != "benchmark") { print $1, $5 }'
}

missing_libraries() { # names, one a line: asks the preprocessor, so that any place it knows will do
  local include=
  if [ "$(manager)" = brew ]; then include=-I$(brew --prefix)/include; fi
  libraries | awk '
    { n = split($2, files, "|"); test = ""
      if ($2 ~ /^\//) test = "__has_include(\"" $2 "\")"
      else for (i = 1; i <= n; i++) test = test (i > 1 ? " || " : "") "__has_include(<" files[i] ">)"
      print "#if !(" test ")\nlacks_" $1 "\n#endif" }' |
    cxx -E -P -x c++ ${include:+"$include"} - 2>/dev/null | sed -n 's/^lacks_//p'
}

missing() { # names, one a line, of everything that this command needs and the machine lacks
  local compiler=1
  if ! choose_compiler || ! compiler_file >/dev/null; then
    compiler=0
    case ${CXX:-} in *clang*) echo clang ;; *) echo compiler ;; esac
  fi
  if ! command -v cmake >/dev/null; then echo cmake; fi
  if ! has_build_tool; then echo ninja; fi
  if [ $compiler = 1 ]; then missing_libraries; else libraries | cut -d' ' -f1; fi
}

manager() {
  local candidate
  for candidate in apt-get dnf brew; do
    if command -v "$candidate" >/dev/null; then
      echo "$candidate"
      return
    fi
  done
}

package_names() { # MANAGER NAME... on one line; a name that the manager does not know is left out
  local column=4 manager=$1
  case $manager in apt-get) column=2 ;; dnf) column=3 ;; esac
  shift
  printf '%s' "$packages" | awk -v column="$column" -v wanted=" $* " '
    index(wanted, " " $1 " ") && $column != "-" { printf "%s%s", separator, $column; separator = " " }'
}

install_line() { # MANAGER NAME...
  local names
  names=$(package_names "$@")
  case $1 in
    apt-get) echo "apt-get install -y --no-install-recommends $names" ;;
    dnf) echo "dnf install -y $names" ;;
    *) echo "brew install $names" ;;
  esac
}

is_root() { [ "$(id -u)" = 0 ]; }

agreed() { # QUESTION: --yes, or the user says so, or root started us where nobody can answer
  local answer
  if [ "$yes" = 1 ]; then return 0; fi
  if [ ! -t 0 ]; then
    is_root || say "Not done: there is no terminal to ask at (--yes agrees)."
    is_root
    return
  fi
  printf '%s [Y/n] ' "$1" >&2
  read -r answer || return 1
  case $answer in "" | [Yy]*) return 0 ;; *) return 1 ;; esac
}

run_manager() { # MANAGER SUDO PACKAGE...: words of the last two are split on purpose
  local manager=$1 sudo=$2 package known= apt
  shift 2
  case $manager in
    apt-get)
      # env, since sudo drops what is exported; a question would wait where nobody sees it.
      # More retries would take minutes where there is no network.
      apt="$sudo env DEBIAN_FRONTEND=noninteractive apt-get -q -o Acquire::Retries=1"
      $apt update
      for package; do # an older system may lack one: that library then comes from source
        if apt-cache show "$package" >/dev/null 2>&1; then known="$known $package"; fi
      done
      # Another installation may be running, as in the first minutes of a new virtual machine.
      # shellcheck disable=SC2086
      [ -n "$known" ] && $apt -o DPkg::Lock::Timeout=300 install -y --no-install-recommends $known
      ;;
    dnf) $sudo dnf install -y --setopt=strict=0 "$@" ;;
    brew) brew install "$@" ;;
  esac
}

install_packages() { # NAME... if there is a manager, we have the right, and the user agrees
  local manager sudo='' line log=$build_root/install.log
  manager=$(manager)
  [ -n "$manager" ] && [ -n "$(package_names "$manager" "$@")" ] || return 1
  if ! is_root && [ "$manager" != brew ]; then
    command -v sudo >/dev/null || return 1
    sudo=sudo
  fi
  line="${sudo:+sudo }$(install_line "$manager" "$@")"
  say "This machine lacks some of what tinymp needs. To install it:"
  say "  $line"
  agreed "Run this now?" || return 1
  say "installing ..."
  # shellcheck disable=SC2046
  if ! run_manager "$manager" "$sudo" $(package_names "$manager" "$@") >"$log" 2>&1; then
    say "That failed ($(grep -v '^$' "$log" | tail -n 1)). No network? The whole log: $log"
    return 1
  fi
}

use_own_tools() { # what cmake_from_pip put into the build folder; where the tree was moved, it no longer starts
  if "$build_root/tools/bin/cmake" --version >/dev/null 2>&1; then PATH=$build_root/tools/bin:$PATH; fi
}

cmake_from_pip() { # into the build folder, where the package manager's is too old or nobody may use it
  local tools=$build_root/tools log=$build_root/install.log install_python=0 found
  if ! python3 -c 'import ensurepip' 2>/dev/null; then
    if ! is_root || [ "$(manager)" != apt-get ]; then return 1; fi
    install_python=1
  fi
  found=$(cmake --version 2>/dev/null | sed -n 's/^cmake version //p')
  say "tinymp needs CMake 3.24 or newer, and here is ${found:-none}."
  agreed "Install one for this folder alone (python3 -m venv $tools; pip install cmake ninja)?" || return 1
  say "installing CMake in $tools ..."
  if [ $install_python = 1 ]; then run_manager apt-get '' python3-venv >"$log" 2>&1; fi
  rm -rf "$tools" # of a tree that was moved: venv would leave the pip there as it is
  if ! { python3 -m venv "$tools" && "$tools/bin/pip" install 'cmake>=3.24,<4' ninja; } >>"$log" 2>&1; then
    say "That failed; the whole log: $log"
    return 1
  fi
  use_own_tools
  hash -r
  cmake_is_new_enough
}

print_lists() { # what to install by hand
  local manager names
  names='compiler cmake ninja '$(libraries | awk '{ printf "%s ", $1 }')
  say "Install, as an administrator, then start again:"
  for manager in apt-get dnf brew; do
    # shellcheck disable=SC2086
    say "  $(install_line "$manager" $names)"
  done
}

install_missing() { # everything that configuring needs, or exit 3 saying what
  local names
  use_own_tools
  names=$(missing)
  # shellcheck disable=SC2086
  if [ -n "$names" ]; then install_packages $names; fi
  if ! choose_compiler && command -v g++ >/dev/null; then
    die 3 "the g++ of this system ($(g++ -dumpfullversion)) is too old for C++20. Install g++ 11, clang++ 14 or newer beside" \
      "it, and name it if it is not found by itself: CXX=clang++-16 ./learn ..."
  fi
  if ! choose_compiler; then
    print_lists
    die 3 "there is no C++20 compiler on this machine (g++ 11, clang++ 14 or newer)"
  fi
  if ! knows_cxx20; then
    die 3 "CXX=$CXX does not compile C++20: it takes g++ 11, clang++ 14 or newer"
  fi
  if ! cmake_is_new_enough && ! cmake_from_pip; then
    print_lists
    die 3 "CMake 3.24 or newer is missing. If the package manager has an older one: pip install cmake, or for Ubuntu" \
      "https://apt.kitware.com, or https://cmake.org/download"
  fi
  if ! has_build_tool; then
    print_lists
    die 3 "ninja or make is missing"
  fi
  names=$(missing_libraries)
  # shellcheck disable=SC2086
  if [ -n "$names" ]; then say "not installed, so downloaded and built from source:" $names; fi
}

explain_failed_configure() { # LOG: exit 3 when the machine lacks something
  local names manager line
  line=$(awk '
    sub(/.*TINYMP_CUDA=ON, but /, "") { on = 1 }
    /Install the CUDA toolkit/ { on = 0 }
    on && NF { $1 = $1; printf "%s ", $0 }' "$1") # CMake broke it into lines
  if [ -n "$line" ]; then
    die 3 "--cuda on: ${line}Install the CUDA toolkit, 12.0 or newer, name its compiler with CUDACXX=/path/to/nvcc" \
      "./learn ..., or leave --cuda on out; the whole log: $1"
  fi
  names=$(missing_libraries | tr '\n' ' ')
  manager=$(manager)
  if [ -n "$names" ] && grep -q 'tinymp needs what is not installed' "$1"; then
    if [ -z "$manager" ]; then print_lists; fi
    # shellcheck disable=SC2086
    line=$(install_line "$manager" $names)
    if ! is_root && [ "$manager" != brew ]; then line="sudo $line"; fi
    die 3 "this machine lacks ${names}and they could not be downloaded (no network?)${manager:+: $line}"
  fi
  tail -n 30 "$1" >&2
  die 1 "could not configure; the whole log: $1"
}
