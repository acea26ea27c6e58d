// Draws the charts of a report. Runs in the page that bench/report/page.ts writes, after uPlot. The page contains the
// report as JSON.
(() => {
  const report = JSON.parse(document.getElementById("report").textContent);
  const isDark = matchMedia("(prefers-color-scheme: dark)");
  const HEIGHT = 300;
  const charts = [];

  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const color = (i) => css(`--series-${i % 6}`);
  const short = (value) => {
    if (value == null) return "-";
    if (value === 0) return "0";
    const size = Math.abs(value);
    const digits = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
    return value.toLocaleString("en-US", { maximumFractionDigits: digits });
  };

  /** Converts series with separate x values to uPlot's form: one x axis for all. */
  function aligned(series) {
    const xs = [...new Set(series.flatMap(({ points }) => points.map(([x]) => x)))].sort((a, b) => a - b);
    const ys = series.map(({ points }) => {
      const byX = new Map(points);
      return xs.map((x) => byX.get(x) ?? null);
    });
    return [xs, ...ys];
  }

  function axis(label, values) {
    const line = { stroke: css("--grid"), width: 1 };
    const font = "12px system-ui, sans-serif";
    return {
      label,
      values,
      stroke: css("--quiet"),
      font,
      labelFont: font,
      labelSize: 24,
      size: 58,
      grid: line,
      ticks: line,
    };
  }

  /**
   * @param into    id of the place
   * @param series  [{ label, points: [[x, y]], dash }]
   * @param options { x, y: labels; xValues: text of a tick; splits: ticks; isLogX, isLogY }
   */
  function chart(into, series, { x, y, xText = short, splits, isLogX, isLogY }) {
    const place = document.getElementById(into);
    const drawn = series.filter(({ points }) => points.length > 0);
    if (!place || drawn.length === 0) return;
    const data = aligned(drawn);
    const all = drawn.flatMap(({ points }) => points.map(([, value]) => value));
    const [least, most] = [Math.min(...all), Math.max(...all)];
    const room = isLogY ? uPlot.rangeLog(least / 1.2, most * 1.2, 10, false) : [0, most * 1.1];
    const [first, last] = [data[0][0], data[0].at(-1)];
    const margin = isLogX
      ? [first / 1.25, last * 1.25]
      : [first - (last - first) * 0.05, last + (last - first) * 0.05];
    const [low, high] = first === last ? [first * 0.9 - 0.1, last * 1.1 + 0.1] : margin;
    const options = {
      width: place.clientWidth,
      height: HEIGHT,
      scales: {
        x: { time: false, distr: isLogX ? 3 : 1, range: () => [low, high] },
        y: { distr: isLogY ? 3 : 1, range: () => room },
      },
      axes: [
        {
          ...axis(x, (_, ticks) => ticks.map((tick) => (tick == null ? "" : xText(tick)))),
          size: 36,
          ...(splits ? { splits: () => splits, filter: (_, ticks) => ticks } : {}),
        },
        {
          ...axis(y, (_, ticks) => ticks.map((tick) => (tick == null ? "" : short(tick)))),
          ...(isLogY
            ? {
                filter: (_, ticks) =>
                  ticks.map((tick) => (/^[125]/.test(String(tick).replace(/^0\.0*/, "")) ? tick : null)),
              }
            : {}),
        },
      ],
      series: [
        { label: x.split(";")[0], value: (_, value) => (value == null ? "" : xText(value)) },
        ...drawn.map(({ label, dash }, i) => ({
          label,
          stroke: color(i),
          width: 2,
          dash,
          spanGaps: true,
          points: {
            show: true,
            size: 6,
            fill: css("--back"),
            stroke: color(i),
          },
          value: (_, value) => (value == null ? "" : short(value)),
        })),
      ],
    };
    charts.push({ plot: new uPlot(options, data, place), place });
  }

  const server = report.http?.servers ?? [];
  const name = (label, i) => (server.length > 1 ? `${label}, ${server[i].label}` : label);

  /** The number of nines of a percentile (1 for 90 %, 2 for 99 %), a scale that stretches the tail. */
  const nines = (percentile) => -Math.log10(1 - percentile / 100);
  const fromNines = (count) => {
    const percentile = 100 * (1 - 10 ** -count);
    return `${Number(percentile.toFixed(count > 1.9 ? 2 : 0))} %`;
  };

  function draw() {
    for (const { plot } of charts.splice(0)) plot.destroy();
    const curve = ({ latency }) => latency.curve.map(({ percentile, ms }) => [nines(percentile), ms]);
    const closed = server.flatMap((each, i) =>
      each.closed
        .filter(({ callers }) => [1, 8, 64].includes(callers))
        .map((level) => ({
          label: name(`${level.callers} ${level.callers === 1 ? "caller" : "callers"}`, i),
          points: curve(level),
        })),
    );
    const open = server.flatMap((each, i) =>
      each.open.slice(-2).map((level) => ({
        label: name(`${short(level.offered)}/s offered`, i),
        points: curve(level),
        dash: [6, 4],
      })),
    );
    const ticks = [0, nines(50), 1, nines(95), 2, 3, 4];
    chart("latency", [...closed, ...open], {
      x: "percentile",
      y: "milliseconds",
      xText: fromNines,
      splits: ticks,
      isLogY: true,
    });

    chart(
      "throughput",
      server.map((each, i) => ({
        label: name("answers/s", i),
        points: each.closed.map(({ callers, throughput }) => [callers, throughput.value]),
      })),
      { x: "callers", y: "answers per second", isLogX: true, splits: [1, 2, 4, 8, 16, 32, 64] },
    );

    const at = (key) => (each, i) => ({
      label: name(key === "p999" ? "p99.9" : key, i),
      points: each.open
        .filter(({ latency }) => latency[key] != null)
        .map(({ offered, latency }) => [offered, latency[key]]),
    });
    chart(
      "load",
      server.flatMap((each, i) => ["p50", "p90", "p99"].map((key) => at(key)(each, i))),
      {
        x: "offered requests per second",
        y: "milliseconds",
        isLogY: true,
      },
    );
  }

  draw();
  isDark.addEventListener("change", draw);
  addEventListener("resize", () => {
    for (const { plot, place } of charts) plot.setSize({ width: place.clientWidth, height: HEIGHT });
  });
})();
