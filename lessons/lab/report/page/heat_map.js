// The maps of gradient exponents go along with the charts: same steps, same cursor, same curves hidden. Charts against
// another x have other places than the maps, which then only hide and show.
(() => {
  'use strict';
  const {every, make, trimmed, stepTicks} = window.tinymp;

  const tick = (share, words) => {
    const label = document.createElementNS('http://www.w3.org/2000/svg', 'text');
    for (const [name, value] of [['x', 100 * share + '%'], ['y', '100%'], ['dy', '18'], ['text-anchor', 'middle']])
      label.setAttribute(name, value);
    label.textContent = words;
    return label;
  };

  window.tinymp.addHeatMaps = (section, element) => {
    const maps = every('.heat', element).map((figure) => {
      const plot = figure.querySelector('.heat-plot'), line = make('div', 'cursor-line');
      plot.append(line);
      const cells = figure.querySelector('.cells');
      const rows = Number(cells.getAttribute('viewBox').split(' ')[3]);
      return {figure, plot, line, cells, rows, curve: Number(figure.dataset.curve)};
    });
    if (section.x !== 'step') {
      section.moveMaps = () => maps.forEach(({figure, curve}) => { figure.hidden = !section.visible[curve]; });
      return;
    }
    for (const {plot} of maps) {
      plot.addEventListener('mousemove', (event) => {
        const box = plot.getBoundingClientRect(), [first, last] = section.range();
        section.setCursor(first + (last - first) * (event.clientX - box.left) / box.width);
      });
      plot.addEventListener('mouseleave', () => section.setCursor(null));
    }
    section.moveMaps = () => {
      const [first, last] = section.range();
      for (const {figure, line, cells, rows, curve} of maps) {
        figure.hidden = !section.visible[curve];
        cells.setAttribute('viewBox', [first, 0, last - first, rows].join(' '));
        figure.querySelector('.ticks').replaceChildren(...stepTicks(first, last)
          .map((step) => tick((step - first) / (last - first), trimmed(step, 7))));
        const share = section.cursor === null ? -1 : (section.cursor - first) / (last - first);
        line.hidden = share < 0 || share > 1;
        line.style.left = 100 * share + '%';
      }
    };
  };
})();
