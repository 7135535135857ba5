// One chart, drawn by dygraphs.
(() => {
  'use strict';
  const {css, text, trimmed, styleOf, colourOf, rowsOf, valueTicks, marker, underlay, crosses, foundLines} = window.tinymp;
  const markerSpacing = 90;  // pixels

  // The line, and markers on it at regular places, shifted from curve to curve so that one on another still shows.
  const plotterOf = (panel, drawn) => (event) => {
    const column = Number(event.setName.slice(1));
    const curve = panel.series[column].curve;
    window.Dygraph.Plotters.linePlotter(event);
    let next = event.plotArea.x + markerSpacing * (column + 0.5) / panel.series.length;
    for (const point of event.points) {
      if (!Number.isFinite(point.canvasy) || point.yval === null) continue;
      drawn.add(curve);
      if (point.canvasx < next || point.canvasx > event.plotArea.x + event.plotArea.w - 6) continue;
      marker(event.drawingContext, point.canvasx, point.canvasy, curve);
      while (next <= point.canvasx) next += markerSpacing;
    }
  };

  const interaction = (section) => {
    const model = Object.assign({}, window.Dygraph.defaultInteractionModel);
    model.dblclick = () => section.reset();
    for (const touch of ['touchstart', 'touchmove', 'touchend']) delete model[touch];  // a finger scrolls the page
    return model;
  };

  window.tinymp.makePanel = (section, panel, figure) => {
    const drawn = new Set();
    let canvas = null;
    const theme = () => ({
      axisLineColor: css('--line'), gridLineColor: css('--grid'),
      colors: panel.series.map((series) => colourOf(series.curve)),
    });
    const names = panel.series.map((series, i) => 's' + i);  // the curves' own names could be anything
    const dash = (series) => (styleOf(series.curve).dash.length ? styleOf(series.curve).dash : null);
    const still = figure.querySelector('.still'), place = figure.querySelector('.live');
    still.hidden = true;
    place.hidden = false;
    const graph = new window.Dygraph(place, rowsOf(panel, 0), Object.assign(theme(), {
      labels: ['step'].concat(names), legend: 'never', xlabel: section.x, xLabelHeight: 16, axisLabelFontSize: 12,
      strokeWidth: panel.series.length > 20 ? 1.2 : 1.8, customBars: true, connectSeparatedPoints: true,
      stepPlot: panel.held, includeZero: panel.scale === 'share', dateWindow: section.whole.slice(),
      logscale: panel.scale === 'decades', rightGap: 14, yRangePad: 10, highlightCircleSize: 0, gridLineWidth: 1,
      interactionModel: interaction(section), plotter: plotterOf(panel, drawn),
      axes: {
        x: {drawGrid: false, axisLabelFormatter: (value) => trimmed(value, 7)},
        y: {axisLabelWidth: 50, axisLabelFormatter: (value) => text(panel, value, 6), ticker: valueTicks(panel)},
      },
      series: Object.fromEntries(panel.series.map((series, i) => [names[i], {strokePattern: dash(series)}])),
      underlayCallback: (context, area, chart) => {
        canvas = context;
        underlay(context, area, chart, panel, section);
      },
      drawCallback: (chart, first) => {
        foundLines(canvas, chart, section);
        crosses(canvas, chart, panel, section);
        if (!first) section.follow(chart);
      },
    }));
    place.setAttribute('role', 'img');
    place.setAttribute('aria-label', still.getAttribute('aria-label'));
    return {graph, panel, figure, place, drawn, theme};
  };
})();
