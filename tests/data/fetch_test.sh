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
  data=${TINYMP_DATA:-$root/datasets} into=$(mktemp -d)
  [ -f "$data/text/tinyshakespeare.txt" ] || skip "text is not in $data"
  [ -f "$data/cifar10/test_batch.bin" ] || [ -f "$data/cifar10/test_batch.bin.xz" ] || skip "cifar10 is not in $data"
  mkdir "$into/cifar10"
  for file in "$data"/cifar10/*.bin; do if [ -f "$file" ]; then ln -s "$file" "$into/cifar10"; fi; done
  for file in "$data"/cifar10/*.bin.xz; do if [ -f "$file" ]; then xz -dc "$file" >"$into/cifar10/$(basename "$file" .xz)"; fi; done
  for set in "text $data" "text $data/text/tinyshakespeare.txt" "cifar10 $into"; do
    bash "$root/datasets/fetch.sh" "${set%% *}" --from "${set#* }" --into "$into/new" --force || failures=$((failures + 1))
  done
  rm -rf "$into"
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
sums=() cifar=$tmp/cifar-10-batches-bin text=$tmp/text
mkdir -p "$cifar" "$text" "$tmp/served/toronto" "$tmp/served/karpathy"
cp "$plain/train-images-idx3-ubyte" "$cifar/data_batch_1.bin"
for i in 2 3 4 5; do head -c $((i * 1000)) "$plain/train-images-idx3-ubyte" >"$cifar/data_batch_$i.bin"; done
head -c 3073 /dev/zero >"$cifar/test_batch.bin"
head -c 200000 "$plain/train-images-idx3-ubyte" | base64 >"$text/tinyshakespeare.txt"
cp "$text/tinyshakespeare.txt" "$tmp/served/karpathy/input.txt"
archive="cifar-10-binary.tar.gz"
tar -czf "$tmp/served/toronto/$archive" -C "$tmp" cifar-10-batches-bin
plant_sum() { sums+=(-e "s#$1) echo [0-9a-f]*#$1) echo $(sha256sum <"$2" | cut -c 1-64)#"); } # SET/FILE PATH
plant_sum "cifar10/$archive" "$tmp/served/toronto/$archive"
for file in "$cifar"/*; do plant_sum "cifar10/$(basename "$file")" "$file"; done
plant_sum text/tinyshakespeare.txt "$text/tinyshakespeare.txt"
for file in "$plain"/*; do
  gzip -c "$file" >"$tmp/served/mnist/$(basename "$file").gz"
  head -c 1000 "$file" >"$tmp/bad/$(basename "$file")"
  plant_sum "mnist/$(basename "$file")" "$file"
done
python3 "$root/tests/data/mirror.py" "$tmp/served" "$tmp/log" >"$tmp/port" &
server_pid=$!
for _ in {1..120}; do if [ -s "$tmp/port" ]; then break; fi; sleep 0.5; done # a busy machine
port=$(cat "$tmp/port")
mirror=http://127.0.0.1:$port
nobody=http://127.0.0.1:9 # the discard port: refuses

# use_mirrors FIRST SECOND: the modes of mirror.py (or "nobody") behind the two public addresses of MNIST; the first
# also behind those of CIFAR-10 and of the text
use_mirrors() {
  local first="$mirror/$1/mnist" second="$mirror/$2/mnist" other="$mirror/$1"
  if [ "$1" = nobody ]; then first=$nobody/a other=$nobody/d; fi
  if [ "$2" = nobody ]; then second=$nobody/b; fi
  sed "${sums[@]}" -e "s#https://ossci-datasets.s3.amazonaws.com/mnist#$first#" \
    -e "s#https://storage.googleapis.com/cvdf-datasets/mnist#$second#" \
    -e "s#https://www.cs.toronto.edu/~kriz#$other/toronto#" \
    -e "s#https://raw.githubusercontent.com/.*/input.txt#$other/karpathy/input.txt#" \
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
complete() { # FOLDER [LIKE]: the files of a set, with the right bytes and nothing beside them
  local file like=${2:-$plain}
  for file in $(cd "$like" && ls); do
    { cat "$1/$file" 2>/dev/null || gzip -dc "$1/$file.gz" 2>/dev/null; } | cmp -s - "$like/$file" ||
      fail "$1/$file is not there or not right"
  done
  [ "$(find "$1" -type f | wc -l)" -eq "$(find "$like" -type f | wc -l)" ] || fail "more or fewer files than its own in $1"
}
scene() { scene=$1 && rm -rf "$tmp/datasets/mnist" "$tmp/datasets/cifar10" "$tmp/datasets/text" "$tmp/into" && mkdir -p "$tmp/datasets/mnist" && use_mirrors "$2" "$3"; }

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
scene "a server without end: a few MB are taken, then the next place" endless good
run 0 mnist
complete "$here"
run 1 text --from "$mirror/endless/karpathy/tinyshakespeare.txt"
says "endless/karpathy/tinyshakespeare.txt: sends more than the file has"
scene "redirects without end, and to a file of this machine" loop astray
run 3 mnist
says "/loop/mnist: redirects without end"
says "/astray/mnist: leads to an address that is neither http nor https"
[ -z "$(find "$here" -type f)" ] || fail "keeps what no server sent"
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
mkdir "$tmp/packed" && : >"$tmp/packed/${images%.gz}.xz"
run 3 mnist --from "$tmp/packed"
says "no right copy .* has it packed only: xz -dk '.*/packed/${images%.gz}.xz'"

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

# ---- CIFAR-10 is published as one archive, the text as one file -------------------------------------------------------

packed=$tmp/served/toronto/$archive
packed_half=$(($(wc -c <"$packed") / 2))
photos=$tmp/datasets/cifar10
scene "cifar10 out of its archive" good nobody
run 0 cifar10
complete "$photos" "$cifar"
requests 1 "^good toronto/$archive 0$"
: >"$tmp/log"
run 0 cifar10
says "^cifar10: already here and right, in .*/datasets/cifar10$"
requests 0 .
run 0 cifar10 --force
requests 1 .
printf x >>"$photos/data_batch_3.bin"
run 0 cifar10
says "data_batch_3.bin is damaged; fetching it again"
complete "$photos" "$cifar"

scene "cifar10 interrupted, then resumed" slow nobody
bash "$tmp/datasets/fetch.sh" cifar10 >"$tmp/out" 2>"$tmp/err" &
pid=$!
for _ in 1 2 3 4 5 6 7 8 9 10; do if [ -s "$photos/$archive.part" ]; then break; fi; sleep 0.5; done
kill -TERM $pid
wait $pid
[ $? -eq 130 ] || fail "an interrupted fetch must end with 130"
says "interrupted; the same command goes on"
[ "$(wc -c <"$photos/$archive.part")" -eq 65536 ] || fail "the part is not kept"
use_mirrors good nobody
run 0 cifar10
requests 1 "^good toronto/$archive 65536$"
complete "$photos" "$cifar"

scene "cifar10 over a connection that drops" drop nobody
head -c "$packed_half" "$packed" >"$tmp/half"
run 3 cifar10 # it gets shorter each time: five halves are not the whole, and what there is stays
says "the connection broke after"
requests 1 "^drop toronto/$archive $packed_half$"
[ "$(grep -c "^drop toronto/$archive [1-9]" "$tmp/log")" -ge 4 ] || fail "does not try again from where it broke"
use_mirrors good nobody
run 0 cifar10
requests 0 "^good toronto/$archive 0$"
complete "$photos" "$cifar"

scene "cifar10: a wrong older half is thrown away" good nobody
mkdir -p "$photos"
head -c "$packed_half" /dev/zero >"$photos/$archive.part"
run 0 cifar10
requests 1 "^good toronto/$archive 0$"
complete "$photos" "$cifar"
scene "cifar10 interrupted while unpacking" nobody nobody
mkdir -p "$photos/unpacking/old"
cp "$packed" "$photos/$archive"
run 0 cifar10
complete "$photos" "$cifar"

for mode in short wrong error nobody; do
  for set in cifar10 text; do
    scene "$set: $mode" $mode nobody
    run 3 $set
    says "$set: .* is missing and could not be fetched"
    [ ! -e "$tmp/datasets/$set" ] || fail "leaves something behind"
  done
done
for mode in short wrong; do
  scene "cifar10: a hash that is wrong ($mode)" $mode nobody
  run 3 cifar10
  says "sent wrong bytes (sha256 differs)"
done

mkdir -p "$tmp/damaged"
cp "$packed" "$tmp/damaged/$archive"
printf 'x' | dd of="$tmp/damaged/$archive" bs=1 seek="$packed_half" conv=notrunc 2>/dev/null
for from in "$tmp/damaged" "$tmp/damaged/$archive" "$mirror/wrong/toronto/$archive"; do
  scene "cifar10: a damaged archive, --from $from" good nobody
  run 1 cifar10 --from "$from"
  says "cifar10: no right copy of data_batch_1.bin in .*wrong bytes (sha256 differs)"
  [ ! -e "$photos" ] || fail "leaves something behind"
  requests 0 "^good"
done
scene "cifar10: an archive that holds other files" nobody nobody
mkdir -p "$tmp/other" && cp -r "$cifar" "$tmp/other" && printf x >>"$tmp/other/cifar-10-batches-bin/data_batch_2.bin"
tar -czf "$tmp/other/$archive" -C "$tmp/other" cifar-10-batches-bin
sed -i "s#$(sha256sum <"$packed" | cut -c 1-64)#$(sha256sum <"$tmp/other/$archive" | cut -c 1-64)#" "$tmp/datasets/fetch.sh"
run 1 cifar10 --from "$tmp/other/$archive"
says "holds wrong bytes (sha256 of data_batch_2.bin differs)"

mkdir -p "$tmp/class/cifar10" "$tmp/class/text"
cp "$cifar"/* "$tmp/class/cifar10" && cp "$text"/* "$tmp/class/text" && cp -r "$tmp/class" "$tmp/served/class"
mkdir -p "$tmp/served/packed/cifar10" && cp "$packed" "$tmp/served/packed/cifar10"
for from in "$cifar" "$tmp/class" "$packed" "$tmp/served/toronto" "$tmp/served/packed" "$mirror/good/class" \
  "$mirror/good/toronto/$archive" "$mirror/good/packed"; do
  scene "cifar10 --from $from" nobody nobody
  run 0 cifar10 --from "$from"
  complete "$photos" "$cifar"
done
for class in class packed; do
  scene "cifar10 from TINYMP_MIRROR, $class" nobody nobody
  TINYMP_MIRROR=$mirror/good/$class run 0 cifar10
  complete "$photos" "$cifar"
done
scene "cifar10: TINYMP_MIRROR first, then the public archive" good nobody
TINYMP_MIRROR=$mirror/wrong/class run 0 cifar10
requests 1 "^good toronto"
complete "$photos" "$cifar"
scene "cifar10 --from wrong files leaves what is here" nobody nobody
mkdir -p "$photos" "$tmp/bad/cifar10" && cp "$cifar"/* "$photos" && cp "$text/tinyshakespeare.txt" "$tmp/bad/cifar10/data_batch_1.bin"
run 1 cifar10 --from "$tmp/bad" --force
says "cifar10: no right copy of data_batch_1.bin in .*/bad: holds wrong bytes"
complete "$photos" "$cifar"

scene "text" good nobody
run 0 text
requests 1 "^good karpathy/input.txt 0$"
complete "$tmp/datasets/text" "$text"
run 0 text
says "already here and right"
scene "text resumes" good nobody
mkdir "$tmp/datasets/text" && head -c 5000 "$text/tinyshakespeare.txt" >"$tmp/datasets/text/tinyshakespeare.txt.gz.part"
run 0 text
requests 1 "^good karpathy/input.txt 5000$"
complete "$tmp/datasets/text" "$text"
for from in "$text" "$tmp/class" "$text/tinyshakespeare.txt" "$mirror/good/karpathy/input.txt" "$mirror/good/class"; do
  scene "text --from $from" nobody nobody
  run 0 text --from "$from"
  complete "$tmp/datasets/text" "$text"
done
scene "text and cifar10 at once" good nobody
run 0 text cifar10
complete "$tmp/datasets/text" "$text"
complete "$photos" "$cifar"
run 2 text --from "$tmp/none.txt"
says "no such file (and no URL)"

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
says 'no data set is called "imagenet"; choose mnist, fashion, cifar10 or text'
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
few_tools sha256sum && PATH=$tmp/bin run 3 mnist && says "neither curl nor wget is installed" &&
  says "three ways: install curl (Debian, Ubuntu: sudo apt-get install curl) or wget and run ./learn data mnist again"
scene "no SHA-256" good good
few_tools curl && PATH=$tmp/bin run 3 mnist && says "nothing here can compute SHA-256"

if [ $failures -eq 0 ]; then echo "fetch_test: all passed"; fi
exit $failures
