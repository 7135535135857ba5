// What is drawn into a chart besides dygraphs' lines: markers, crosses, bands, the curve as measured.
(() => {
  'use strict';
  const {css, styleOf, colourOf, data, measure} = window.tinymp;

  const marker = (context, x, y, curve) => {
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
  };

  const cross = (context, x, y, curve) => {
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
  };

  // A line of values [first, end); of a held quantity it goes in stairs.
  const trace = (context, panel, x, y, first, end, back) => {
    const corner = (i, j) => { if (panel.held && j >= first && j < end) context.lineTo(x(back ? j : i), y(back ? i : j)); };
    if (!back) for (let i = first; i < end; ++i) { corner(i, i - 1); context.lineTo(x(i), y(i)); }
    else for (let i = end - 1; i >= first; --i) { corner(i, i + 1); context.lineTo(x(i), y(i)); }
  };

  // Index ranges of a series without gaps: a band or a thin line must not bridge a NaN.
  const stretches = (panel, series) => {
    const runs = [];
    series.mean.forEach((value, i) => {
      if (!Number.isFinite(measure(panel, value))) return;
      const last = runs[runs.length - 1];
      if (last && last[1] === i) last[1] = i + 1;
      else runs.push([i, i + 1]);
    });
    return runs;
  };

  // Under the lines: the spread over the seeds, and, when smoothed, the curve as it was measured.
  const underlay = (context, area, graph, panel, section) => {
    context.save();
    context.beginPath();
    context.rect(area.x, area.y, area.w, area.h);
    context.clip();
    for (const series of panel.series) {
      if (!section.visible[series.curve]) continue;
      const x = (i) => graph.toDomXCoord(series.step[i]);
      const y = (values) => (i) => {
        const at = graph.toDomYCoord(measure(panel, values[i]));
        return Number.isFinite(at) ? at : area.y + area.h;
      };
      context.fillStyle = context.strokeStyle = colourOf(series.curve);
      if (series.low) {
        context.globalAlpha = 0.14;
        for (const [first, end] of series.runs) {
          context.beginPath();
          trace(context, panel, x, y(series.high), first, end, false);
          trace(context, panel, x, y(series.low), first, end, true);
          context.fill();
        }
      }
      if (section.smooths(panel)) {
        context.globalAlpha = 0.35;
        context.lineWidth = 1;
        for (const [first, end] of series.runs) {
          context.beginPath();
          trace(context, panel, x, y(series.mean), first, end, false);
          context.stroke();
        }
      }
    }
    context.restore();
  };

  // Over the lines: where a loss stopped being finite.
  const crosses = (context, graph, panel, section) => {
    const area = graph.getArea();
    for (const series of panel.series) {
      if (!section.visible[series.curve]) continue;
      for (const end of series.ends) {
        const x = Math.max(graph.toDomXCoord(end.step), area.x + 8 * (end.value === null));
        const y = end.value === null ? area.y + 8 : graph.toDomYCoord(end.value);
        const inside = x >= area.x - 1 && x <= area.x + area.w + 1 && y >= area.y - 1 && y <= area.y + area.h + 1;
        if (inside) cross(context, x, y, series.curve);
      }
    }
  };

  // Where something was found; the number beside it is a button of flags.js.
  const foundLines = (context, graph, section) => {
    const area = graph.getArea();
    context.save();
    context.lineWidth = 1;
    context.setLineDash([2, 3]);
    for (const finding of section.findings) {
      const x = Math.round(graph.toDomXCoord(finding.step)) + 0.5;
      if (!section.visible[finding.curve] || x < area.x || x > area.x + area.w + 1) continue;
      context.strokeStyle = colourOf(finding.curve);
      context.beginPath();
      context.moveTo(x, area.y);
      context.lineTo(x, area.y + area.h);
      context.stroke();
    }
    context.restore();
  };

  Object.assign(window.tinymp, {marker, underlay, crosses, foundLines, stretches});
})();
