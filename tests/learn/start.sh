#!/usr/bin/env bash
# usage: BIN=FOLDER start.sh [COMMAND ARGUMENT...]
# ./learn without building: finds the command as ./learn does, and becomes its program in BIN.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BIN%/bin}
command=${1:-}
die() { # EXIT_CODE MESSAGE
  echo "learn: $2" >&2
  exit "$1"
}
# shellcheck source=lessons/lab/learn/commands.sh
. "$root/lessons/lab/learn/commands.sh"
all=("$@")
# shellcheck disable=SC2317 # do_command calls them
{
  find_build() { true; }
  make_ready() { true; }
  refuse() { exec "$build/bin/learn" ${all[@]+"${all[@]}"}; }
}
do_command "${@:2}"
