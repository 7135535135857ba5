// Brings the page to life, dresses it for screen, dark screen and paper, and tells tests what was drawn.
(() => {
  'use strict';
  const {data, live, every, make, makeSection, status} = window.tinymp;
  const elements = every('section.question');
  const sections = live ? data.sections.map((content, i) => makeSection(content, elements[i])) : [];
  const everyGraph = (change) => sections.forEach((section) => section.together(change));
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () =>
    everyGraph(({graph, theme}) => graph.updateOptions(theme())));

  // Paper is light and narrower than a screen (page.css), and finer. A canvas that was drawn a moment before it is printed
  // stays white in some browsers; its picture does not.
  const photograph = (place, paper) => {
    every('.photograph', place).forEach((picture) => picture.remove());
    if (!paper) return;
    const canvas = place.querySelector('canvas'), picture = make('img', 'photograph');
    picture.alt = '';
    picture.src = canvas.toDataURL();
    place.append(picture);
  };
  const dressFor = (paper) => {
    document.documentElement.classList.toggle('paper', paper);
    everyGraph(({graph, place, theme}) => {
      graph.updateOptions(Object.assign(theme(), {pixelRatio: paper ? 3 : null}), true);
      graph.resize();
      photograph(place, paper);
    });
  };
  window.addEventListener('beforeprint', () => dressFor(true));
  window.addEventListener('afterprint', () => dressFor(false));
  window.addEventListener('resize', () => setTimeout(() => sections.forEach((section) => section.refresh())));

  const drawnLive = () => sections.reduce((sum, section) =>
    sum + section.panels.reduce((count, panel) => count + panel.drawn.size, 0), 0);
  window.addEventListener('load', () => setTimeout(() => {
    status.mode = live ? 'dygraphs' : 'text';
    status.panels = every('.panel').length;
    status.curves = drawnLive();
    status.requests = performance.getEntriesByType('resource').length;
    const note = document.getElementById('tinymp-status');
    note.textContent = JSON.stringify(status);
    note.dataset.ready = 'yes';
  }));
})();
