#!/usr/bin/env bash
# Fetches the data sets that do not come with tinymp, and checks them. Runs under bash 3.2 and needs gzip, one of
# sha256sum, shasum and openssl, for CIFAR-10's archive tar, and (for a network) curl or wget. `fetch.sh --help` says
# how to use it.
#
# A file is downloaded to FILE.gz.part, which a later run resumes, and only gets its name once its *unpacked* bytes
# have the right SHA-256: whoever packed it, and however (Debian re-packed Fashion-MNIST), what is read is the same.
# An archive of several files is fetched in the same way, checked as it is, unpacked and removed.
set -u -o pipefail

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd) || exit 1

help() {
  cat <<'END'
./learn data NAME... [--from FOLDER|FILE|URL] [--into FOLDER] [--force]

  mnist     70,000 handwritten digits, 11.6 MB (CC BY-SA 3.0)
  fashion   70,000 pieces of clothing, 30.9 MB (MIT); Debian's package dataset-fashion-mnist is used when installed
  cifar10   60,000 small photographs, 170 MB (no licence stated); its server is slow: interrupt it, go on later
  text      Shakespeare's plays, 1.1 MB (public domain)

  --from FOLDER|URL   take the files (FILE.gz or FILE, or cifar-10-binary.tar.gz) from there only, or from NAME/ below
  --from FILE         ... or this one: cifar-10-binary.tar.gz, tinyshakespeare.txt or a URL that ends so
  --into FOLDER       put them into FOLDER/NAME (else: $TINYMP_DATA/NAME when that is set, or datasets/NAME)
  --force             fetch again what is already here and right

TINYMP_MIRROR=http://SERVER   asked first, for SERVER/NAME/FILE.gz. A classroom needs one copy and, in its datasets/,
                              python3 -m http.server
Exit codes: 0 all here and right, 1 cannot write or wrong bytes, 2 wrong use, 3 could not be had.
END
}

# ---- What there is to fetch -----------------------------------------------------------------------------------------

files_of() {  # NAME
  case "$1" in
    cifar10) echo data_batch_1.bin data_batch_2.bin data_batch_3.bin data_batch_4.bin data_batch_5.bin test_batch.bin ;;
    text) echo tinyshakespeare.txt ;;
    *) echo train-images-idx3-ubyte train-labels-idx1-ubyte t10k-images-idx3-ubyte t10k-labels-idx1-ubyte ;;
  esac
}

count_of() { files_of "$1" | wc -w | tr -d ' '; }

archive_of() {  # NAME: one file that holds them all, where a set is published so
  if [ "$1" = cifar10 ]; then echo cifar-10-binary.tar.gz; fi
}

sum_of() {  # NAME FILE: SHA-256 of the unpacked file, of an archive as it is
  case "$1/$2" in
    cifar10/cifar-10-binary.tar.gz) echo c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd ;;
    cifar10/data_batch_1.bin) echo cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5 ;;
    cifar10/data_batch_2.bin) echo a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed ;;
    cifar10/data_batch_3.bin) echo bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67 ;;
    cifar10/data_batch_4.bin) echo 014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48 ;;
    cifar10/data_batch_5.bin) echo 755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add ;;
    cifar10/test_batch.bin) echo 8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b ;;
    text/tinyshakespeare.txt) echo 86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed ;;
    mnist/train-images-idx3-ubyte) echo ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db ;;
    mnist/train-labels-idx1-ubyte) echo 65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5 ;;
    mnist/t10k-images-idx3-ubyte) echo 0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7 ;;
    mnist/t10k-labels-idx1-ubyte) echo ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2 ;;
    fashion/train-images-idx3-ubyte) echo c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888 ;;
    fashion/train-labels-idx1-ubyte) echo bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9 ;;
    fashion/t10k-images-idx3-ubyte) echo 5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b ;;
    fashion/t10k-labels-idx1-ubyte) echo 0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34 ;;
  esac
}

largest_of() {  # NAME FILE: KB, more than it has, packed or not
  case "$1/$2" in
    text/*) echo 2048 ;;
    *.tar.gz) echo 184320 ;;
    *) echo 65536 ;;
  esac
}

mirrors_of() {  # NAME: where FILE.gz lies, best first; of an archive or a single file its own address
  case "$1" in
    mnist) echo https://ossci-datasets.s3.amazonaws.com/mnist https://storage.googleapis.com/cvdf-datasets/mnist ;;
    fashion) echo http://fashion-mnist.s3-website.eu-central-1.amazonaws.com ;;  # no https there: the sum decides
    cifar10) echo https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz ;;
    text) echo https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/input.txt ;;
  esac
}

system_copy_of() {  # NAME: where a package of the system puts it
  if [ "$1" = fashion ]; then echo /usr/share/datasets/fashion-mnist; fi
}

# ---- Checking -------------------------------------------------------------------------------------------------------

say() { printf '%s\n' "$*"; }
die() {  # CODE MESSAGE
  clear_meter
  printf '%s\n' "$2" >&2
  exit "$1"
}

if command -v sha256sum >/dev/null 2>&1; then
  sha256() { sha256sum | cut -c 1-64; }
elif command -v shasum >/dev/null 2>&1; then
  sha256() { shasum -a 256 | cut -c 1-64; }
elif command -v openssl >/dev/null 2>&1; then
  sha256() { openssl dgst -sha256 -r | cut -c 1-64; }
else
  sha256() { cat >/dev/null; }
fi

is_gzip() { [ "$(dd if="$1" bs=2 count=1 2>/dev/null | od -An -tx1 | tr -d ' \n')" = 1f8b ]; }

unpack() { if is_gzip "$1"; then gzip -dc <"$1" 2>/dev/null; else cat "$1"; fi; }

is_right() {  # PATH SUM
  local found
  [ -s "$1" ] || return 1
  case "$1" in
    *.tar.gz | *.tar.gz.part) found=$(sha256 <"$1") ;;
    *) found=$(unpack "$1" | sha256) ;;
  esac && [ "$found" = "$2" ]
}

size_of() { if [ -f "$1" ]; then wc -c <"$1" | tr -d ' '; else echo 0; fi; }

path_of() {  # FOLDER FILE: FOLDER/FILE or FOLDER/FILE.gz, nothing when neither is there (what the reader does, too)
  if [ -e "$1/$2" ]; then echo "$1/$2"; elif [ -e "$1/$2.gz" ]; then echo "$1/$2.gz"; fi
}

count_in() {  # NAME FOLDER: how many of its files are there, right or wrong
  local n=0 file
  for file in $(files_of "$1"); do if [ -n "$(path_of "$2" "$file")" ]; then n=$((n + 1)); fi; done
  echo "$n"
}

holds_all() { [ "$(count_in "$1" "$2")" -eq "$(count_of "$1")" ]; }  # NAME FOLDER

all_right() {  # NAME FOLDER
  local file path
  for file in $(files_of "$1"); do
    path=$(path_of "$2" "$file")
    [ -n "$path" ] && is_right "$path" "$(sum_of "$1" "$file")" || return 1
  done
}

# ---- Getting one file -----------------------------------------------------------------------------------------------

transfer_pid="" http_code_file="" largest=0
clear_meter() { if [ -t 2 ]; then printf '\r\033[K' >&2; fi; }
interrupted() {
  if [ -n "$transfer_pid" ]; then kill "$transfer_pid" 2>/dev/null; fi
  if [ -n "$http_code_file" ]; then rm -f "$http_code_file"; fi
  die 130 "interrupted; the same command goes on where this one stopped"
}
trap interrupted INT TERM HUP

# transfer URL PART: goes on after what PART already holds. Sets `outcome`: ok, dropped (the connection broke),
# unreachable, refused (then `reason` says what the server answers), norange (it cannot go on from the middle), full,
# endless (PART would hold more than `largest` KB), notool.
transfer() {
  local status code
  if command -v curl >/dev/null 2>&1; then
    http_code_file=$(mktemp "${TMPDIR:-/tmp}/tinymp-fetch.XXXXXX") || die 1 "cannot write to ${TMPDIR:-/tmp}: full or read-only"
    limited curl -fsL --max-redirs 10 --proto-redir =http,https --connect-timeout 10 --speed-limit 1024 --speed-time 30 -C - -w '%{http_code}' -o "$2" "$1" \
      >"$http_code_file" &
    wait_for $! "$2"
    status=$?
    code=$(cat "$http_code_file")
    rm -f "$http_code_file"
    case "$status/$code" in
      0/*) outcome=ok ;;
      23/*) is_full "$2" ;;
      63/*) outcome=endless ;;
      47/*) outcome=refused reason="redirects without end" ;;
      1/*) outcome=refused reason="leads to an address that is neither http nor https" ;;
      22/416 | 33/* | 36/*) outcome=norange ;;
      22/403 | 22/404 | 22/410 | 37/* | 78/*) outcome=refused reason="has no such file" ;;
      22/*) outcome=refused reason="answers HTTP $code" ;;
      18/* | 28/2* | 55/* | 56/* | 92/*) outcome=dropped ;;
      *) outcome=unreachable ;;
    esac
  elif command -v wget >/dev/null 2>&1; then
    http_code_file=$(mktemp "${TMPDIR:-/tmp}/tinymp-fetch.XXXXXX") || die 1 "cannot write to ${TMPDIR:-/tmp}: full or read-only"
    limited wget -nv -S -c --max-redirect=10 -T 20 -t 1 -O "$2" "$1" 2>"$http_code_file" &
    wait_for $! "$2"
    status=$?
    code=$(awk '$1 ~ /^HTTP\// { code = $2 } END { print code }' "$http_code_file")
    rm -f "$http_code_file"
    case "$status/$code" in
      0/*) outcome=ok ;;
      3/*) is_full "$2" ;;
      8/30*) outcome=refused reason="redirects without end" ;;
      8/403 | 8/404 | 8/410) outcome=refused reason="has no such file" ;;
      8/416 | 8/2*) outcome=norange ;; # the whole file, though only its rest was asked for
      8/*) outcome=refused reason="answers HTTP $code" ;;
      *) if [ -s "$2" ]; then outcome=dropped; else outcome=unreachable; fi ;;
    esac
  else
    outcome=notool
  fi
}

limited() {  # COMMAND...: can write no file of more than `largest` KB: then a write fails, as on a full disk
  trap '' XFSZ
  ulimit -f "$largest" 2>/dev/null
  exec "$@"
}
is_full() { if [ "$(size_of "$1")" -ge $((largest * 1024)) ]; then outcome=endless; else outcome=full; fi; }  # PART

wait_for() {  # PID PART: its exit status; meanwhile, on a terminal, how far it is
  transfer_pid=$1
  if [ -t 2 ]; then
    while kill -0 "$1" 2>/dev/null; do
      printf '\r\033[K%s: %s  %d KB' "$set_name" "$(basename -- "$2" .part)" "$(($(size_of "$2") / 1024))" >&2
      sleep 0.2
    done
    clear_meter
  fi
  wait "$1"
  local status=$?
  transfer_pid=""
  return $status
}

cannot_write() {  # FOLDER [REASON]
  local hint=""
  if [ -n "${TINYMP_DATA:-}" ] && [ "$1" = "$TINYMP_DATA/$set_name" ]; then hint=", or unset TINYMP_DATA"; fi
  die 1 "$set_name: cannot write to $1: ${2:-the disk is full or read-only}; free some space or choose another place with --into FOLDER$hint"
}

# from_url URL PART SUM: 0 when PART is right afterwards; else `reason` says why not, and a PART that a later attempt
# can go on with stays.
from_url() {
  local before broken=0
  while [ $broken -lt 5 ]; do
    before=$(size_of "$2")
    if [ "$before" -gt 0 ] && is_right "$2" "$3"; then return 0; fi
    transfer "$1" "$2"
    case $outcome in
      ok)
        if is_right "$2" "$3"; then return 0; fi
        rm -f "$2"
        reason="sent wrong bytes (sha256 differs)"
        broken=$((broken + 1))
        if [ "$before" -eq 0 ]; then wrong_bytes=yes && return 1; fi ;;  # else the older half may be the wrong one
      norange)
        reason="cannot go on from the middle"
        rm -f "$2"
        broken=$((broken + 1))
        if [ "$before" -eq 0 ]; then return 1; fi ;;
      dropped)
        reason="the connection broke after $(size_of "$2") bytes"
        if [ "$(size_of "$2")" -le "$before" ]; then return 1; fi  # a slow server may break off often, but gets on
        if [ "$(size_of "$2")" -lt $((before + 1048576)) ]; then broken=$((broken + 1)); fi ;;
      full) rm -f "$2" && cannot_write "$(dirname -- "$2")" ;;
      endless)
        rm -f "$2"
        reason="sends more than the file has"
        wrong_bytes=yes
        return 1 ;;
      refused) return 1 ;;
      notool) reason="neither curl nor wget is installed" && return 1 ;;
      *) reason="no connection" && unreachable="$unreachable|$source|" && return 1 ;;
    esac
  done
  return 1
}

# from_folder PATH PART SUM
from_folder() {
  local complaint
  if [ ! -f "$1" ]; then
    case "$reason" in *.xz\'*) return 1 ;; esac
    reason="has no such file"
    if [ -f "$1.xz" ]; then reason="has it packed only: xz -dk '$1.xz'"; fi
    return 1
  fi
  if ! complaint=$(cp -- "$1" "$2" 2>&1); then rm -f "$2" && cannot_write "$(dirname -- "$2")" "$complaint"; fi
  if is_right "$2" "$3"; then return 0; fi
  rm -f "$2"
  reason="holds wrong bytes (sha256 differs)"
  wrong_bytes=yes
  return 1
}

from_place() {  # PLACE PART SUM
  case "$1" in
    *://*) from_url "$@" ;;
    *) from_folder "$@" ;;
  esac
}

# candidates NAME FILE SOURCE: the places below SOURCE where FILE may lie
candidates() {
  local base=${3%/} archive
  archive=$(archive_of "$1")
  case "$base" in
    *.tar.gz) if [ "$2" = "$archive" ]; then echo "$base"; fi && return ;;
    *.txt) if [ "$1" = text ]; then echo "$base"; fi && return ;;
  esac
  if [ "$2" = "$archive" ]; then
    if [ -n "$from" ]; then echo "$base/$2"; fi
    echo "$base/$1/$2" && return
  fi
  case " $(mirrors_of "$1") $(system_copy_of "$1") " in
    *" $base "*) echo "$base/$2.gz" && return ;;
  esac
  if [ -n "$from" ]; then printf '%s\n' "$base/$2.gz" "$base/$2"; fi
  printf '%s\n' "$base/$1/$2.gz" "$base/$1/$2"
}

# get_file NAME FILE FOLDER: tries the sources one after another; 0 when FILE is there and right
get_file() {
  local sum part place name source
  sum=$(sum_of "$1" "$2")
  largest=$(largest_of "$1" "$2")
  case "$2" in
    *.tar.gz) part="$3/$2.part" ;;
    *) part="$3/$2.gz.part" ;;
  esac
  reasons=""
  wrong_bytes=no
  { : >>"$part"; } 2>/dev/null || cannot_write "$3"
  for source in "${sources[@]}"; do
    reason="no connection"
    case "$unreachable" in *"|$source|"*) reasons="$reasons; $source: $reason" && continue ;; esac
    while IFS= read -r place; do
      if from_place "$place" "$part" "$sum" </dev/null; then
        name=$2
        case "$2" in
          *.tar.gz) ;;
          *) if is_gzip "$part"; then name=$2.gz; fi ;;
        esac
        mv -f -- "$part" "$3/$name" || cannot_write "$3"
        if [ "$name" = "$2" ]; then rm -f -- "$3/$2.gz"; else rm -f -- "$3/$2"; fi  # one copy, or two could differ
        say "$1: $name, checked, from $source"
        return 0
      fi
      if [ "$reason" != "has no such file" ]; then break; fi
    done <<END
$(candidates "$1" "$2" "$source")
END
    reasons="$reasons; $source: $reason"
  done
  if [ ! -s "$part" ]; then rm -f "$part"; fi
  return 1
}

# get_archive NAME FOLDER: the files of NAME out of their archive; 0 when all of them are there and right
get_archive() {
  local archive scratch="$2/unpacking" file complaint
  archive=$(archive_of "$1")
  if [ -z "$archive" ]; then return 1; fi
  if ! command -v tar >/dev/null 2>&1; then die 3 "$1: nothing here can unpack $archive; install tar"; fi
  if ! is_right "$2/$archive" "$(sum_of "$1" "$archive")"; then get_file "$1" "$archive" "$2" || return 1; fi
  rm -rf -- "$scratch"
  if ! complaint=$(mkdir -- "$scratch" 2>&1 && tar -xzf "$2/$archive" -C "$scratch" 2>&1); then
    rm -rf -- "$scratch"
    cannot_write "$2" "$complaint"
  fi
  for file in $(files_of "$1"); do
    if ! is_right "$scratch"/*/"$file" "$(sum_of "$1" "$file")"; then
      rm -rf -- "$scratch" "${2:?}/$archive"
      reasons="; $archive: holds wrong bytes (sha256 of $file differs)" wrong_bytes=yes
      return 1
    fi
    mv -f -- "$scratch"/*/"$file" "$2/$file" || cannot_write "$2"
    rm -f -- "$2/$file.gz" "$2/$file.gz.part"
  done
  rm -rf -- "$scratch" "${2:?}/$archive"
  unpacked=yes
}

# ---- Getting a set --------------------------------------------------------------------------------------------------

# get NAME FILE FOLDER: FILE, or with the others of NAME out of their archive, which alone is published of some sets
get() {
  if [ -z "$(archive_of "$1")" ]; then get_file "$@" && return || return 1; fi
  if [ -n "$from$mirror" ]; then
    if get_file "$@"; then return 0; fi
    if [ -n "$from" ] && [ "$wrong_bytes" = yes ]; then return 1; fi
  fi
  get_archive "$1" "$3"
}

what_of() {  # NAME: what a folder must hold, in words
  case "$1" in
    cifar10) echo "the six files of cifar10, or cifar-10-binary.tar.gz," ;;
    text) files_of text ;;
    *) echo "the four files of $1" ;;
  esac
}

give_up() {  # NAME FILE
  local package="" code=3 way="connect to a network"
  case $reasons in *"neither curl nor wget"*) way="install curl (Debian, Ubuntu: sudo apt-get install curl) or wget" ;; esac
  if [ "$1" = fashion ]; then package=", or install Debian's package dataset-fashion-mnist"; fi
  if [ -n "$from" ]; then
    if [ "$wrong_bytes" = yes ]; then code=1; fi
    die $code "$1: no right copy of $2 in ${reasons#; }; give --from a folder or URL that holds $(what_of "$1") as published, or leave it out"
  fi
  die 3 "$1: $2 is missing and could not be fetched (${reasons#; }). Mend it one of three ways: $way and run ./learn data $1 again; or copy $(what_of "$1") from another machine and run ./learn data $1 --from FOLDER; or set TINYMP_MIRROR=http://SERVER to a machine that serves them$package"
}

# Where the set belongs: sets `folder`. Returns 0 when it is complete and right already, there or where else it is read.
already_here() {  # NAME
  local root system
  for root in "${roots[@]}"; do
    folder=$root/$1
    if holds_all "$1" "$folder"; then all_right "$1" "$folder" && return 0 || return 1; fi
  done
  folder=${roots[0]}/$1
  system=$(system_copy_of "$1")
  if [ -n "$system" ] && [ -z "$into" ] && [ "$(count_in "$1" "$folder")" -eq 0 ] && all_right "$1" "$system"; then
    folder=$system
    return 0
  fi
  return 1
}

fetch_set() {  # NAME
  local file path complaint made=no unpacked=no
  set_name=$1
  unreachable=""
  if [ "$force" = yes ]; then
    folder=${roots[0]}/$1
  elif [ -z "$from" ] || holds_all "$1" "${roots[0]}/$1"; then
    if already_here "$1"; then say "$1: already here and right, in $folder" && return; fi
  else
    folder=${roots[0]}/$1
  fi
  if [ -n "$from" ]; then
    sources=("$from")
  else
    sources=()
    if [ -n "$mirror" ]; then sources+=("$mirror"); fi
    for path in $(system_copy_of "$1"); do if [ -d "$path" ]; then sources+=("$path"); fi; done
    for path in $(mirrors_of "$1"); do sources+=("$path"); done
  fi
  if [ ! -d "$folder" ]; then made=yes; fi
  complaint=$(mkdir -p -- "$folder" 2>&1) || cannot_write "$folder" "$complaint"
  for file in $(files_of "$1"); do
    if [ $unpacked = yes ]; then break; fi  # all of them are new
    path=$(path_of "$folder" "$file")
    if [ -n "$path" ] && [ "$force" = no ]; then
      if is_right "$path" "$(sum_of "$1" "$file")"; then continue; fi
      say "$1: $path is damaged; fetching it again"
    fi
    if ! get "$1" "$file" "$folder"; then
      if [ $made = yes ]; then rmdir "$folder" 2>/dev/null; fi  # only when empty
      give_up "$1" "$file"
    fi
  done
  say "$1: complete and right, in $folder"
}

# ---- The command line -----------------------------------------------------------------------------------------------

wrong_use() { die 2 "$1; see ./learn data --help"; }

names="" from="" into="" force=no mirror=${TINYMP_MIRROR:-}
while [ $# -gt 0 ]; do
  case "$1" in
    -h | --help) help && exit 0 ;;
    --force) force=yes ;;
    --from | --into)
      if [ $# -lt 2 ] || [ -z "$2" ]; then wrong_use "$1 needs a folder$([ "$1" = --into ] || echo ", file or URL")"; fi
      if [ "$1" = --from ]; then from=$2; else into=$2; fi
      shift ;;
    --from=?*) from=${1#*=} ;;
    --into=?*) into=${1#*=} ;;
    mnist | fashion | cifar10 | text) names="$names $1" ;;
    cut | fashion-mnist-cut) wrong_use "the cut comes with tinymp, in datasets/fashion-mnist-cut: nothing to fetch" ;;
    -*) wrong_use "unknown option $1" ;;
    *) wrong_use "no data set is called \"$1\"; choose mnist, fashion, cifar10 or text" ;;
  esac
  shift
done
if [ -z "$names" ]; then wrong_use "which data set? mnist, fashion, cifar10 or text"; fi
case "$from" in
  "" | *://*) ;;
  *.tar.gz | *.txt) if [ ! -f "$from" ]; then wrong_use "--from $from: no such file (and no URL)"; fi ;;
  *) if [ ! -d "$from" ]; then wrong_use "--from $from: no such folder (and no URL)"; fi ;;
esac
if [ -z "$(printf x | sha256)" ]; then
  die 3 "nothing here can compute SHA-256; install coreutils (sha256sum), perl (shasum) or openssl"
fi
if [ -n "$into" ]; then
  roots=("$into")
elif [ -n "${TINYMP_DATA:-}" ]; then
  roots=("$TINYMP_DATA" "$here")
else
  roots=("$here")
fi
for name in $names; do fetch_set "$name"; done
