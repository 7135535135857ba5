# Configuring and building in the right folder, one at a time, as parallel as the memory allows.
# Sourced by ./learn after install.sh; sees its variables: root, cuda, sanitize, and
# shellcheck shell=bash
: "${build_root=}" "${overlay=}" "${tests=OFF}" "${microbench=OFF}" "${jobs=1}" "${packages=}"

# ---- how many files at once ----

cores() { nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1; }

memory_mb() { # MEMINFO CGROUP_LIMIT: what is available, or the container's limit; nothing when unknown
  if [ "$(uname -s)" = Darwin ]; then
    sysctl -n hw.memsize 2>/dev/null | awk '{ print int($1 / 1048576) }'
    return
  fi
  cat "$2" "$1" 2>/dev/null | awk '
    /^[0-9]+$/ { limit = int($1 / 1048576) }
    /^MemAvailable:/ { free = int($2 / 1024) }
    END { if (limit != "" && (free == "" || limit < free)) free = limit; print free }'
}

jobs_for() { # CORES [MEMORY_MB]: one compiler takes up to 1 GB
  local count=$1 fit=$((${2:-1000000} / 1000))
  if [ "$fit" -lt "$count" ]; then count=$fit; fi
  if [ "$count" -lt 1 ]; then count=1; fi
  echo "$count"
}

# ---- the folder: one for each compiler and set of options ----

choose_compiler() { # sets CXX; false when no compiler knows C++20
  local candidate
  if [ -n "${CXX:-}" ]; then return 0; fi
  for candidate in g++ clang++ c++ g++-14 g++-13 g++-12 clang++-18 clang++-16 clang++-14; do
    if knows_cxx20 "$candidate"; then
      CXX=$candidate
      return 0
    fi
  done
  return 1
}

name_build_folder() { # sets build, program, cmake_args and signature
  local type=Release name
  name=${sanitize:-release}-$(printf %s "${CXX##*/}" | tr -c 'A-Za-z0-9+.-' '_')
  cmake_args=("-DTINYMP_CUDA=$cuda")
  if [ "$cuda" != AUTO ]; then name=$name-cuda-$cuda; fi
  if [ -n "$sanitize" ]; then
    type=RelWithDebInfo
    cmake_args+=("-DTINYMP_SANITIZE=$sanitize" "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g1")
  fi
  if [ -n "$overlay" ]; then
    name=$name-mine
    cmake_args+=("-DTINYMP_OVERLAY=$overlay")
  fi
  cmake_args+=("-DCMAKE_BUILD_TYPE=$type")
  if [ -n "${TINYMP_CMAKE_ARGS:-}" ]; then
    set -f # words, but no file names
    # shellcheck disable=SC2206
    cmake_args+=($TINYMP_CMAKE_ARGS)
    set +f
    name=$name-$(printf %s "$TINYMP_CMAKE_ARGS" | cksum | cut -d ' ' -f 1)
  fi
  build=$build_root/$name
  program=$build/lessons/learn/learn
  # What the folder was configured for. When it differs (the tree was moved, g++ is another) we start afresh.
  signature="$root $build $(compiler_file) $CXX ${CC:-} ${cmake_args[*]}"
}

optional_parts() { # what tinymp does without, and takes when it was installed since
  local file
  for file in $(printf '%s' "$packages" | awk '$5 ~ "^/" { print $5 }') /usr/local/cuda/bin/nvcc; do
    if [ -e "$file" ]; then echo "$file"; fi
  done
  echo "$(command -v nvcc) ${CUDACXX:-} ${CUDA_PATH:-}"
}

configured() {
  [ "$(cat "$build/configured" 2>/dev/null)" = "$signature" ] && command -v cmake >/dev/null &&
    [ "$(cat "$build/configured.parts" 2>/dev/null)" = "$(optional_parts)" ] &&
    { [ "$tests" = OFF ] || grep -q '^TINYMP_TESTS:BOOL=ON' "$build/CMakeCache.txt"; } &&
    { [ "$microbench" = OFF ] || grep -q '^TINYMP_MICROBENCH:BOOL=ON' "$build/CMakeCache.txt"; }
}

configure() {
  local log=$build/configure.log first=()
  if [ "$(cat "$build/configured" 2>/dev/null)" != "$signature" ]; then
    first=(--fresh)
    if [ -z "${CMAKE_GENERATOR:-}" ] && command -v ninja >/dev/null; then first+=(-G Ninja); fi
    if command -v ccache >/dev/null; then first+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
  fi
  rm -f "$build/configured"
  say "configuring tinymp in $build ..."
  if ! CXX=$CXX cmake -S "$root" -B "$build" ${first[@]+"${first[@]}"} "${cmake_args[@]}" "-DTINYMP_TESTS=$tests" \
    "-DTINYMP_MICROBENCH=$microbench" \
    >"$log" 2>&1; then
    expect_room
    explain_failed_configure "$log"
  fi
  optional_parts >"$build/configured.parts"
  printf '%s\n' "$signature" >"$build/configured"
}

# CMake itself finds out whether anything is to be done: an edited source is always built.
compile() { # TARGET...
  local log=$build/build.log what='building tinymp'
  if [ ! -x "$program" ]; then what="$what (first time: a few minutes)"; fi
  cmake --build "$build" --parallel "$jobs" --target "$@" 2>&1 | tee "$log" | progress "$what ..."
  if [ "${PIPESTATUS[0]}" != 0 ]; then
    expect_room
    # 30 lines from the first error on, or the last 30 when no line is called an error.
    awk '/[Ee]rror[: ]|undefined reference|multiple definition/ { on = 1 } on && n++ < 30 { print } END { exit !on }' \
      "$log" >&2 || tail -n 30 "$log" >&2
    if grep -qE 'Killed|[Cc]annot allocate memory|virtual memory exhausted' "$log"; then
      say "The compiler ran out of memory: fewer at once may do, ./learn --jobs 1 ..."
    fi
    if [ -n "$overlay" ]; then
      say "Each piece of yours passed alone. Together they fail where two of them give a helper the same name."
    fi
    die 1 "the build failed; the whole log: $log"
  fi
}

progress() { # MESSAGE: said once something is being built; on a terminal, with the step it is at
  local line announced=0
  while IFS= read -r line; do
    case $line in "["*"] Building "* | "["*"] Linking "*) ;; *) continue ;; esac
    if [ "$announced" = 0 ]; then say "$1"; fi
    announced=1
    if [ -t 2 ]; then printf '\r%s ' "${line%%]*}]" >&2; fi
  done
  if [ "$announced" = 1 ] && [ -t 2 ]; then printf '\r            \r' >&2; fi
}

# ---- a disk that may be full ----

cannot_write() {
  die 1 "cannot write to $build_root: full or read-only; to build elsewhere: TINYMP_BUILD_DIR=\$HOME/tinymp-build ./learn ..."
}

expect_room() { # the reason behind many a failure, and one that a log on the same disk cannot tell
  local trial=$build_root/room.$$
  { echo room >"$trial"; } 2>/dev/null || { rm -f "$trial" && cannot_write; }
  rm -f "$trial"
}

# ---- one build at a time ----

alive() { kill -0 "$1" 2>/dev/null || [ -d "/proc/$1" ] || ps -p "$1" >/dev/null 2>&1; }

lock_holder() { readlink "$build_root/lock" 2>/dev/null; }

# Of all who see a lock that was left behind, only the one that makes this folder may remove it.
remove_lock_of() { # HOLDER
  mkdir "$build_root/lock.stale" 2>/dev/null || return 1
  if [ "$(lock_holder)" = "$1" ]; then rm -f "$build_root/lock"; fi
  rmdir "$build_root/lock.stale"
}

lock() { # a link to the number of the process that holds it: made with that number in one step, or not at all
  local waited=0 holder
  until ln -s $$ "$build_root/lock" 2>/dev/null; do
    holder=$(lock_holder)
    # Our own number: in a container an earlier ./learn may have had the same.
    if [ -z "$holder" ] || [ "$holder" = $$ ] || ! alive "$holder"; then
      if ! ln -s $$ "$build_root/lock.$$" 2>/dev/null; then cannot_write; fi # the disk takes no link at all
      rm -f "$build_root/lock.$$"
      if [ -n "$holder" ] && remove_lock_of "$holder"; then continue; fi
    fi
    if [ "$waited" = 1 ]; then say "another ./learn builds; waiting (if none does: rm -r '$build_root'/lock*) ..."; fi
    sleep 1
    waited=$((waited + 1))
  done
  locked=1
}

unlock() {
  if [ "$locked" = 1 ]; then rm -f "$build_root/lock"; fi
  locked=0
}

prepare() { # TARGET... are up to date afterwards, whatever it takes
  if ! mkdir -p "$build_root" 2>/dev/null || [ ! -w "$build_root" ]; then cannot_write; fi
  # ccache and others want a home to write to.
  if [ ! -w "${HOME:-/nonexistent}" ]; then export CCACHE_DIR=$build_root/ccache; fi
  lock
  use_own_tools
  if choose_compiler; then name_build_folder; fi
  if [ -z "${build:-}" ] || ! configured; then
    install_missing
    name_build_folder
    mkdir -p "$build" 2>/dev/null || cannot_write
    configure
  fi
  compile "$@"
  unlock
}
