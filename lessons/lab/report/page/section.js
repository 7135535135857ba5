// The charts of one question: what is done to one is done to all.
(() => {
  'use strict';
  const {every, rowsOf, prepare, makePanel, addCursor, addFlags, addHeatMaps} = window.tinymp;

  // Zoom and shift of one chart move its neighbours.
  const addZoom = (section) => {
    let following = false;
    section.together = (change) => {
      following = true;
      section.panels.forEach(change);
      following = false;
      section.refresh();
    };
    section.range = () => section.panels[0].graph.xAxisRange();
    section.setRange = (range, source) => section.together(({graph}) => {
      if (graph !== source) graph.updateOptions({dateWindow: range.slice()});
    });
    section.follow = (graph) => {
      if (!following) section.setRange(graph.xAxisRange(), graph);
    };
    section.reset = () => section.together(({graph}) =>
      graph.updateOptions({dateWindow: section.whole.slice(), valueRange: null}));
    // About the cursor, or the middle; never beyond the whole, never closer than two points.
    section.zoom = (factor) => {
      const [first, last] = section.range(), [begin, end] = section.whole;
      const middle = section.cursor === null ? (first + last) / 2 : section.cursor;
      const closest = 2 * (end - begin) / Math.max(2, section.grid.length);
      const wide = Math.min(end - begin, Math.max(closest, (last - first) * factor));
      const from = Math.min(end - wide, Math.max(begin, middle - wide * (middle - first) / (last - first)));
      section.setRange([from, from + wide]);
    };
    // A cursor that walks off the edge takes the window along.
    section.keepInSight = () => {
      const [first, last] = section.range(), at = section.cursor;
      if (at === null || (at >= first && at <= last)) return;
      const by = at < first ? at - first : at - last;
      section.setRange([first + by, last + by]);
    };
  };

  const keys = {
    ArrowLeft: (section, event) => section.moveCursor(event.shiftKey ? -10 : -1),
    ArrowRight: (section, event) => section.moveCursor(event.shiftKey ? 10 : 1),
    Home: (section) => section.moveCursor(-Infinity),
    End: (section) => section.moveCursor(Infinity),
    Escape: (section) => section.setCursor(null),
    '+': (section) => section.zoom(1 / 1.5),
    '=': (section) => section.zoom(1 / 1.5),
    '-': (section) => section.zoom(1.5),
    '0': (section) => section.reset(),
  };

  const addKeys = (section, panels) => {
    panels.tabIndex = 0;
    panels.setAttribute('role', 'group');
    panels.setAttribute('aria-label', 'Charts. Arrow keys move the cursor, plus and minus zoom, 0 goes back.');
    panels.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey || !Object.hasOwn(keys, event.key)) return;
      keys[event.key](section, event);
      section.keepInSight();
      event.preventDefault();
    });
  };

  const addControls = (section, controls) => {
    const show = (curve, shown) => {
      section.visible[curve] = shown;
      return ({graph, panel}) => panel.series.forEach((series, i) => {
        if (series.curve === curve) graph.setVisibility(i, shown);
      });
    };
    const boxes = every('.chips input', controls);
    boxes.forEach((box, curve) =>
      box.addEventListener('change', () => section.together(show(curve, box.checked))));
    const showAll = (shown) => {
      boxes.forEach((box) => { box.checked = shown; });
      section.visible.fill(shown);
      section.together(({graph, panel}) =>
        graph.setVisibility(Object.fromEntries(panel.series.map((series, i) => [i, shown])), shown));
    };
    controls.querySelector('.all').addEventListener('click', () => showAll(true));
    controls.querySelector('.none').addEventListener('click', () => showAll(false));
    controls.querySelector('.smooth').addEventListener('input', (event) => {
      section.weight = Number(event.target.value);
      controls.querySelector('.weight').textContent = section.weight.toFixed(2);
      controls.querySelector('.smoothed').hidden = section.weight === 0;
      section.together(({graph, panel}) => {
        if (panel.maySmooth) graph.updateOptions({file: rowsOf(panel, section.weight)});
      });
    });
    controls.querySelector('.log').addEventListener('change', (event) => section.together(({graph, panel}) => {
      if (panel.mayBeLog) graph.updateOptions({logscale: event.target.checked, valueRange: null});
    }));
    controls.querySelector('.reset').addEventListener('click', section.reset);
  };

  window.tinymp.makeSection = (content, element) => {
    const section = {
      names: content.names, visible: content.names.map(() => true), weight: 0, whole: [0, 1.002 * content.steps],
      findings: content.findings, panels: [], x: content.x,
    };
    section.smooths = (panel) => panel.maySmooth && section.weight > 0;
    let ready = false;
    section.refresh = () => {
      if (ready) [section.readAll, section.placeFlags, section.moveMaps].forEach((draw) => draw());
    };
    addZoom(section);
    const figures = every('.panel', element);
    content.panels.forEach((panel, i) => {
      prepare(content, panel);
      section.panels.push(makePanel(section, panel, figures[i]));
    });
    const controls = element.querySelector('.controls');
    if (!controls) return section;
    controls.hidden = false;
    addControls(section, controls);
    addKeys(section, element.querySelector('.panels'));
    addCursor(section, element);
    addFlags(section);
    addHeatMaps(section, element);
    ready = true;
    section.refresh();
    return section;
  };
})();
