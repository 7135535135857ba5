# The commands of ./learn, as lessons/lab/learn/commands.txt lists them. Sourced by ./learn; sees its functions die, find_build,
# make_ready and refuse, and its variables: root, jobs, build_root, command, and
# shellcheck shell=bash disable=SC2016,SC2034 # what stands in single quotes is awk's; ./learn uses what find_command sets
: "${root=}" "${jobs=}" "${build_root=}" "${build=}" "${command=}"

commands() { # AWK_PROGRAM [WANTED]: sees each line of the list as $1 to $5
  WANTED=${2:-} awk -F ' *[|] *' "!/^#/ && NF { $1 }" "$root/lessons/lab/learn/commands.txt"
}

find_command() { # COMMAND [WORD]: sets name, arguments, program, targets and what; false when there is none
  local line
  line=$(commands 'if ($1 == ENVIRON["WANTED"]) print $1 "|" $2 "|" $3 "|" $4 "|" $5' "$1${2:+ $2}")
  if [ -z "$line" ] && [ -n "${2:-}" ]; then
    find_command "$1"
    return
  fi
  name=${line%%|*} line=${line#*|}
  arguments=${line%%|*} line=${line#*|}
  program=${line%%|*} line=${line#*|}
  targets=${line%%|*} what=${line#*|}
  [ -n "$name" ]
}

command_names() { commands 'split($1, word, " "); if (!seen[word[1]]++) { printf "%s%s", comma, word[1]; comma = ", " }'; }

usage() {
  echo 'usage: ./learn [COMMAND] [OPTIONS]'
  echo
  commands 'printf "  %-16s %s\n", $1 ($2 == "" ? "" : " " $2), $5'
  cat <<TXT

'./learn' alone says where you are (--plain: ASCII only, no colour); './learn COMMAND --help' tells the options of a command.

Before or after the command:
  --yes                installs missing packages without asking
  --jobs N             compiles N files at once ($jobs, from cores and memory, when not given)
  --cuda auto|on|off   auto: with CUDA where there is an NVIDIA GPU; on: no build without it; off: none
Environment:
  CC, CXX              the compiler; each has its own folder under the build folder
  TINYMP_DATA          a folder with the data sets, mnist/, cifar10/ ... (datasets)
  TINYMP_MINE          the folder of your exercises ($root/mine)
  TINYMP_PROGRESS      the file of what you have done ($root/progress.txt)
  TINYMP_BUILD_DIR     the build folder ($build_root)
  TINYMP_CUDA          as --cuda
  TINYMP_CMAKE_ARGS    more arguments for CMake, separated by spaces
  TINYMP_EMULATE       1: CUDA kernels run on the CPU; v100, a100, ada, h100, h200 or b200: with that GPU's rounding
  TINYMP_PYTHON        bench: a Python with PyTorch (python3, python)
  TINYMP_OPENBLAS      bench: the file of OpenBLAS (what the loader finds)
  TINYMP_CUBLAS        bench, gpu-check: the folder of cuBLAS (the toolkit, packages of python3)
Exit codes: 0 done, 1 failed, 2 wrong use, 3 this machine lacks something
TXT
}

wants_help() { case " $* " in *" --help "* | *" -h "*) true ;; *) false ;; esac }

command_usage() { # of the command that was found, where its program is not built
  local lesson
  echo "usage: ./learn $name${arguments:+ $arguments} [OPTIONS]"
  echo
  echo "  $what"
  echo
  if [ "$name" = run ]; then
    echo 'All lessons have --seeds K, --data NAME, --smoke, --verify. Lessons:'
    for lesson in "$root"/lessons/[0-9]*_*; do
      echo "  ${lesson##*/}  $(sed -n '1s/^# Lesson [0-9]* - //p' "$lesson/README.md" 2>/dev/null)"
    done
    echo
  fi
  echo "Without --help this builds its program first, which takes some minutes. Then --help tells all options."
}

lesson_is_there() { # WORD, as the program reads it: 6, 06, 06_loss_scaling; otherwise says which there are
  local lesson number wanted=${1%%_*} there=
  case $wanted in *[!0-9]*) wanted= ;; esac
  while case $wanted in 0?*) true ;; *) false ;; esac do wanted=${wanted#0}; done
  for lesson in "$root"/lessons/[0-9]*_*; do
    number=${lesson##*/}
    number=${number%%_*}
    number=${number#0}
    if [ "$number" = "$wanted" ]; then return; fi
    there=${there:+$there, }$number
  done
  [ -n "$1" ] || die 2 "run which lesson? there are $there; for example ./learn run 6"
  die 2 "there is no lesson '$1': there are $there"
}

lesson_program() { printf 'lesson_%02d' "$((10#${1%%_*}))"; } # 6, 06, 06_loss_scaling -> lesson_06

is_built() { # ARGUMENT...: is the program there of the command that was found?
  case $program in
    lesson) case ${1:-} in [0-9]*) [ -x "$build/bin/$(lesson_program "$1")" ] ;; *) false ;; esac ;;
    *) [ -x "$build/bin/$program" ] ;;
  esac
}

start() { # COMMAND ARGUMENT...: becomes the program of the command that was found; a program of many commands is told which
  case $program in
    quickstart) shift ;;
    lesson)
      program=$(lesson_program "$2")
      shift 2
      ;;
  esac
  exec "$build/bin/$program" "$@"
}

do_command() { # ARGUMENT...: those behind the command
  find_command "$command" "${1:-}" || refuse "$@"
  if wants_help "$@"; then
    if find_build && is_built "$@"; then start "$command" "$@"; fi
    command_usage
    exit 0
  fi
  if [ "$name" = run ]; then lesson_is_there "${1:-}"; fi # to build first and then say that there is none would be unkind
  if [ "$program" = classroom ] && [ "$(uname -s)" != Linux ]; then
    die 3 "./learn $command wants Linux, whose kernel holds a check within its limits: in a container or a virtual machine it runs on other systems, too"
  fi
  make_ready "$@"
  start "$command" "$@"
}
