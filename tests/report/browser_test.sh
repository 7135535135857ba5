#!/usr/bin/env bash
# usage: browser_test.sh SAMPLE_PAGE_PROGRAM
# Opens report pages in a headless browser without a network: no console message, no request, every curve drawn, every
# control works. Exits 77 (skipped) where no browser is installed.
set -u
program=${1:?usage: browser_test.sh SAMPLE_PAGE_PROGRAM}
browser=
for name in chromium chromium-browser google-chrome google-chrome-stable; do
  browser=$(command -v "$name") && break
done
[ -n "$browser" ] || { echo '[skipped] no chromium, chromium-browser or google-chrome' && exit 77; }
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
can_draw=$("$program" "$folder") || exit 1
isolate=
unshare -n true 2>/dev/null && isolate='unshare -n'

open_page() { # FILE: leaves dom, log and net (the browser's record of its network stack) in $folder
  rm -rf "$folder/profile" "$folder/net"
  # shellcheck disable=SC2086
  timeout 120 $isolate "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
    --disable-background-networking --disable-component-update --disable-default-apps --disable-sync \
    --host-resolver-rules='MAP * ~NOTFOUND' --user-data-dir="$folder/profile" --enable-logging=stderr \
    --log-net-log="$folder/net" --window-size=1280,2000 --virtual-time-budget=5000 --dump-dom "file://$folder/$1" \
    >"$folder/dom" 2>"$folder/log"
}
# The browser's own pages (chrome://...) talk too, on a slow machine; those are not ours.
console() { grep -a 'CONSOLE' "$folder/log" | grep -av 'source: chrome[a-z-]*://'; }
requests() { grep -aoE '"url":"(https?|wss?|ftp)://[^"]*example\.invalid[^"]*"' "$folder/net"; }
fail() { echo "$1: $2" && sed -n 1,20p "$folder/log" && exit 1; }

# First, that faults would be seen: a page with one of each.
cat >"$folder/planted.html" <<'PAGE'
<!doctype html><img src="http://example.invalid/planted.png"><script>console.error('planted'); throw 'planted';</script>
PAGE
open_page planted.html
[ -s "$folder/dom" ] || { echo "[skipped] $browser does not start: $(tail -1 "$folder/log")" && exit 77; }
[ "$(console | grep -c planted)" -ge 2 ] || fail planted 'a console message goes unseen'
[ -n "$(requests)" ] || fail planted 'a request goes unseen'

check() { # FILE STATUS
  open_page "$1"
  [ -z "$(console)" ] || fail "$1" "the console says: $(console)"
  [ -z "$(requests)" ] || fail "$1" "it asked the network for $(requests)"
  grep -aqF "data-ready=\"yes\">$2<" "$folder/dom" ||
    fail "$1" "expected $2 but drew $(grep -ao 'id="tinymp-status"[^<]*' "$folder/dom")"
  echo "$1: $2"
}
check still.html '{"mode":"text","curves":0,"panels":6,"requests":0,"errors":[]}'
[ "$(grep -ac '<pre class="still" role="img"' "$folder/dom")" = 6 ] || fail still.html 'a chart of characters is missing'
grep -aq '<div class="controls" hidden' "$folder/dom" || fail still.html 'has controls that control nothing'
if [ "$can_draw" != live ]; then
  echo '[skipped] built without dygraphs: only the still page was opened'
  exit 77
fi
check live.html '{"mode":"dygraphs","curves":22,"panels":6,"requests":0,"errors":[]}'
[ "$(grep -ac '<pre class="still"[^>]* hidden' "$folder/dom")" = 6 ] || fail live.html 'a chart of characters stays behind'

# The axis makes room for the band of the seeds, not for their mean alone.
sed 's/"high":\[[0-9.]*,/"high":[7000,/' "$folder/live.html" >"$folder/band.html"
open_page band.html
labels=$(grep -ao 'dygraph-axis-label-y[^>]*>[^<]*<' "$folder/dom" | grep -c '>6000<')
[ "$labels" -ge 1 ] || fail band.html 'the axis ends below the highest seed'

# An S that came down to 0 leaves the others where they are: its axis has labels from 2^-150 on.
sed 's/\("quantity":"scale"[^}]*"mean":\[\)1,\([^}]*"low":\[\)1,/\10,\20,/' "$folder/live.html" >"$folder/zero.html"
cmp -s "$folder/live.html" "$folder/zero.html" && fail zero.html 'no S became 0'
open_page zero.html
grep -aq 'dygraph-axis-label-y[^>]*>2⁻¹' "$folder/dom" || fail zero.html 'no axis where S is 0'

# Every control, one after another; what it should change is looked at in the page itself.
cat >"$folder/exercise.js" <<'SCRIPT'
<script>
addEventListener('load', () => setTimeout(() => {
  const section = document.querySelectorAll('section.question')[1];
  const said = [];
  const expect = (what, ok) => said.push((ok ? 'ok ' : 'FAILED ') + what);
  const canvas = section.querySelector('.live canvas');
  const picture = () => canvas.toDataURL();
  const labels = () => Array.from(section.querySelectorAll('.panel:first-child .dygraph-axis-label')).map((l) => l.textContent).join();
  const changes = (what, act) => { const before = picture(); act(); expect(what, picture() !== before); };
  const set = (box, value, event) => { box.type === 'range' ? box.value = value : box.checked = value; box.dispatchEvent(new Event(event)); };
  const mouse = (type, x, y) => {
    const box = section.querySelector('.live').getBoundingClientRect();
    (type === 'mousedown' ? section.querySelectorAll('.live canvas')[1] : document).dispatchEvent(new MouseEvent(type,
      {bubbles: true, button: 0, clientX: box.left + x, clientY: box.top + y, detail: 1}));
  };
  const original = picture();
  changes('hiding a curve', () => set(section.querySelector('.chips input'), false, 'change'));
  changes('showing it again', () => set(section.querySelector('.chips input'), true, 'change'));
  expect('which is the picture from before', picture() === original);
  changes('smoothing', () => set(section.querySelector('.smooth'), 0.9, 'input'));
  changes('no smoothing', () => set(section.querySelector('.smooth'), 0, 'input'));
  const linear = labels();
  changes('log scale', () => set(section.querySelector('.log'), true, 'change'));
  expect('log labels ' + labels(), labels() !== linear && labels().includes('0.05'));
  changes('linear scale', () => set(section.querySelector('.log'), false, 'change'));
  expect('linear labels again', labels() === linear);
  const other = () => section.querySelectorAll('.panel')[1].querySelector('.live canvas').toDataURL();
  const neighbour = other();
  changes('zooming', () => { mouse('mousedown', 300, 100); mouse('mousemove', 500, 105); mouse('mouseup', 500, 105); });
  expect('the neighbour follows', other() !== neighbour);
  changes('reset zoom', () => section.querySelector('.tools button').click());
  expect('back to the start', picture() === original && other() === neighbour);
  const box = section.querySelector('.live').getBoundingClientRect();
  section.querySelectorAll('.live canvas')[1].dispatchEvent(new MouseEvent('mousemove',
    {bubbles: true, clientX: box.left + 400, clientY: box.top + 100}));
  const readout = section.querySelector('.readout').textContent;
  expect('reading values: ' + readout, /^step \d+0\.\d+/.test(readout));
  const width = () => canvas.getBoundingClientRect().width, wide = width(), seen = picture();
  dispatchEvent(new Event('beforeprint'));
  expect('paper is narrower: ' + width(), width() < 700 && picture() !== seen);
  dispatchEvent(new Event('afterprint'));
  expect('a screen is not: ' + width(), width() === wide && canvas.width === wide * devicePixelRatio);
  const hidden = document.createElement('div');
  hidden.id = 'exercised';
  hidden.textContent = said.join(' | ') + ' | errors ' + JSON.stringify(window.tinymp.errors);
  document.body.append(hidden);
}, 300));
</script>
SCRIPT
sed -e "/^<\/body>/{r $folder/exercise.js" -e 'N;}' "$folder/live.html" >"$folder/exercise.html"
open_page exercise.html
[ -z "$(console)" ] || fail exercise "the console says: $(console)"
said=$(grep -ao 'id="exercised">[^<]*' "$folder/dom")
echo "$said" | tr '|' '\n'
case $said in
  *FAILED* | '') fail exercise 'a control does not do its work' ;;
  *'errors []') ;;
  *) fail exercise 'errors while using the controls' ;;
esac
