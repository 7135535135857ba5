#!/usr/bin/env bash
# usage: bash tests/lessons/figures.sh RUNS [LESSON...]
# After results.json were written anew: draws the figures of the chapters from the pages of these runs (RUNS/05_master_weights-*,
# of each lesson the oldest: verify-all makes the honest one first). Wants Chromium.
set -eu
runs=${1:?usage: figures.sh RUNS [LESSON...], where verify-all put its runs}
shift
here=$(cd "$(dirname "$0")/../.." && pwd)
browser=
for name in chromium chromium-browser google-chrome google-chrome-stable; do
  command -v "$name" >/dev/null && browser=$name && break
done
[ -n "$browser" ] || { echo 'figures.sh: wants chromium or google-chrome' >&2 && exit 3; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

page() { # LESSON: the page of its oldest run
  local all=("$runs/$1"-[0-9]*/report.html)
  [ -e "${all[0]}" ] || { echo "figures.sh: $runs has no run of $1" >&2 && exit 1; }
  echo "${all[0]}"
}

look() {
  "$browser" --headless --no-sandbox --hide-scrollbars --window-size=1000,1000 --virtual-time-budget=10000 "$@" 2>/dev/null
}

draw() { # LESSON FIGURE CSS: what the style leaves of the page, without the tables, which the chapters have as text
  local out=$here/lessons/$1/figures/$2
  case " ${wanted:-$1} " in *" $1 "*) ;; *) return 0 ;; esac
  {
    cat "$(page "$1")"
    printf '<style>h1, .lede, .table, .glossary, .tools, .readings, .compared, .memory, .heat-maps, footer, details, .sizes p { display: none !important }
      .page { padding-top: 1px } %s</style>\n' "$3"
    echo '<script>addEventListener("load", () => setTimeout(() =>
      { document.title = "height " + Math.ceil(document.querySelector(".page").getBoundingClientRect().height) }, 2000))</script>'
  } >"$scratch/page.html"
  height=$(look --dump-dom "file://$scratch/page.html" | sed -n 's/.*<title>height \([0-9]*\)<.*/\1/p')
  look --window-size=1000,"$height" --screenshot="$out" "file://$scratch/page.html"
  if command -v pngquant >/dev/null; then pngquant --force --output "$out" 128 "$out"; fi # a third of the bytes
  echo "lessons/$1/figures/$2"
}

hide() { # SELECTOR...
  local IFS=,
  echo "$* { display: none !important }"
}
panels() { # K [PANEL...]: of the K-th question these panels, or all; without its sizes
  local question="section.question:nth-of-type($1)" not=
  shift
  for panel in "$@"; do not+=":not(:nth-of-type($panel))"; done
  hide "section.question:not($question)" .panels-of-sizes "$question ${not:+.panel$not}${not:-.none}"
}
sizes() { # K FIGURE...: of the K-th question these sizes alone
  local question="section.question:nth-of-type($1)" not=
  shift
  for figure in "$@"; do not+=":not(:nth-of-type($figure))"; done
  hide "section.question:not($question)" "$question > *:not(.panels-of-sizes)" "$question .sizes$not"
}

wanted=$*
draw 00_why page.png "$(panels 1)"
draw 01_half page.png "$(hide .panels-of-sizes '.panel:not(:nth-of-type(1))')"
draw 02_matmul page.png "$(panels 1 1)"
draw 03_accumulation page.png "$(panels 1 1)"
draw 03_accumulation cnn.png "$(panels 3 1)"
draw 04_autograd page.png "$(panels 1 1)"
draw 05_master_weights page.png "$(panels 1)"
draw 05_master_weights sizes.png "$(sizes 1 3 4)"
draw 06_loss_scaling page.png "$(panels 1 1 4)"
draw 06_loss_scaling sizes.png "$(sizes 1 1 3)"
draw 07_dynamic_scaling page.png "$(panels 2 1 2)"
draw 08_islands page.png "$(panels 1)"
draw 09_autocast page.png "$(panels 1 1)"
draw 09_autocast levels.png "$(panels 3)"
draw 10_convnet page.png "$(panels 1)"
draw 10_convnet all_fp16.png "$(panels 2)"
draw 11_language_model page.png "$(panels 1 1)"
draw 11_language_model sizes.png "$(sizes 1 2 3)"
draw 12_rounding page.png "$(panels 1 1)"
draw 13_eight_bits page.png "$(panels 4 1)"
draw 13_eight_bits spurious.png "$(panels 5 1 2)"
draw 14_memory page.png "$(panels 2 1)"
draw 14_memory decoder.png "$(panels 1 1)"
