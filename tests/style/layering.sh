#!/usr/bin/env bash
# usage: layering.sh ROOT
# shellcheck disable=SC2016  # awk in quotes
# Includes point down the layers only, and are never quoted: <tinymp/...> goes through the include path, which an
# exercise overlays, and "..." would not.
set -u
# shellcheck source=tests/style/sources.sh
. "$(dirname "$0")/sources.sh"
root=${1:?usage: layering.sh ROOT}

found=$(sources "$root" tinymp kernels lessons | tr '\n' '\0' | xargs -0 awk -v root="$root/" '
  BEGIN {
    count = split("base numeric tensor kernels autograd ops nn optim amp data dist train report learn words clinic classroom bench chapters quickstart", order, " ")
    for (i = 1; i <= count; i++) rank[order[i]] = i
  }
  # tinymp/amp/x.h: amp; kernels/cpu/x.h: kernels; lessons/lab/learn/x.h: learn;
  # lessons/06_loss_scaling/x.h: chapters
  function layer(path,   part) {
    split(path, part, "/")
    if (part[1] == "lessons") return part[2] == "lab" ? part[3] : "chapters"
    if (part[1] != "tinymp") return part[1]
    return part[2]
  }
  function bad(what) { print substr(FILENAME, length(root) + 1) ":" FNR ": " what }
  FNR == 1 {
    from = layer(substr(FILENAME, length(root) + 1))
    if (!(from in rank)) bad("the folder " from "/ has no place in the order of the layers (tests/style/layering.sh)")
  }
  /^[ \t]*#[ \t]*include[ \t]*"/ { bad("a quoted include; write <tinymp/...> or <kernels/...>") }
  /^[ \t]*#[ \t]*include[ \t]*<mpi[.]h>/ && FILENAME !~ /tinymp\/dist\/mpi\/[^\/]*$/ {
    bad("includes <mpi.h>: tinymp/dist/mpi/ alone calls MPI, and all else is built without it")
  }
  match($0, /^[ \t]*#[ \t]*include[ \t]*<(tinymp|kernels|lessons|tests)\//) {
    path = $0
    sub(/^[^<]*</, "", path)
    sub(/>.*/, "", path)
    to = layer(path)
    if (to == "tests") bad("includes <" path ">: tests are for tests")
    else if (!(to in rank)) bad("includes <" path ">, of no known layer")
    else if (rank[to] > rank[from]) bad("includes <" path ">: " to " lies above " from)
  }')
[ -z "$found" ] && exit 0
printf '%s\n' "$found"
exit 1
