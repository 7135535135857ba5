// From the data of a panel to the rows that dygraphs draws.
(() => {
  'use strict';
  const {measure, indexBefore, stretches} = window.tinymp;

  // Exponential moving average, freed of its start at zero; a gap stays a gap.
  const smooth = (values, weight) => {
    let sum = 0, norm = 0;
    return values.map((value) => {
      if (!Number.isFinite(value)) return value;
      sum = weight * sum + (1 - weight) * value;
      norm = weight * norm + (1 - weight);
      return sum / norm;
    });
  };

  // dygraphs joins points over null (no line in the log for this step) and breaks the line at NaN (a loss that is not
  // a number). Each value is [lowest, mean, highest] of the seeds, so that dygraphs makes room for the band.
  const rowsOf = (panel, weight) => {
    const rows = new Map();
    panel.series.forEach((series, column) => {
      const values = series.mean.map((value) => measure(panel, value));
      const shown = weight > 0 ? smooth(values, weight) : values;
      const low = series.low || series.mean, high = series.high || series.mean;
      series.step.forEach((step, i) => {
        let row = rows.get(step);
        if (!row) rows.set(step, row = [step].concat(panel.series.map(() => null)));
        row[column + 1] = [measure(panel, low[i]), shown[i], measure(panel, high[i])];
      });
    });
    return Array.from(rows.values()).sort((a, b) => a[0] - b[0]);
  };

  // The index of the point that speaks for a step: of a held quantity the last change, of the others the nearest point.
  // -1 where the next point is farther away than points lie apart.
  const pointAt = (panel, series, step) => {
    const steps = series.step, last = steps.length - 1;
    const room = last > 0 ? (steps[last] - steps[0]) / last : 1;
    if (step < steps[0] - room || step > steps[last] + room) return -1;
    const before = indexBefore(steps, step);
    if (panel.held || before === last) return Math.max(0, before);
    return before >= 0 && step - steps[before] <= steps[before + 1] - step ? before : before + 1;
  };

  // Fills in what the page does not write twice.
  const prepare = (content, panel) => {
    for (const series of panel.series) {
      series.step = content.grids[series.grid];
      series.runs = stretches(panel, series);
    }
    // A logarithm wants positive values, and shares and S have their own axes.
    const positive = (values) => values.every((value) => value === null || value > 0);
    panel.mayBeLog = (panel.scale === 'linear' || panel.scale === 'decades') &&
      panel.series.every((series) => positive(series.low || series.mean));
    panel.maySmooth = !panel.held;
  };

  Object.assign(window.tinymp, {rowsOf, pointAt, prepare});
})();
