#!/usr/bin/env bash
# Fetches the data sets that do not come with tinymp, and checks them. Runs under bash 3.2 and needs gzip, one of
# sha256sum, shasum and openssl, and (for a network) curl or wget. `fetch.sh --help` says how to use it.
#
# A file is downloaded to FILE.gz.part, which a later run resumes, and only gets its name once its *unpacked* bytes
# have the right SHA-256: whoever packed it, and however (Debian re-packed Fashion-MNIST), what is read is the same.
set -u -o pipefail

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd) || exit 1
files="train-images-idx3-ubyte train-labels-idx1-ubyte t10k-images-idx3-ubyte t10k-labels-idx1-ubyte"

help() {
  cat <<'END'
./learn data NAME... [--from FOLDER|URL] [--into FOLDER] [--force]

  mnist     70,000 handwritten digits, 11.6 MB (CC BY-SA 3.0)
  fashion   70,000 pieces of clothing, 30.9 MB (MIT); Debian's package dataset-fashion-mnist is used when installed

  --from FOLDER|URL   take the four files (FILE.gz or FILE) from there only, or from NAME/ below it
  --into FOLDER       put them into FOLDER/NAME (else: $TINYMP_DATA/NAME when that is set, or datasets/NAME)
  --force             fetch again what is already here and right

TINYMP_MIRROR=http://SERVER   asked first, for SERVER/NAME/FILE.gz. A classroom needs one copy and, in its datasets/,
                              python3 -m http.server
Exit codes: 0 all here and right, 1 cannot write or wrong bytes, 2 wrong use, 3 could not be had.
END
}

# ---- What there is to fetch -----------------------------------------------------------------------------------------

sum_of() {  # NAME FILE: SHA-256 of the unpacked file
  case "$1/$2" in
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

mirrors_of() {  # NAME: where FILE.gz lies, best first
  case "$1" in
    mnist) echo https://ossci-datasets.s3.amazonaws.com/mnist https://storage.googleapis.com/cvdf-datasets/mnist ;;
    fashion) echo http://fashion-mnist.s3-website.eu-central-1.amazonaws.com ;;  # no https there: the sum decides
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
  [ -s "$1" ] && found=$(unpack "$1" | sha256) && [ "$found" = "$2" ]
}

size_of() { if [ -f "$1" ]; then wc -c <"$1" | tr -d ' '; else echo 0; fi; }

path_of() {  # FOLDER FILE: FOLDER/FILE or FOLDER/FILE.gz, nothing when neither is there (what the reader does, too)
  if [ -e "$1/$2" ]; then echo "$1/$2"; elif [ -e "$1/$2.gz" ]; then echo "$1/$2.gz"; fi
}

count_in() {  # FOLDER: how many of the four files are there, right or wrong
  local n=0 file
  for file in $files; do if [ -n "$(path_of "$1" "$file")" ]; then n=$((n + 1)); fi; done
  echo "$n"
}

all_right() {  # NAME FOLDER
  local file path
  for file in $files; do
    path=$(path_of "$2" "$file")
    [ -n "$path" ] && is_right "$path" "$(sum_of "$1" "$file")" || return 1
  done
}

# ---- Getting one file -----------------------------------------------------------------------------------------------

transfer_pid="" http_code_file=""
clear_meter() { if [ -t 2 ]; then printf '\r\033[K' >&2; fi; }
interrupted() {
  if [ -n "$transfer_pid" ]; then kill "$transfer_pid" 2>/dev/null; fi
  if [ -n "$http_code_file" ]; then rm -f "$http_code_file"; fi
  die 130 "interrupted; the same command goes on where this one stopped"
}
trap interrupted INT TERM HUP

# transfer URL PART: goes on after what PART already holds. Sets `outcome`: ok, dropped (the connection broke),
# unreachable, refused (then `reason` says what the server answers), norange (it cannot go on from the middle), full,
# notool.
transfer() {
  local status code
  if command -v curl >/dev/null 2>&1; then
    http_code_file=$(mktemp "${TMPDIR:-/tmp}/tinymp-fetch.XXXXXX") || die 1 "cannot write to ${TMPDIR:-/tmp}: full or read-only"
    curl -fsL --connect-timeout 10 --speed-limit 1024 --speed-time 30 -C - -w '%{http_code}' -o "$2" "$1" \
      >"$http_code_file" &
    wait_for $! "$2"
    status=$?
    code=$(cat "$http_code_file")
    rm -f "$http_code_file"
    case "$status/$code" in
      0/*) outcome=ok ;;
      23/*) outcome=full ;;
      22/416 | 33/* | 36/*) outcome=norange ;;
      22/403 | 22/404 | 22/410 | 37/* | 78/*) outcome=refused reason="has no such file" ;;
      22/*) outcome=refused reason="answers HTTP $code" ;;
      18/* | 28/2* | 55/* | 56/* | 92/*) outcome=dropped ;;
      *) outcome=unreachable ;;
    esac
  elif command -v wget >/dev/null 2>&1; then
    http_code_file=$(mktemp "${TMPDIR:-/tmp}/tinymp-fetch.XXXXXX") || die 1 "cannot write to ${TMPDIR:-/tmp}: full or read-only"
    wget -nv -S -c -T 20 -t 1 -O "$2" "$1" 2>"$http_code_file" &
    wait_for $! "$2"
    status=$?
    code=$(awk '$1 ~ /^HTTP\// { code = $2 } END { print code }' "$http_code_file")
    rm -f "$http_code_file"
    case "$status/$code" in
      0/*) outcome=ok ;;
      3/*) outcome=full ;;
      8/403 | 8/404 | 8/410) outcome=refused reason="has no such file" ;;
      8/416 | 8/2*) outcome=norange ;; # the whole file, though only its rest was asked for
      8/*) outcome=refused reason="answers HTTP $code" ;;
      *) if [ -s "$2" ]; then outcome=dropped; else outcome=unreachable; fi ;;
    esac
  else
    outcome=notool
  fi
}

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
  local before
  for _ in 1 2 3 4 5; do
    before=$(size_of "$2")
    if [ "$before" -gt 0 ] && is_right "$2" "$3"; then return 0; fi
    transfer "$1" "$2"
    case $outcome in
      ok)
        if is_right "$2" "$3"; then return 0; fi
        rm -f "$2"
        reason="sent wrong bytes (sha256 differs)"
        if [ "$before" -eq 0 ]; then wrong_bytes=yes && return 1; fi ;;  # else the older half may be the wrong one
      norange)
        reason="cannot go on from the middle"
        rm -f "$2"
        if [ "$before" -eq 0 ]; then return 1; fi ;;
      dropped)
        reason="the connection broke after $(size_of "$2") bytes"
        if [ "$(size_of "$2")" -le "$before" ]; then return 1; fi ;;
      full) rm -f "$2" && cannot_write "$(dirname -- "$2")" ;;
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
  if [ ! -f "$1" ]; then reason="has no such file" && return 1; fi
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
  local base=${3%/}
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
  part="$3/$2.gz.part"
  reasons=""
  wrong_bytes=no
  { : >>"$part"; } 2>/dev/null || cannot_write "$3"
  for source in "${sources[@]}"; do
    reason="no connection"
    case "$unreachable" in *"|$source|"*) reasons="$reasons; $source: $reason" && continue ;; esac
    while IFS= read -r place; do
      if from_place "$place" "$part" "$sum" </dev/null; then
        name=$2
        if is_gzip "$part"; then name=$2.gz; fi
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

# ---- Getting a set --------------------------------------------------------------------------------------------------

give_up() {  # NAME FILE
  local package="" code=3
  if [ "$1" = fashion ]; then package=", or install Debian's package dataset-fashion-mnist"; fi
  if [ -n "$from" ]; then
    if [ $wrong_bytes = yes ]; then code=1; fi
    die $code "$1: no right copy of $2 in ${reasons#; }; give --from a folder or URL that holds the four files of $1 as published, or leave it out"
  fi
  die 3 "$1: $2 is missing and could not be fetched (${reasons#; }). Mend it one of three ways: connect to a network and run ./learn data $1 again; or copy the four files from another machine and run ./learn data $1 --from FOLDER; or set TINYMP_MIRROR=http://SERVER to a machine that serves them$package"
}

# Where the set belongs: sets `folder`. Returns 0 when it is complete and right already, there or where else it is read.
already_here() {  # NAME
  local root system
  for root in "${roots[@]}"; do
    folder=$root/$1
    if [ "$(count_in "$folder")" -eq 4 ]; then all_right "$1" "$folder" && return 0 || return 1; fi
  done
  folder=${roots[0]}/$1
  system=$(system_copy_of "$1")
  if [ -n "$system" ] && [ -z "$into" ] && [ "$(count_in "$folder")" -eq 0 ] && all_right "$1" "$system"; then
    folder=$system
    return 0
  fi
  return 1
}

fetch_set() {  # NAME
  local file path complaint made=no
  set_name=$1
  unreachable=""
  if [ "$force" = yes ]; then
    folder=${roots[0]}/$1
  elif [ -z "$from" ] || [ "$(count_in "${roots[0]}/$1")" -eq 4 ]; then
    if already_here "$1"; then say "$1: already here and right, in $folder" && return; fi
  else
    folder=${roots[0]}/$1
  fi
  if [ -n "$from" ]; then
    sources=("$from")
  else
    sources=()
    if [ -n "${TINYMP_MIRROR:-}" ]; then sources+=("$TINYMP_MIRROR"); fi
    for path in $(system_copy_of "$1"); do if [ -d "$path" ]; then sources+=("$path"); fi; done
    for path in $(mirrors_of "$1"); do sources+=("$path"); done
  fi
  if [ ! -d "$folder" ]; then made=yes; fi
  complaint=$(mkdir -p -- "$folder" 2>&1) || cannot_write "$folder" "$complaint"
  for file in $files; do
    path=$(path_of "$folder" "$file")
    if [ -n "$path" ] && [ "$force" = no ]; then
      if is_right "$path" "$(sum_of "$1" "$file")"; then continue; fi
      say "$1: $path is damaged; fetching it again"
    fi
    if ! get_file "$1" "$file" "$folder"; then
      if [ $made = yes ]; then rmdir "$folder" 2>/dev/null; fi  # only when empty
      give_up "$1" "$file"
    fi
  done
  say "$1: complete and right, in $folder"
}

# ---- The command line -----------------------------------------------------------------------------------------------

wrong_use() { die 2 "$1; see ./learn data --help"; }

names="" from="" into="" force=no
while [ $# -gt 0 ]; do
  case "$1" in
    -h | --help) help && exit 0 ;;
    --force) force=yes ;;
    --from | --into)
      if [ $# -lt 2 ] || [ -z "$2" ]; then wrong_use "$1 needs a folder$([ "$1" = --into ] || echo " or URL")"; fi
      if [ "$1" = --from ]; then from=$2; else into=$2; fi
      shift ;;
    --from=?*) from=${1#*=} ;;
    --into=?*) into=${1#*=} ;;
    mnist | fashion) names="$names $1" ;;
    cut | fashion-mnist-cut) wrong_use "the cut comes with tinymp, in datasets/fashion-mnist-cut: nothing to fetch" ;;
    -*) wrong_use "unknown option $1" ;;
    *) wrong_use "no data set is called \"$1\"; choose mnist or fashion" ;;
  esac
  shift
done
if [ -z "$names" ]; then wrong_use "which data set? mnist or fashion"; fi
case "$from" in
  "" | *://*) ;;
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
