// What was found, marked at its step: a dashed line in each chart (drawing.js), a number on the first one. Hovering over
// the number, or reaching it with the keyboard, shows the sentence; pressing it puts the cursor there.
(() => {
  'use strict';
  const {make} = window.tinymp;
  const height = 20, mostRows = 6;  // pixels; numbers one under another
  const widthOf = (number) => 12 + 8 * String(number).length;

  const makeFlag = (section, finding, number) => {
    const bubble = make('span', 'bubble', finding.text);
    const flag = make('button', 'flag', String(number), bubble);
    flag.type = 'button';
    flag.setAttribute('aria-label', 'Finding ' + number + ', ' + section.x + ' ' + finding.step + ': ' + finding.text);
    flag.addEventListener('click', () => section.setCursor(finding.step));
    return flag;
  };

  window.tinymp.addFlags = (section) => {
    const view = section.panels[0];
    const flags = section.findings
      .map((finding, i) => ({finding, flag: makeFlag(section, finding, i + 1), width: widthOf(i + 1)}))
      .sort((a, b) => a.finding.step - b.finding.step);  // Tab goes from left to right
    view.place.append(...flags.map(({flag}) => flag));
    section.placeFlags = () => {
      const area = view.graph.getArea();
      const ends = [];  // of each row, where the last flag ends
      for (const {finding, flag, width} of flags) {
        const x = view.graph.toDomXCoord(finding.step);
        flag.hidden = !section.visible[finding.curve] || x < area.x - 1 || x > area.x + area.w + 1;
        if (flag.hidden) continue;
        let row = ends.findIndex((end) => x - width / 2 >= end);
        if (row < 0) row = Math.min(ends.length, mostRows - 1);
        ends[row] = x + width / 2 + 2;
        const left = Math.min(x - width / 2, area.x + area.w - width);
        flag.style.width = width + 'px';
        flag.style.left = left + 'px';
        flag.style.top = area.y + 2 + row * (height + 2) + 'px';
        flag.classList.toggle('leftward', left > area.x + area.w / 2);
      }
    };
  };
})();
