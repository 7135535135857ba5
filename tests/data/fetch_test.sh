#!/usr/bin/env bash
# datasets/fetch.sh against mirrors on 127.0.0.1 that truncate, drop, lie and refuse; no network is used.
#   fetch_test.sh            the whole behaviour, on a small set: the test rewrites mirrors and checksums in a copy
#   fetch_test.sh full_disk  full and read-only disks, on small tmpfs mounts (needs root)
#   fetch_test.sh real       the checksums as they stand, on real MNIST ($TINYMP_DATA/mnist, datasets/mnist) and on
#                            Debian's Fashion-MNIST
# Ends with "[skipped]" and exit code 77 where that, python3, curl or the right to mount is missing.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
skip() { echo "[skipped] $1" && exit 77; }
for tool in python3 curl gzip sha256sum; do command -v $tool >/dev/null || skip "no $tool"; done

# ---- The checksums as they stand ------------------------------------------------------------------------------------

if [ "${1:-}" = real ]; then
  failures=0
  for set in "mnist ${TINYMP_DATA:-$root/datasets}/mnist" "fashion /usr/share/datasets/fashion-mnist"; do
    name=${set%% *} folder=${set#* } into=$(mktemp -d)
    [ -f "$folder/t10k-labels-idx1-ubyte.gz" ] || skip "$name is not in $folder"
    bash "$root/datasets/fetch.sh" "$name" --from "$folder" --into "$into" || failures=$((failures + 1))
    for file in "$folder"/*.gz; do cmp "$file" "$into/$name/$(basename "$file")" || failures=$((failures + 1)); done
    rm -rf "$into"
  done
  env -u TINYMP_DATA bash "$root/datasets/fetch.sh" fashion | grep "already here and right" || failures=$((failures + 1))
  exit $failures
fi
unset TINYMP_DATA TINYMP_MIRROR

work=$(mktemp -d) || exit 1
tmp="$work/a folder" server_pid="" # the space is on purpose
# shellcheck disable=SC2317 # called by trap
finish() {
  if [ -n "$server_pid" ]; then kill "$server_pid" 2>/dev/null; fi
  for mount in "$tmp/small" "$tmp/frozen"; do if [ -d "$mount" ]; then umount "$mount" 2>/dev/null; fi; done
  rm -rf "$work"
}
trap finish EXIT

# ---- The mirror, and a copy of fetch.sh that knows no other ---------------------------------------------------------

plain=$tmp/plain # the small set: what stands behind the names need not be images
mkdir -p "$tmp/served/mnist" "$tmp/datasets" "$plain" "$tmp/bad"
gzip -dc "$root/datasets/fashion-mnist-cut/t10k-images-idx3-ubyte.gz" >"$plain/train-images-idx3-ubyte"
head -c 100000 "$plain/train-images-idx3-ubyte" >"$plain/t10k-images-idx3-ubyte"
head -c 5000 /dev/zero >"$plain/train-labels-idx1-ubyte"
head -c 2000 /dev/zero >"$plain/t10k-labels-idx1-ubyte"
sums=()
for file in "$plain"/*; do
  gzip -c "$file" >"$tmp/served/mnist/$(basename "$file").gz"
  head -c 1000 "$file" >"$tmp/bad/$(basename "$file")"
  sums+=(-e "s#mnist/$(basename "$file")) echo [0-9a-f]*#mnist/$(basename "$file")) echo $(sha256sum <"$file" | cut -c 1-64)#")
done
python3 "$root/tests/data/mirror.py" "$tmp/served" "$tmp/log" >"$tmp/port" &
server_pid=$!
for _ in 1 2 3 4 5 6 7 8 9 10; do if [ -s "$tmp/port" ]; then break; fi; sleep 0.5; done
port=$(cat "$tmp/port")
mirror=http://127.0.0.1:$port
nobody=http://127.0.0.1:9 # the discard port: refuses

# use_mirrors FIRST SECOND: the modes of mirror.py (or "nobody") behind the two public addresses of MNIST
use_mirrors() {
  local first="$mirror/$1/mnist" second="$mirror/$2/mnist"
  if [ "$1" = nobody ]; then first=$nobody/a; fi
  if [ "$2" = nobody ]; then second=$nobody/b; fi
  sed "${sums[@]}" -e "s#https://ossci-datasets.s3.amazonaws.com/mnist#$first#" \
    -e "s#https://storage.googleapis.com/cvdf-datasets/mnist#$second#" \
    -e "s#http://fashion-mnist.s3-website.eu-central-1.amazonaws.com#$nobody/c#" \
    "$root/datasets/fetch.sh" >"$tmp/datasets/fetch.sh"
  : >"$tmp/log"
}

failures=0
fail() {
  echo "FAILED ($scene): $1"
  sed 's/^/    /' "$tmp/out" "$tmp/err" "$tmp/log" 2>/dev/null
  failures=$((failures + 1))
}
run() { # EXIT_CODE ARGUMENT...: fetch.sh must end so
  local wanted=$1 code
  shift
  "$BASH" "$tmp/datasets/fetch.sh" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
  code=$?
  [ $code -eq "$wanted" ] || fail "exit code $code, expected $wanted: fetch.sh $*"
}
says() { grep -q -e "$1" "$tmp/out" "$tmp/err" || fail "does not say: $1"; }
requests() { [ "$(grep -c "$2" "$tmp/log")" -eq "$1" ] || fail "expected $1 requests like \"$2\""; }
complete() { # FOLDER: the four files, with the right bytes and nothing beside them
  local file
  for file in $(cd "$plain" && ls); do
    { cat "$1/$file" 2>/dev/null || gzip -dc "$1/$file.gz" 2>/dev/null; } | cmp -s - "$plain/$file" ||
      fail "$1/$file is not there or not right"
  done
  [ "$(find "$1" -type f | wc -l)" -eq 4 ] || fail "more or fewer than 4 files in $1"
}
scene() { scene=$1 && rm -rf "$tmp/datasets/mnist" "$tmp/into" && mkdir -p "$tmp/datasets/mnist" && use_mirrors "$2" "$3"; }

here=$tmp/datasets/mnist
images=train-images-idx3-ubyte.gz
half=$(($(wc -c <"$tmp/served/mnist/$images") / 2))

# ---- Full and read-only disks ---------------------------------------------------------------------------------------

if [ "${1:-}" = full_disk ]; then
  mkdir "$tmp/small" "$tmp/frozen"
  mount -t tmpfs -o size=256k tmpfs "$tmp/small" 2>/dev/null || skip "cannot mount a tmpfs"
  scene "full disk, download" good good
  run 1 mnist --into "$tmp/small"
  says "mnist: cannot write to .*/small/mnist: the disk is full or read-only; free some space or choose"
  [ -z "$(find "$tmp/small" -type f -size +0)" ] || fail "leaves a part that fills the disk"
  scene "full disk, copy" good good
  run 1 mnist --into "$tmp/small" --from "$tmp/served"
  says "mnist: cannot write to .*/small/mnist: .*No space left"
  mount -t tmpfs -o size=1m,ro tmpfs "$tmp/frozen" || skip "cannot mount a tmpfs"
  scene "read-only disk" good good
  run 1 mnist --into "$tmp/frozen"
  says "mnist: cannot write to .*/frozen/mnist: .*Read-only file system"
  requests 0 .
  [ $failures -eq 0 ] && echo "fetch_test full_disk: all passed"
  exit $failures
fi

# ---- A mirror that works --------------------------------------------------------------------------------------------

scene "first fetch" good nobody
run 0 mnist
complete "$here"
requests 4 "^good mnist/.*gz 0$"
[ ! -s "$tmp/err" ] || fail "writes to stderr though it is no terminal"

: >"$tmp/log"
run 0 mnist
says "^mnist: already here and right, in .*/datasets/mnist$"
[ "$(cat "$tmp/out" "$tmp/err" | wc -l)" -eq 1 ] || fail "more than one line though all is there"
requests 0 .
run 0 mnist --force
requests 4 "^good"
complete "$here"

scene "a damaged file is fetched again, the others stay" good nobody
cp "$tmp"/served/mnist/* "$here"
printf 'x' >>"$here/$images"
run 0 mnist
says "$images is damaged; fetching it again"
requests 1 .
complete "$here"

scene "TINYMP_MIRROR goes first, then the public ones" good nobody
TINYMP_MIRROR=$mirror/error run 0 mnist
requests 1 "^error mnist/$images"
complete "$here"
scene "TINYMP_MIRROR alone" nobody nobody
TINYMP_MIRROR=$mirror/good/ run 0 mnist
complete "$here"
requests 4 .

# ---- Resume ---------------------------------------------------------------------------------------------------------

scene "resumes a partial download" good nobody
head -c "$half" "$tmp/served/mnist/$images" >"$here/$images.part"
run 0 mnist
requests 1 "^good mnist/$images $half$"
complete "$here"

scene "interrupted, then resumed" slow nobody
bash "$tmp/datasets/fetch.sh" mnist >"$tmp/out" 2>"$tmp/err" &
pid=$!
for _ in 1 2 3 4 5 6 7 8 9 10; do if [ -s "$here/$images.part" ]; then break; fi; sleep 0.5; done
kill -TERM $pid
wait $pid
[ $? -eq 130 ] || fail "an interrupted fetch must end with 130"
says "interrupted; the same command goes on"
[ "$(wc -c <"$here/$images.part")" -eq 65536 ] || fail "the part is not kept"
[ ! -e "$here/$images" ] || fail "a partial download has the name of a whole one"
use_mirrors good nobody
run 0 mnist
requests 1 "^good mnist/$images 65536$"
complete "$here"

scene "a connection that drops goes on in the same run, then at the next mirror" drop good
run 0 mnist
requests 1 "^drop mnist/$images $half$"
[ "$(grep -c "^good mnist/$images [1-9]" "$tmp/log")" -eq 1 ] || fail "the next mirror does not go on where the first broke"
complete "$here"

scene "a wrong older half is thrown away" good nobody
head -c "$half" /dev/zero >"$here/$images.part"
run 0 mnist
requests 1 "^good mnist/$images 0$"
complete "$here"

scene "a server without ranges" norange nobody
head -c "$half" "$tmp/served/mnist/$images" >"$here/$images.part"
run 0 mnist
complete "$here"

scene "a part that is whole already" good nobody
cp "$tmp/served/mnist/$images" "$here/$images.part"
run 0 mnist
requests 0 "$images"
complete "$here"

# ---- Mirrors that do not work ---------------------------------------------------------------------------------------

for mode in short wrong error nobody; do
  scene "$mode, then a good one" $mode good
  run 0 mnist
  complete "$here"
  scene "$mode everywhere" $mode $mode
  rmdir "$here"
  run 3 mnist
  [ ! -e "$here" ] || fail "leaves something behind"
done

scene "no network: one line, three ways to mend it" nobody nobody
run 3 mnist
[ "$(cat "$tmp/out" "$tmp/err" | wc -l)" -eq 1 ] || fail "not one line"
says "^mnist: train-images-idx3-ubyte is missing and could not be fetched (.*no connection.*no connection)"
says "connect to a network and run ./learn data mnist again; or .*--from FOLDER; or set TINYMP_MIRROR="
scene "a mirror without the file" good nobody
mv "$tmp/served/mnist" "$tmp/served/gone"
run 3 mnist
says "has no such file"
mv "$tmp/served/gone" "$tmp/served/mnist"

# ---- --from, --into, TINYMP_DATA ------------------------------------------------------------------------------------

for from in "$tmp/served/mnist" "$tmp/served" "$plain" "$mirror/good/mnist" "$mirror/good"; do
  scene "--from $from" nobody nobody
  run 0 mnist --from "$from"
  complete "$here"
done
scene "--from plain over packed: one copy stays" nobody nobody
cp "$tmp"/served/mnist/* "$here"
run 0 mnist --from "$plain" --force
complete "$here"
[ ! -e "$here/$images" ] || fail "two copies of one file"

scene "--from wrong bytes leaves what is here" nobody nobody
cp "$tmp"/served/mnist/* "$here"
run 1 mnist --from "$tmp/bad" --force
says "mnist: no right copy of train-images-idx3-ubyte in .*/bad: holds wrong bytes"
complete "$here"
scene "--from a folder without the files" good good
run 3 mnist --from "$tmp/datasets"
says "no right copy .* has no such file"
requests 0 .

scene "--into" good nobody
run 0 mnist --into "$tmp/into"
complete "$tmp/into/mnist"
scene "TINYMP_DATA" good nobody
TINYMP_DATA=$tmp/into run 0 mnist
complete "$tmp/into/mnist"
TINYMP_DATA=$tmp/into run 0 mnist
says "already here and right, in .*/into/mnist"
scene "TINYMP_DATA without the set, datasets/ with it" nobody nobody
cp "$tmp"/served/mnist/* "$here"
TINYMP_DATA=$tmp/into run 0 mnist
says "already here and right, in .*/datasets/mnist"

# ---- Nowhere to write, wrong use, few tools -------------------------------------------------------------------------

scene "a file where a folder belongs" good nobody
run 1 mnist --into "$tmp/port"
says "mnist: cannot write to .*/port/mnist: .*; free some space or choose another place with --into FOLDER"
scene "no room for a whole file" good nobody
(
  trap '' XFSZ # then a write past the limit fails as on a full disk
  ulimit -f 100
  run 1 mnist
  says "mnist: cannot write to .*/datasets/mnist: the disk is full"
  exit $failures
) || failures=$((failures + 1))
[ -z "$(find "$here" -type f)" ] || fail "leaves a part behind"

scene "wrong use" good good
run 2
says "which data set"
run 2 imagenet
says 'no data set is called "imagenet"; choose mnist or fashion'
run 2 cut
run 2 mnist --quickly
run 2 mnist --from
run 2 mnist --from "$tmp/nowhere"
run 0 --help
says "TINYMP_MIRROR"
requests 0 .

# Only the named tools: the ways taken where there is no curl (wget), no sha256sum (macOS: shasum; else openssl).
few_tools() {
  rm -rf "${tmp:?}/bin" && mkdir "$tmp/bin"
  for tool in awk bash cat cp cut dd dirname basename gzip mkdir mktemp mv od rm rmdir tr wc sleep "$@"; do
    command -v "$tool" >/dev/null || return 1
    ln -s "$(command -v "$tool")" "$tmp/bin/$tool"
  done
}
for tools in "wget shasum" "wget openssl"; do
  scene "with $tools" drop good
  # shellcheck disable=SC2086
  if few_tools $tools; then
    head -c "$half" "$tmp/served/mnist/$images" >"$here/$images.part"
    PATH=$tmp/bin run 0 mnist
    complete "$here"
    grep -q "mnist/$images $half$" "$tmp/log" || fail "wget does not resume"
    use_mirrors norange nobody
    rm "$here"/*
    head -c "$half" "$tmp/served/mnist/$images" >"$here/$images.part"
    PATH=$tmp/bin run 0 mnist
    complete "$here"
    use_mirrors error nobody
    rm "$here"/*
    PATH=$tmp/bin run 3 mnist
    says "answers HTTP 503"
    use_mirrors good nobody
    mv "$tmp/served/mnist" "$tmp/served/gone"
    PATH=$tmp/bin run 3 mnist
    says "has no such file"
    mv "$tmp/served/gone" "$tmp/served/mnist"
  else
    echo "not tested: $scene"
  fi
done
scene "neither curl nor wget" good good
few_tools sha256sum && PATH=$tmp/bin run 3 mnist && says "neither curl nor wget is installed"
scene "no SHA-256" good good
few_tools curl && PATH=$tmp/bin run 3 mnist && says "nothing here can compute SHA-256"

if [ $failures -eq 0 ]; then echo "fetch_test: all passed"; fi
exit $failures
