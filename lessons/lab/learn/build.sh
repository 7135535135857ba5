# Configuring and building in the right folder, one build of a folder at a time, as parallel as the memory allows.
# Sourced by ./learn after install.sh and gpu.sh; sees its variables: root, cuda, sanitize, and
# shellcheck shell=bash
: "${cuda=}" "${build_root=}" "${build=}" "${overlay=}" "${tests=OFF}" "${microbench=OFF}" "${emulation=OFF}" "${jobs=1}" "${packages=}"

# ---- where it can be built ----

has_nvcc() { # where cmake/Cuda.cmake looks for it
  local file
  for file in "$(command -v nvcc)" "${CUDACXX:-}" "${CUDACXX:-}"/{,bin/}nvcc "${CUDA_PATH:-}"/{,bin/}nvcc /usr/local/cuda/bin/nvcc; do
    if [ -f "$file" ]; then return 0; fi
  done
  return 1
}

# CMake, Ninja or nvcc take these characters of a path for something else, and say so in words that help nobody.
expect_usual_path() {
  local path character mend odd=('#' '[' ']' ';' '"' "\\" $'\n')
  if [ "$cuda" = ON ] || { [ "$cuda" = AUTO ] && has_gpu && has_nvcc; }; then odd+=("'" ','); fi
  for path in "$root" "$build_root"; do
    mend='move or rename that folder'
    if [ "$path" = "$build_root" ]; then mend="name another build folder: TINYMP_BUILD_DIR=\$HOME/tinymp-build ./learn ..."; fi
    for character in "${odd[@]}"; do
      case $path in *"$character"*) ;; *) continue ;; esac
      case $character in $'\n') character='a line break' ;; *) character="the character $character" ;; esac
      case $character in *[\',]) mend="$mend; or leave CUDA out: --cuda off" ;; esac
      die 2 "CMake cannot build in a path with $character: $path; $mend"
    done
  done
}

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

name_build_folder() { # sets build, cmake_args and signature
  local name
  name=${sanitize:-release}-$(printf %s "${CXX##*/}" | tr -c 'A-Za-z0-9+.-' '_')
  cmake_args=(--preset "${sanitize:-release}" "-DTINYMP_CUDA=$cuda") # CMakePresets.json
  if [ "$cuda" != AUTO ]; then name=$name-cuda-$cuda; fi
  if [ -n "$overlay" ]; then
    name=$name-mine
    cmake_args+=("-DTINYMP_OVERLAY=$overlay")
  fi
  if [ -n "${TINYMP_CMAKE_ARGS:-}" ]; then
    set -f # words, but no file names
    # shellcheck disable=SC2206
    cmake_args+=($TINYMP_CMAKE_ARGS)
    set +f
    name=$name-$(printf %s "$TINYMP_CMAKE_ARGS" | cksum | cut -d ' ' -f 1)
  fi
  build=$build_root/$name
  # What the folder was configured for. When it differs (the tree was moved, g++ is another) we start afresh.
  signature="$root $build $(compiler_file) $CXX ${CC:-} ${cmake_args[*]}"
}

optional_parts() { # what tinymp does without, and takes when it was installed since
  local file
  for file in $(printf '%s' "$packages" | awk '$5 ~ "^/" { print $5 }') /usr/local/cuda/bin/nvcc; do
    if [ -e "$file" ]; then echo "$file"; fi
  done
  if [ "$cuda" = AUTO ]; then gpu_parts; fi
  echo "$(command -v nvcc) ${CUDACXX:-} ${CUDA_PATH:-} $(command -v mpiexec)"
}

is_on() { grep -q "^$1:BOOL=ON" "$build/CMakeCache.txt" 2>/dev/null; } # OPTION, in this folder

has_wanted_emulation() { # a build may have it unasked; that of --mine has what the ordinary one has, whose objects it links
  if is_on TINYMP_EMULATION; then [ "$emulation" = ON ] || [ -z "$overlay" ]; else [ "$emulation" = OFF ]; fi
}

configured() {
  [ -e "$build/CMakeCache.txt" ] && { [ -e "$build/build.ninja" ] || [ -e "$build/Makefile" ] || [ -n "${CMAKE_GENERATOR:-}" ]; } &&
    [ "$(cat "$build/configured" 2>/dev/null)" = "$signature" ] && command -v cmake >/dev/null &&
    [ "$(cat "$build/configured.parts" 2>/dev/null)" = "$(optional_parts)" ] &&
    { [ "$tests" = OFF ] || is_on TINYMP_TESTS; } &&
    has_wanted_emulation &&
    { [ "$microbench" = OFF ] || is_on TINYMP_MICROBENCH; }
}

# What a build costs, a line each in the file cost of its folder: "compiled quickstart: 95 s of CPU, 52 s".
cpu_seconds() { # of this shell's children so far; sets cpu
  times >"$build/times"
  cpu=$(awk 'NR == 2 { gsub("s", ""); for (i = 1; i <= 2; i++) { split($i, t, "m"); sum += 60 * t[1] + t[2] } printf "%d", sum }' "$build/times")
}

record_cost() { # WHAT CPU_BEFORE SECONDS_BEFORE
  cpu_seconds
  echo "$1: $((cpu - $2)) s of CPU, $((SECONDS - $3)) s" >>"$build/cost"
}

configure() {
  local log=$build/configure.log first=() cpu began=$SECONDS cpu_before
  cpu_seconds && cpu_before=$cpu
  if [ "$(cat "$build/configured" 2>/dev/null)" != "$signature" ] || [ ! -e "$build/CMakeCache.txt" ]; then
    first=(--fresh)
    if [ -z "${CMAKE_GENERATOR:-}" ] && command -v ninja >/dev/null; then first+=(-G Ninja); fi
    if command -v ccache >/dev/null; then first+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
  fi
  if [ -z "$overlay" ] && is_on TINYMP_EMULATION; then emulation=ON; fi # else all that has it would be linked anew
  rm -f "$build/configured"
  say "configuring tinymp in $build ..."
  if ! CXX=$CXX cmake -S "$root" -B "$build" ${first[@]+"${first[@]}"} "${cmake_args[@]}" "-DTINYMP_TESTS=$tests" \
    "-DTINYMP_MICROBENCH=$microbench" "-DTINYMP_EMULATION=$emulation" \
    >"$log" 2>&1; then
    expect_room
    explain_failed_configure "$log"
  fi
  record_cost configured "$cpu_before" "$began"
  sed -n 's/^-- \(CUDA: .*\)/  \1/p' "$log" >&2
  optional_parts >"$build/configured.parts"
  printf '%s\n' "$signature" >"$build/configured"
}

# CMake itself finds out whether anything is to be done: an edited source is always built.
compile() { # TARGET...
  local log=$build/build.log what='building tinymp' cpu cpu_before began=$SECONDS code
  cpu_seconds && cpu_before=$cpu
  if [ -n "$overlay" ]; then
    what='compiling what your pieces touch'
  elif ! compgen -G "$build/built.*" >/dev/null; then
    what="$what (the first time: some minutes)"
  fi
  trap 'say "Stopped. What is compiled stays: the same command goes on from there." && exit 130' INT
  cmake --build "$build" --parallel "$jobs" --target "$@" 2>&1 | tee "$log" | progress "$what ..."
  code=${PIPESTATUS[0]}
  trap 'exit 130' INT
  record_cost "compiled $*" "$cpu_before" "$began"
  if [ "$code" != 0 ]; then
    expect_room
    # 30 lines from the first error on, or the last 30 when no line is called an error.
    awk '/[Ee]rror[: ]|undefined reference|multiple definition/ { on = 1 } on && n++ < 30 { print } END { exit !on }' \
      "$log" >&2 || tail -n 30 "$log" >&2
    if grep -qE 'Killed|[Cc]annot allocate memory|virtual memory exhausted' "$log"; then
      say "The compiler ran out of memory: fewer at once may do, ./learn --jobs 1 ..."
    fi
    if [ -n "$overlay" ] && grep -qE 'redefinition|multiple definition' "$log"; then
      say "Each piece of yours passed alone. Together they fail where two of them give a helper the same name."
    elif [ -n "$overlay" ]; then
      say "Each piece of yours passed alone, so this may be a fault of tinymp. Try once more after: rm -r '$build'"
    fi
    die 1 "the build failed; the whole log: $log"
  fi
}

minutes() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); } # SECONDS

# On a terminal a bar; elsewhere a line every 10 s.
progress() { # MESSAGE, said once something is being built; reads what Ninja or make print
  local line step total bar='' announced=0 began=$SECONDS told=$SECONDS left
  trap '' INT # the builder ends first
  while IFS= read -r line; do
    case $line in "["*"] Building "* | "["*"] Linking "*) ;; *) continue ;; esac
    if [ "$announced" = 0 ]; then say "$1"; fi
    announced=1
    line=${line%%]*}
    line=${line#[}
    case $line in
      */*) step=${line%/*} total=${line#*/} ;;
      *) step=${line%\%} total=100 ;; # make tells a share
    esac
    step=${step// /}
    case $step$total in *[!0-9]* | '') continue ;; esac
    if [ "$step" = 0 ] || [ "$SECONDS" -le "$began" ]; then continue; fi
    left=$(minutes $(((SECONDS - began) * (total - step) / step)))
    if [ -t 2 ]; then
      bar=$(printf '%*s' $((step * 30 / total)) '')
      printf '\r  [%-30s] %s of %s, %s left  ' "${bar// /#}" "$step" "$total" "$left" >&2
    elif [ $((SECONDS - told)) -ge 10 ]; then
      told=$SECONDS
      say "  $step of $total, $left left"
    fi
  done
  if [ -n "$bar" ]; then printf '\r%60s\r' '' >&2; fi
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

# ---- one build of a folder at a time ----

alive() { kill -0 "$1" 2>/dev/null || [ -d "/proc/$1" ] || ps -p "$1" >/dev/null 2>&1; }

born() { # PID: when it started, in one word; nothing where the system does not tell
  if [ -r "/proc/$1/stat" ]; then
    sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 20
  else
    ps -o lstart= -p "$1" 2>/dev/null | tr -cd 'A-Za-z0-9'
  fi
}

lock_holder() { readlink "$locking.lock" 2>/dev/null; }

holds_it() { # HOLDER: PID@START. Another program may have that number by now, and then it started at another time.
  local pid=${1%%@*} start=
  alive "$pid" || return 1
  case $1 in *@?*) start=$(born "$pid") ;; esac
  [ -z "$start" ] || [ "$start" = "${1#*@}" ]
}

# Of all who see a lock that was left behind, only the one that makes this folder may remove it.
remove_lock_of() { # HOLDER
  mkdir "$locking.lock.stale" 2>/dev/null || return 1
  if [ "$(lock_holder)" = "$1" ]; then rm -f "$locking.lock"; fi
  rmdir "$locking.lock.stale"
}

lock() { # FOLDER: FOLDER.lock is a link to the process that holds it: made with its number in one step, or not at all
  local waited=0 holder own
  own=$$@$(born $$)
  locking=$1
  until ln -s "$own" "$locking.lock" 2>/dev/null; do
    holder=$(lock_holder)
    # Our own number: in a container an earlier ./learn may have had the same.
    if [ -z "$holder" ] || [ "${holder%%@*}" = $$ ] || ! holds_it "$holder"; then
      if ! ln -s "$own" "$locking.lock.$$" 2>/dev/null; then cannot_write; fi # the disk takes no link at all
      rm -f "$locking.lock.$$"
      if [ -n "$holder" ] && remove_lock_of "$holder"; then continue; fi
    fi
    if [ "$waited" = 1 ]; then say "another ./learn works in $locking; waiting (if none does: rm -r '$locking'.lock*) ..."; fi
    sleep 1
    waited=$((waited + 1))
  done
  locked+=("$locking")
}

unlock() { # what was locked last
  local last=$((${#locked[@]} - 1))
  rm -f "${locked[last]}.lock"
  unset "locked[$last]"
}

unlock_all() { while [ ${#locked[@]} -gt 0 ]; do unlock; done; }

# ---- what others built ----

current() { # TARGET: was it built here, and has no source changed since?
  local stamp=$build/built.$1
  if [ ! -e "$stamp" ]; then
    case $1 in learn | quickstart | lesson_* | clinic) stamp=$build/built.lessons ;; esac
  fi
  [ -e "$stamp" ] &&
    [ -z "$(find "$root/CMakeLists.txt" "$root/cmake" "$root/kernels" "$root/lessons" "$root/tinymp" -type f -newer "$stamp" \
      ! -name '*.md' ! -name '*.json' 2>/dev/null | head -n 1)" ]
}

all_current() { # TARGET...
  local target
  [ "$tests" = OFF ] && [ "$microbench" = OFF ] && choose_compiler && name_build_folder || return 1
  for target; do current "$target" || return 1; done
}

prepare() { # TARGET... are up to date afterwards, whatever it takes
  expect_usual_path
  if ! mkdir -p "$build_root" 2>/dev/null || [ ! -w "$build_root" ]; then
    if all_current "$@"; then return; fi # another user's, and whole
    cannot_write
  fi
  # ccache and others want a home to write to.
  if [ ! -w "${HOME:-/nonexistent}" ]; then export CCACHE_DIR=$build_root/ccache; fi
  use_own_tools
  if choose_compiler; then name_build_folder; fi
  if [ -z "$build" ] || ! configured; then
    lock "$build_root/install" # packages and tools/ are for all folders
    install_missing
    unlock
    name_build_folder
  fi
  lock "$build"
  bring_up_to_date "$@"
  unlock
}

bring_up_to_date() { # TARGET... in the folder, which is locked
  local target
  if ! configured; then
    mkdir -p "$build" 2>/dev/null || cannot_write
    configure
  fi
  : >"$build/built"
  compile "$@"
  for target; do cp -p "$build/built" "$build/built.$target"; done
}
