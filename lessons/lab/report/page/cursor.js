// The cursor: one step, read in all charts of a section at once, and its values in a table.
(() => {
  'use strict';
  const {css, make, text, trimmed, measure, colourOf, pointAt, indexBefore} = window.tinymp;
  const mostDots = 30, mostWords = 6;  // curves: more would hide each other

  // The value of a series at a step in words: as measured, not smoothed; empty where there is none.
  const valueAt = (panel, series, step) => {
    const at = pointAt(panel, series, step);
    if (at < 0) return '';
    const value = measure(panel, series.mean[at]);
    return Number.isFinite(value) ? text(panel, value, 4) : 'not finite';
  };

  const shownSeries = (section, panel) => panel.series.filter((series) => section.visible[series.curve]);

  // A canvas over the chart, which dygraphs knows nothing of.
  const makeLayer = (place) => {
    const layer = make('canvas', 'layer');
    layer.setAttribute('aria-hidden', 'true');
    place.append(layer);
    return layer;
  };

  const cleared = (layer, place) => {
    const ratio = window.devicePixelRatio || 1;
    const width = Math.round(place.clientWidth * ratio), height = Math.round(place.clientHeight * ratio);
    if (layer.width !== width || layer.height !== height) {
      layer.width = width;
      layer.height = height;
    }
    const context = layer.getContext('2d');
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, place.clientWidth, place.clientHeight);
    return context;
  };

  const dot = (context, x, y, curve) => {
    context.beginPath();
    context.arc(x, y, 4, 0, 7);
    context.fillStyle = colourOf(curve);
    context.strokeStyle = css('--card');
    context.lineWidth = 1.5;
    context.fill();
    context.stroke();
  };

  const drawLayer = (section, view) => {
    const context = cleared(view.layer, view.place);
    if (section.cursor === null) return;
    const area = view.graph.getArea(), x = view.graph.toDomXCoord(section.cursor);
    if (x < area.x - 0.5 || x > area.x + area.w + 0.5) return;
    context.strokeStyle = css('--soft');
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(Math.round(x) + 0.5, area.y);
    context.lineTo(Math.round(x) + 0.5, area.y + area.h);
    context.stroke();
    const shown = shownSeries(section, view.panel);
    for (const series of shown.length > mostDots ? [] : shown) {
      const at = pointAt(view.panel, series, section.cursor);
      const value = at < 0 ? NaN : measure(view.panel, series.mean[at]);
      if (!Number.isFinite(value)) continue;
      const place = view.panel.held ? x : view.graph.toDomXCoord(series.step[at]);
      dot(context, place, view.graph.toDomYCoord(value), series.curve);
    }
  };

  const writeReadout = (section, view) => {
    const readout = view.figure.querySelector('.readout');
    readout.textContent = '';
    if (section.cursor === null) return;
    readout.append(section.x + ' ' + trimmed(section.cursor, 7) + ' ');
    const shown = shownSeries(section, view.panel);
    if (shown.length > mostWords) return;
    for (const series of shown) {
      const value = valueAt(view.panel, series, section.cursor);
      if (!value) continue;
      const item = make('b', '', section.swatch(series.curve), value);
      item.title = section.names[series.curve];
      readout.append(item, ' ');
    }
  };

  // A row a curve, a column a chart.
  const makeTable = (section, element) => {
    const box = element.querySelector('.readings');
    const step = make('output');
    const head = make('tr', '', make('th', '', 'curve'));
    for (const {panel} of section.panels) head.append(make('th', 'number', panel.title));
    for (const cell of head.children) cell.scope = 'col';
    const rows = section.names.map((name, curve) => {
      const row = make('tr', '', make('th', '', section.swatch(curve), make('span', '', name)));
      row.firstChild.scope = 'row';
      const cells = section.panels.map(({panel}) => {
        const cell = make('td', 'number');
        row.append(cell);
        return [cell, panel, panel.series.find((series) => series.curve === curve)];
      });
      return {row, cells};
    });
    const table = make('table', '', make('thead', '', head), make('tbody', '', ...rows.map(({row}) => row)));
    box.append(make('h3', '', 'Values at ', step), make('div', 'table card', table));
    box.hidden = false;
    return () => {
      const at = section.cursor === null ? section.grid[section.grid.length - 1] : section.cursor;
      step.textContent = (section.cursor !== null ? section.x + ' ' : section.x === 'step' ? 'the last step, ' : 'the end, ' + section.x + ' ') +
        trimmed(at, 7);
      step.setAttribute('aria-live', 'polite');
      rows.forEach(({row, cells}, curve) => {
        row.hidden = !section.visible[curve];
        for (const [cell, panel, series] of cells) cell.textContent = series ? valueAt(panel, series, at) || '\u2013' : '\u2013';
      });
    };
  };

  // The steps that the cursor can stand on: those of the first chart.
  const gridOf = (panel) => Array.from(new Set(panel.series.flatMap((series) => series.step))).sort((a, b) => a - b);

  const nearest = (grid, step) => {
    const before = indexBefore(grid, step);
    if (before < 0) return 0;
    return before + 1 < grid.length && grid[before + 1] - step < step - grid[before] ? before + 1 : before;
  };

  window.tinymp.addCursor = (section, element) => {
    section.cursor = null;
    section.grid = gridOf(section.panels[0].panel);
    section.swatch = (curve) =>
      element.querySelector('.chips [data-curve="' + curve + '"] .swatch').cloneNode(true);
    for (const view of section.panels) view.layer = makeLayer(view.place);
    const writeTable = makeTable(section, element);
    section.readAll = () => {
      for (const view of section.panels) {
        drawLayer(section, view);
        writeReadout(section, view);
      }
      writeTable();
    };
    section.setCursor = (step) => {
      const next = step === null ? null : section.grid[nearest(section.grid, step)];
      if (next === section.cursor) return;
      section.cursor = next;
      section.refresh();
    };
    section.moveCursor = (points) => {
      const last = section.grid.length - 1;
      const from = section.cursor === null ? (points > 0 ? -1 : last + 1) : nearest(section.grid, section.cursor);
      section.setCursor(section.grid[Math.min(last, Math.max(0, from + points))]);
    };
    for (const view of section.panels) {
      view.place.addEventListener('mousemove', (event) => {
        const x = event.clientX - view.place.getBoundingClientRect().left, area = view.graph.getArea();
        if (x >= area.x && x <= area.x + area.w) section.setCursor(view.graph.toDataXCoord(x));
      });
      view.place.addEventListener('mouseleave', () => section.setCursor(null));
    }
  };
})();
