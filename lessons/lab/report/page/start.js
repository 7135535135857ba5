// What all scripts of the page share. The page is whole without them: each panel holds a chart of characters, which is
// replaced by a live one when dygraphs is part of the page. Each file adds to `tinymp` what the later ones call.
(() => {
  'use strict';
  const status = {mode: 'text', curves: 0, panels: 0, requests: 0, errors: []};
  const tinymp = window.tinymp = {status};
  window.addEventListener('error', (event) => status.errors.push(String(event.message)));
  document.addEventListener('securitypolicyviolation', (event) => status.errors.push('blocked ' + event.blockedURI));

  tinymp.data = JSON.parse(document.getElementById('tinymp-data').textContent);
  tinymp.live = typeof window.Dygraph === 'function';
  tinymp.every = (selector, root) => Array.from((root || document).querySelectorAll(selector));
  tinymp.make = (tag, className, ...content) => {
    const element = document.createElement(tag);
    if (className) element.className = className;
    element.append(...content);  // strings become text, never markup
    return element;
  };

  // ---- colours, dashes, markers: a curve is never told by its colour alone ---------------------------------------
  tinymp.css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  tinymp.styleOf = (curve) => tinymp.data.styles[curve % tinymp.data.styles.length];
  tinymp.colourOf = (curve) => tinymp.css(tinymp.styleOf(curve).colour);

  // ---- numbers ---------------------------------------------------------------------------------------------------
  tinymp.trimmed = (value, digits) => String(Number(value.toPrecision(digits)));
  const superscript = (n) => String(n).replace(/./g, (c) => (c === '-' ? '\u207b' : '\u2070\u00b9\u00b2\u00b3\u2074' +
    '\u2075\u2076\u2077\u2078\u2079').charAt(c === '-' ? 0 : Number(c)));
  tinymp.power = (n) => (Number.isInteger(n) && (n > 16 || n < -4) ? '2' + superscript(n) : tinymp.trimmed(2 ** n, 6));

  // A value as the panel measures it, in words. The S of a panel is drawn as its binary logarithm.
  tinymp.text = (panel, value, digits) => {
    if (panel.scale === 'powers of two') return tinymp.power(value);
    if (panel.scale === 'share') return tinymp.trimmed(100 * value, digits) + ' %';
    return tinymp.trimmed(value, digits);
  };

  // null is what is not finite. An S that came down to 0 lies at the lower edge, at 2^-150.
  tinymp.measure = (panel, value) =>
    value === null ? NaN : panel.scale === 'powers of two' ? Math.log2(Math.max(value, 2 ** -150)) : value;

  // The last index whose step is not beyond `step`; -1 where all are.
  tinymp.indexBefore = (steps, step) => {
    let low = 0, high = steps.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (steps[middle] <= step) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  };
})();
