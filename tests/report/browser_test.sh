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
check still.html '{"mode":"text","curves":0,"panels":7,"requests":0,"errors":[]}'
[ "$(grep -ac '<pre class="still" role="img"' "$folder/dom")" = 7 ] || fail still.html 'a chart of characters is missing'
grep -aq '<div class="controls" hidden' "$folder/dom" || fail still.html 'has controls that control nothing'
if [ "$can_draw" != live ]; then
  echo '[skipped] built without dygraphs: only the still page was opened'
  exit 77
fi
check live.html '{"mode":"dygraphs","curves":27,"panels":7,"requests":0,"errors":[]}'
[ "$(grep -ac '<pre class="still"[^>]* hidden' "$folder/dom")" = 7 ] || fail live.html 'a chart of characters stays behind'

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
exercise() { # FILE SCRIPT
  cat - "$2" >"$folder/exercise.js" <<'SCRIPT'
<script>
addEventListener('load', () => setTimeout(() => {
  const said = [];
  const expect = (what, ok) => said.push((ok ? 'ok ' : 'FAILED ') + what);
  const all = (selector, root) => Array.from((root || document).querySelectorAll(selector));
  const pictures = (root) => all('.live', root).map((live) => live.querySelector('canvas').toDataURL());
  const set = (box, value, event) => { box.type === 'range' ? box.value = value : box.checked = value; box.dispatchEvent(new Event(event)); };
  const key = (target, name, more) => target.dispatchEvent(new KeyboardEvent('keydown', Object.assign({key: name, bubbles: true, cancelable: true}, more)));
  const mouse = (live, type, x, y) => {
    const box = live.getBoundingClientRect();
    (type === 'mousedown' || type === 'hover' ? all('canvas', live)[1] : document).dispatchEvent(new MouseEvent(type === 'hover' ? 'mousemove' : type,
      {bubbles: true, button: 0, clientX: box.left + x, clientY: box.top + y, detail: 1}));
  };
  const tell = () => {
    const hidden = document.createElement('div');
    hidden.id = 'exercised';
    hidden.textContent = said.join(' | ').replace(/[<>&]/g, '?') + ' | errors ' + JSON.stringify(window.tinymp.status.errors);
    document.body.append(hidden);
  };
SCRIPT
  echo 'tell(); }, 300)); </script>' >>"$folder/exercise.js"
  sed -e "/^<\/body>/{r $folder/exercise.js" -e 'N;}' "$folder/$1" >"$folder/exercise.html"
  open_page exercise.html
  [ -z "$(console)" ] || fail "exercise $1" "the console says: $(console)"
  [ -z "$(requests)" ] || fail "exercise $1" "it asked the network for $(requests)"
  said=$(grep -ao 'id="exercised">[^<]*' "$folder/dom")
  echo "$said" | tr '|' '\n'
  case $said in
    *FAILED* | '') fail "exercise $1" 'a control does not do its work' ;;
    *'errors []') ;;
    *) fail "exercise $1" 'errors while using the controls' ;;
  esac
}

cat >"$folder/controls.js" <<'SCRIPT'
  const section = all('section.question')[1];
  const lives = all('.live', section), first = lives[0];
  const picture = () => pictures(section)[0];
  const labels = () => all('.panel:first-child .dygraph-axis-label', section).map((l) => l.textContent).join();
  const changes = (what, act) => { const before = picture(); act(); expect(what, picture() !== before); };
  const original = picture(), others = pictures(section).join();
  changes('hiding a curve', () => set(section.querySelector('.chips input'), false, 'change'));
  expect('in every panel that has it', pictures(section)[1] !== others.split(',data').map((t, i) => (i ? 'data' : '') + t)[1]);
  changes('showing it again', () => set(section.querySelector('.chips input'), true, 'change'));
  expect('which is the picture from before', pictures(section).join() === others);
  changes('none', () => section.querySelector('.none').click());
  changes('all', () => section.querySelector('.all').click());
  expect('the same again', pictures(section).join() === others);
  changes('smoothing', () => set(section.querySelector('.smooth'), 0.9, 'input'));
  expect('is said', !section.querySelector('.smoothed').hidden && section.querySelector('.weight').textContent === '0.90');
  changes('no smoothing', () => set(section.querySelector('.smooth'), 0, 'input'));
  expect('is said, too', section.querySelector('.smoothed').hidden);
  const linear = labels();
  changes('log scale', () => set(section.querySelector('.log'), true, 'change'));
  expect('log labels ' + labels(), labels() !== linear && labels().includes('0.05'));
  changes('linear scale', () => set(section.querySelector('.log'), false, 'change'));
  expect('linear labels again', labels() === linear);
  changes('zooming', () => { mouse(first, 'mousedown', 300, 100); mouse(first, 'mousemove', 500, 105); mouse(first, 'mouseup', 500, 105); });
  expect('the neighbours follow', pictures(section).every((p, i) => !others.includes(p)));
  changes('reset zoom', () => section.querySelector('.reset').click());
  expect('back to the start', pictures(section).join() === others);
  mouse(first, 'hover', 400, 100);
  const readout = section.querySelector('.readout').textContent;
  expect('reading values: ' + readout, /^step \d+ 0\.\d+/.test(readout));
  const canvas = first.querySelector('canvas');
  const width = () => canvas.getBoundingClientRect().width, wide = width(), seen = picture();
  dispatchEvent(new Event('beforeprint'));
  expect('paper is narrower: ' + width(), width() < 700 && picture() !== seen);
  const printed = all('.photograph', section);
  expect('paper has a picture of each chart', printed.length === lives.length && printed.every((p) => p.src.length > 5000));
  dispatchEvent(new Event('afterprint'));
  expect('a screen has none', all('.photograph').length === 0);
  expect('a screen is not: ' + width(), width() === wide && canvas.width === wide * devicePixelRatio);
SCRIPT
exercise live.html "$folder/controls.js"

# A training with everything: one cursor in all panels, the keyboard, findings, maps.
cat >"$folder/cursor.js" <<'SCRIPT'
  const section = all('section.question')[0], panels = section.querySelector('.panels');
  const titles = all('.panel strong').map((t) => t.textContent);
  for (const title of ['Training loss', 'Validation loss', 'Validation accuracy (%)', 'Loss scale S', 'Updates that moved nothing',
    'Gradients flushed to zero', 'Steps skipped so far', 'Norm of the gradients', 'Learning rate'])
    expect('panel ' + title, titles.includes(title));
  const steps = () => all('.readout', section).map((r) => (/^step (\d+)/.exec(r.textContent) || ['', 'none'])[1]);
  const row = (i) => all('.readings tbody tr', section)[i];
  const cell = (i, title) => row(i).children[1 + titles.indexOf(title)].textContent;
  const at = () => section.querySelector('.readings output').textContent;
  expect('at first the last step: ' + at(), at() === 'the last step, 400' && steps().every((s) => s === 'none'));
  mouse(section.querySelector('.live'), 'hover', 500, 100);
  expect('one step in all panels: ' + steps(), new Set(steps()).size === 1 && at() === 'step ' + steps()[0]);
  key(panels, 'Home');
  expect('Home: ' + at(), at() === 'step 1' && cell(0, 'Learning rate') === '0.001' && cell(0, 'Loss scale S') === '1');
  key(panels, 'ArrowRight');
  key(panels, 'ArrowRight', {shiftKey: true});
  expect('arrows: ' + at(), at() === 'step 12' && cell(1, 'Steps skipped so far') === '3');
  key(panels, 'ArrowLeft');
  expect('left: ' + at(), at() === 'step 11');
  key(panels, 'End');
  expect('a loss that is NaN: ' + cell(2, 'Training loss'), cell(2, 'Training loss') === 'not finite');
  expect('S in powers of two: ' + cell(2, 'Loss scale S'), cell(2, 'Loss scale S') === '2\u00b2\u2074');
  const before = pictures(section), box = () => section.querySelector('.cells').getAttribute('viewBox');
  const whole = box(), ticks = section.querySelector('.ticks').textContent;
  key(panels, '+');
  expect('plus zooms every panel', pictures(section).every((p, i) => p !== before[i]));
  expect('and the maps: ' + box(), box() !== whole && section.querySelector('.ticks').textContent !== ticks);
  key(panels, 'Home');
  expect('a cursor off the edge takes the window along: ' + box(), Number(box().split(' ')[0]) === 1);
  key(panels, '-');
  key(panels, '0');
  expect('0 goes back', pictures(section).every((p, i) => p === before[i]) && box() === whole);
  expect('the cursor in a map', !section.querySelector('.cursor-line').hidden);
  key(panels, 'Escape');
  expect('Escape', at() === 'the last step, 400' && section.querySelector('.cursor-line').hidden);
  expect('one stop for Tab', panels.tabIndex === 0 && all('[tabindex]', section).length === 1);
  const flags = all('.flag', section);
  expect('findings in the order of their steps', flags.map((f) => f.firstChild.textContent).join() === '2,1');
  expect('with their sentence', flags[0].getAttribute('aria-label') === 'Finding 2, step 120: ' + all('.finding')[1].lastChild.textContent.trim());
  flags[0].click();
  expect('a finding moves the cursor', at() === 'step 120');
  set(all('.chips input', section)[2], false, 'change');
  expect('hidden in table, maps, findings', row(2).hidden && !row(1).hidden && flags.every((f) => f.hidden) &&
    all('.heat', section).map((h) => h.hidden).join() === 'false,false,true');
  set(all('.chips input', section)[2], true, 'change');
  const loss = cell(0, 'Training loss');
  set(section.querySelector('.smooth'), 0.98, 'input');
  expect('values stay as measured', cell(0, 'Training loss') === loss);
SCRIPT
exercise trained.html "$folder/cursor.js"

# The same training against epochs: cursor and findings go by them, the maps keep their steps.
cat >"$folder/epochs.js" <<'SCRIPT'
  const section = all('section.question')[0], panels = section.querySelector('.panels');
  const data = JSON.parse(document.getElementById('tinymp-data').textContent).sections[0];
  const at = () => section.querySelector('.readings output').textContent;
  expect('epochs: ' + data.x + ' ' + data.steps, data.x === 'epoch' && data.steps > 0 && data.steps < 100);
  expect('the end: ' + at(), at() === 'the end, epoch ' + Number(data.steps.toPrecision(7)));
  const box = () => section.querySelector('.cells').getAttribute('viewBox'), whole = box();
  all('.flag', section)[0].click();
  const found = data.findings.map((f) => f.step).sort((a, b) => a - b)[0];
  expect('a finding at its epoch: ' + at(), found < data.steps && at() === 'epoch ' + Number(found.toPrecision(7)));
  key(panels, '+');
  expect('the maps stay', box() === whole);
  set(all('.chips input', section)[2], false, 'change');
  expect('and hide', all('.heat', section).map((h) => h.hidden).join() === 'false,false,true');
SCRIPT
exercise epochs.html "$folder/epochs.js"

# Sixteen hostile names are text wherever they stand, and nothing else came of them.
cat >"$folder/hostile.js" <<'SCRIPT'
  const data = JSON.parse(document.getElementById('tinymp-data').textContent).sections[0];
  const same = (what, found) => expect(what + ' ' + found.length, found.length === 16 && found.every((text, i) => text === data.names[i]));
  expect('sixteen', new Set(data.names).size === 16 && data.names[14].length === 500);
  same('chips', all('.chips span').map((e) => e.textContent));
  same('summary', all('.summary')[0].querySelectorAll('tbody th span').length === 16 ? all('.summary:first-child tbody th span').slice(0, 16).map((e) => e.textContent) : []);
  same('readings', all('.readings tbody th span').map((e) => e.textContent));
  same('recipes', all('.recipes thead th span').map((e) => e.textContent));
  const sentences = all('.flag .bubble').map((e) => e.textContent);
  expect('findings', sentences.length === 16 && data.names.every((name) => sentences.includes(name + ': ' + name)));
  expect('scripts', all('script').length === 4);
  expect('no element', all('img, iframe, object, embed, form, a, b i, section b:not(.finding b):not(.readout b):not(.glossary b):not(.heat-legend b)').length === 0);
  expect('no handler', all('*').every((e) => Array.from(e.attributes).every((a) => !a.name.startsWith('on'))));
  expect('no control character', !/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/.test(document.body.innerText));
  expect('the widest thing is the window', document.documentElement.scrollWidth <= innerWidth);
  const section = all('section.question')[0];
  for (const box of all('.chips input')) { set(box, false, 'change'); set(box, true, 'change'); }
  set(section.querySelector('.log'), true, 'change');
  set(section.querySelector('.smooth'), 0.5, 'input');
  for (const name of ['Home', 'ArrowRight', '+', '+', 'End', '-', '0']) key(section.querySelector('.panels'), name);
SCRIPT
exercise hostile.html "$folder/hostile.js"
