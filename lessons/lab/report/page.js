// Draws the panels of a report. The page is whole without this: each panel holds a chart of characters, which is replaced
// here by a live one when dygraphs is part of the page.
(function () {
  'use strict';
  const status = {mode: 'text', curves: 0, panels: 0, requests: 0, errors: []};
  window.tinymp = status;
  window.addEventListener('error', (event) => status.errors.push(String(event.message)));
  document.addEventListener('securitypolicyviolation', (event) => status.errors.push('blocked ' + event.blockedURI));

  const data = JSON.parse(document.getElementById('tinymp-data').textContent);
  const live = typeof window.Dygraph === 'function';
  const every = (selector, root) => Array.from((root || document).querySelectorAll(selector));

  // ---- colours, dashes, markers ----------------------------------------------------------------------------------
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const styleOf = (curve) => data.styles[curve % data.styles.length];
  const colourOf = (curve) => css(styleOf(curve).colour);

  function drawMarker(context, x, y, curve) {
    const style = styleOf(curve);
    const path = new Path2D(style.marker);
    context.save();
    context.translate(x, y);
    context.setLineDash([]);
    context.lineWidth = 1.6;
    context.strokeStyle = colourOf(curve);
    context.fillStyle = style.hollow ? css('--card') : colourOf(curve);
    context.fill(path);
    context.stroke(path);
    context.restore();
  }

  function drawCross(context, x, y, curve) {
    context.save();
    context.translate(x, y);
    context.setLineDash([]);
    context.lineCap = 'round';
    for (const [width, colour] of [[5.5, css('--card')], [2.6, colourOf(curve)]]) {
      context.lineWidth = width;
      context.strokeStyle = colour;
      context.stroke(new Path2D(data.cross));
    }
    context.restore();
  }

  // ---- numbers ---------------------------------------------------------------------------------------------------
  const trimmed = (value, digits) => String(Number(value.toPrecision(digits)));
  const superscript = (n) => String(n).replace(/./g, (c) => (c === '-' ? '\u207b' : '\u2070\u00b9\u00b2\u00b3\u2074' +
    '\u2075\u2076\u2077\u2078\u2079').charAt(c === '-' ? 0 : Number(c)));
  const power = (n) => (Number.isInteger(n) && (n > 16 || n < -4) ? '2' + superscript(n) : trimmed(2 ** n, 6));
  function text(panel, value, digits) {
    if (panel.scale === 'powers of two') return power(value);
    if (panel.scale === 'share') return trimmed(100 * value, digits) + ' %';
    return trimmed(value, digits);
  }

  // ---- data ------------------------------------------------------------------------------------------------------
  // dygraphs joins points over null (no line in the log for this step) and breaks the line at NaN (a loss that is not
  // a number). An S that came down to 0 lies at the lower edge, at 2^-150.
  const measure = (panel, value) =>
    value === null ? NaN : panel.scale === 'powers of two' ? Math.log2(Math.max(value, 2 ** -150)) : value;

  // Exponential moving average, freed of its start at zero; a gap stays a gap.
  function smooth(values, weight) {
    let sum = 0, norm = 0;
    return values.map((value) => {
      if (!Number.isFinite(value)) return value;
      sum = weight * sum + (1 - weight) * value;
      norm = weight * norm + (1 - weight);
      return sum / norm;
    });
  }

  // Each value is [lowest, mean, highest] of the seeds, so that dygraphs makes room for the band.
  function rowsOf(panel, weight) {
    const rows = new Map();
    panel.series.forEach((series, column) => {
      const values = series.mean.map((value) => measure(panel, value));
      const shown = panel.quantity === 'loss' && weight > 0 ? smooth(values, weight) : values;
      series.step.forEach((step, i) => {
        if (!rows.has(step)) rows.set(step, [step].concat(panel.series.map(() => null)));
        const [low, high] = [series.low || series.mean, series.high || series.mean];
        rows.get(step)[column + 1] = [measure(panel, low[i]), shown[i], measure(panel, high[i])];
      });
    });
    return Array.from(rows.values()).sort((a, b) => a[0] - b[0]);
  }

  // ---- one panel -------------------------------------------------------------------------------------------------
  function makePanel(section, panel, figure) {
    const labels = ['step'].concat(panel.series.map((series, i) => 's' + i));  // names could be anything
    const drawn = new Set();
    let canvas = null;

    function plotter(event) {
      const column = Number(event.setName.slice(1));
      const series = panel.series[column];
      const context = event.drawingContext;
      window.Dygraph.Plotters.linePlotter(event);
      let next = event.plotArea.x + 90 * (column + 0.5) / panel.series.length;
      let last = null;
      for (const point of event.points) {
        if (!Number.isFinite(point.canvasy) || point.yval === null) continue;
        last = point;
        if (point.canvasx < next || point.canvasx > event.plotArea.x + event.plotArea.w - 6) continue;
        drawMarker(context, point.canvasx, point.canvasy, series.curve);
        while (next <= point.canvasx) next += 90;
      }
      if (last) drawn.add(series.curve);
    }

    // Under the lines: the spread over the seeds, and, when smoothed, the curve as it was measured.
    function underlay(context, area, graph) {
      canvas = context;
      context.save();
      context.beginPath();
      context.rect(area.x, area.y, area.w, area.h);
      context.clip();
      panel.series.forEach((series) => {
        if (!section.visible[series.curve]) return;
        const x = (i) => graph.toDomXCoord(series.step[i]);
        const y = (values, i) => {
          const at = graph.toDomYCoord(measure(panel, values[i]));
          return Number.isFinite(at) ? at : area.y + area.h;
        };
        context.fillStyle = context.strokeStyle = colourOf(series.curve);
        if (series.low) {
          context.globalAlpha = 0.14;
          for (const [first, end] of series.runs) {
            context.beginPath();
            for (let i = first; i < end; ++i) context.lineTo(x(i), y(series.high, i));
            for (let i = end - 1; i >= first; --i) context.lineTo(x(i), y(series.low, i));
            context.fill();
          }
        }
        if (panel.quantity === 'loss' && section.weight > 0) {
          context.globalAlpha = 0.35;
          context.lineWidth = 1;
          for (const [first, end] of series.runs) {
            context.beginPath();
            for (let i = first; i < end; ++i) context.lineTo(x(i), y(series.mean, i));
            context.stroke();
          }
        }
      });
      context.restore();
    }

    // Over the lines: where a loss stopped being finite.
    function crosses(graph) {
      const area = graph.getArea();
      for (const series of panel.series) {
        if (!section.visible[series.curve]) continue;
        for (const end of series.ends) {
          const x = Math.max(graph.toDomXCoord(end.step), area.x + 8 * (end.value === null));
          const y = end.value === null ? area.y + 8 : graph.toDomYCoord(end.value);
          const inside = x >= area.x - 1 && x <= area.x + area.w + 1 && y >= area.y - 1 && y <= area.y + area.h + 1;
          if (inside) drawCross(canvas, x, y, series.curve);
        }
      }
    }

    const readout = figure.querySelector('.readout');
    function show(step, points) {
      readout.textContent = '';
      if (step === null) return;
      readout.append('step ' + trimmed(step, 7));
      for (const point of points) {
        if (!Number.isFinite(point.yval)) continue;
        const curve = panel.series[Number(point.name.slice(1))].curve;
        const item = document.createElement('b');
        const swatch = figure.closest('section').querySelector('.chips [data-curve="' + curve + '"] .swatch');
        item.append(swatch.cloneNode(true), text(panel, point.yval, 4));
        item.title = section.names[curve];
        readout.append(item);
      }
    }

    // Ticks at 1, 10, 100 ..., and between them where there is room.
    function decadeTicks(low, high, pixels) {
      const first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high));
      const room = pixels / Math.log10(high / low);
      const ticks = [];
      for (let n = first; n <= last; ++n) {
        for (const factor of room > 240 ? [1, 2, 3, 5, 7] : room > 80 ? [1, 2, 5] : [1]) {
          const value = Number((factor * 10 ** n).toPrecision(2));
          if (value >= low && value <= high) ticks.push({v: value, label: trimmed(value, 3)});
        }
      }
      return ticks;
    }

    // Ticks at whole powers of two, 1, 2, 4 ... apart.
    function powerTicks(low, high, pixels) {
      let stride = 1;
      while ((high - low) / stride > Math.max(2, pixels / 34)) stride *= 2;
      const ticks = [];
      for (let n = Math.ceil(low / stride) * stride; n <= high; n += stride) ticks.push({v: n, label: power(n)});
      return ticks;
    }

    const theme = () => ({
      axisLineColor: css('--line'), gridLineColor: css('--grid'),
      colors: panel.series.map((series) => colourOf(series.curve)),
    });
    const model = Object.assign({}, window.Dygraph.defaultInteractionModel);
    model.dblclick = () => section.reset();
    for (const touch of ['touchstart', 'touchmove', 'touchend']) delete model[touch];  // a finger scrolls the page

    const axisY = {axisLabelWidth: 50, axisLabelFormatter: (value) => text(panel, value, 6)};
    axisY.ticker = (low, high, pixels, option, graph, values) =>
      panel.scale === 'powers of two' ? powerTicks(low, high, pixels)
        : option('logscale') ? decadeTicks(low, high, pixels)
        : window.Dygraph.numericTicks(low, high, pixels, option, graph, values);

    const still = figure.querySelector('.still');
    still.hidden = true;
    const place = figure.querySelector('.live');
    place.hidden = false;
    const options = Object.assign(theme(), {
      labels, legend: 'never', xlabel: 'step', xLabelHeight: 16, axisLabelFontSize: 12, strokeWidth: 1.8,
      customBars: true, connectSeparatedPoints: true, stepPlot: panel.quantity === 'scale', includeZero: panel.scale === 'share',
      dateWindow: section.whole.slice(), logscale: panel.scale === 'decades', rightGap: 14, yRangePad: 10,
      highlightCircleSize: 4, gridLineWidth: 1, interactionModel: model, plotter, underlayCallback: underlay,
      axes: {x: {drawGrid: false, axisLabelFormatter: (value) => trimmed(value, 7)}, y: axisY},
      series: Object.fromEntries(panel.series.map((series, i) =>
        ['s' + i, {strokePattern: styleOf(series.curve).dash.length ? styleOf(series.curve).dash : null}])),
      highlightCallback: (event, step, points) => show(step, points),
      unhighlightCallback: () => show(null),
      drawCallback: (graph, first) => {
        crosses(graph);
        if (!first) section.follow(graph);
      },
    });
    const graph = new window.Dygraph(place, rowsOf(panel, 0), options);
    place.setAttribute('role', 'img');
    place.setAttribute('aria-label', still.getAttribute('aria-label'));
    return {graph, panel, drawn, theme};
  }

  // ---- one section -----------------------------------------------------------------------------------------------
  function makeSection(content, element) {
    const section = {
      names: content.names, visible: content.names.map(() => true), weight: 0, whole: [0, 1.002 * content.steps], panels: [],
    };
    let following = false;
    const together = (change) => {
      following = true;
      section.panels.forEach(change);
      following = false;
    };
    // A zoom or a shift of one panel's steps moves its neighbours.
    section.follow = (graph) => {
      if (following) return;
      const range = graph.xAxisRange();
      together((other) => {
        if (other.graph !== graph) other.graph.updateOptions({dateWindow: range.slice()});
      });
    };
    section.reset = () => together(({graph}) =>
      graph.updateOptions({dateWindow: section.whole.slice(), valueRange: null}));

    const figures = every('.panel', element);
    content.panels.forEach((panel, i) => {
      for (const series of panel.series) series.runs = stretches(panel, series);
      section.panels.push(makePanel(section, panel, figures[i]));
    });

    const controls = element.querySelector('.controls');
    if (!controls) return section;
    controls.hidden = false;
    every('.chips input', controls).forEach((box) => box.addEventListener('change', () => {
      const curve = Number(box.closest('label').dataset.curve);
      section.visible[curve] = box.checked;
      together(({graph, panel}) => panel.series.forEach((series, i) => {
        if (series.curve === curve) graph.setVisibility(i, box.checked);
      }));
    }));
    const tools = controls.querySelector('.tools');
    tools.querySelector('.smooth').addEventListener('input', (event) => {
      section.weight = Number(event.target.value);
      together(({graph, panel}) => {
        if (panel.quantity === 'loss') graph.updateOptions({file: rowsOf(panel, section.weight)});
      });
    });
    tools.querySelector('.log').addEventListener('change', (event) => together(({graph, panel}) => {
      if (panel.quantity === 'loss') graph.updateOptions({logscale: event.target.checked, valueRange: null});
    }));
    tools.querySelector('button').addEventListener('click', section.reset);
    return section;
  }

  // Index ranges of a series without gaps: a band or a thin line must not bridge a NaN.
  function stretches(panel, series) {
    const runs = [];
    series.mean.forEach((value, i) => {
      if (!Number.isFinite(measure(panel, value))) return;
      const last = runs[runs.length - 1];
      if (last && last[1] === i) last[1] = i + 1;
      else runs.push([i, i + 1]);
    });
    return runs;
  }

  const elements = every('section.question');
  const sections = live ? data.sections.map((content, i) => makeSection(content, elements[i])) : [];
  const everyGraph = (change) => sections.forEach((section) => section.panels.forEach(change));
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () =>
    everyGraph(({graph, theme}) => graph.updateOptions(theme())));

  // Paper is light and narrower than a screen (page.css), and finer.
  const dressFor = (paper) => {
    document.documentElement.classList.toggle('paper', paper);
    everyGraph(({graph, theme}) => {
      graph.updateOptions(Object.assign(theme(), {pixelRatio: paper ? 3 : null}), true);
      graph.resize();
    });
  };
  window.addEventListener('beforeprint', () => dressFor(true));
  window.addEventListener('afterprint', () => dressFor(false));

  // ---- what was drawn, for tests ---------------------------------------------------------------------------------
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
