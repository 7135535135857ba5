// Where an axis is labelled.
(() => {
  'use strict';
  const {trimmed, power} = window.tinymp;

  // Ticks at 1, 10, 100 ..., and between them where there is room.
  const decadeTicks = (low, high, pixels) => {
    const first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high));
    const room = pixels / Math.log10(high / low);
    const stride = Math.max(1, Math.ceil(24 / room));
    const ticks = [];
    for (let n = first; n <= last; ++n) {
      if (n % stride !== 0) continue;
      for (const factor of room > 240 ? [1, 2, 3, 5, 7] : room > 80 ? [1, 2, 5] : [1]) {
        const value = Number((factor + 'e' + n));
        if (value >= low && value <= high) ticks.push({v: value, label: trimmed(value, 3)});
      }
    }
    return ticks;
  };

  // Ticks at whole powers of two, 1, 2, 4 ... apart.
  const powerTicks = (low, high, pixels) => {
    let stride = 1;
    while ((high - low) / stride > Math.max(2, pixels / 34)) stride *= 2;
    const ticks = [];
    for (let n = Math.ceil(low / stride) * stride; n <= high; n += stride) ticks.push({v: n, label: power(n)});
    return ticks;
  };

  window.tinymp.valueTicks = (panel) => (low, high, pixels, option, graph, values) =>
    panel.scale === 'powers of two' ? powerTicks(low, high, pixels)
      : option('logscale') ? decadeTicks(low, high, pixels)
      : window.Dygraph.numericTicks(low, high, pixels, option, graph, values);

  // About five round steps, whole ones.
  window.tinymp.stepTicks = (first, last) => {
    let stride = 1;
    for (let i = 0; (last - first) / stride > 6; ++i) stride *= i % 3 === 1 ? 2.5 : 2;
    const ticks = [];
    for (let step = Math.ceil(first / stride) * stride; step <= last; step += stride) ticks.push(step);
    return ticks;
  };
})();
