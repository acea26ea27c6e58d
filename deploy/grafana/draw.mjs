// The panels of a dashboard as a picture.
const WIDTH = 1440;
const COLUMN = WIDTH / 24;
const ROW = 36;
const COLOURS = ["#3366cc", "#dc6900", "#109618", "#990099", "#0099c6", "#b82e2e", "#888800", "#666666"];
const NOTE =
  "Drawn by deploy/grafana/picture.mjs from the dashboard's queries over a real run; Grafana draws it in its own way.";

/**
 * @param panels those of a Grafana dashboard, each with its lines: name and points [seconds, value]
 * @param range  seconds: start, end, and the step between points
 * @returns SVG
 */
export function drawDashboard(panels, range) {
  const rows = Math.max(...panels.map(({ gridPos: { y, h } }) => y + h));
  const height = rows * ROW + 28;
  const drawn = panels.map((panel) => {
    const { x, y, w, h } = panel.gridPos;
    const size = { width: w * COLUMN - 8, height: h * ROW - 8 };
    const content = panel.type === "stat" ? drawStat(panel, size) : drawLines(panel, size, range);
    const frame = `<rect width="${size.width}" height="${size.height}" rx="3" fill="#fff" stroke="#d0d4da"/>`;
    const title = text(10, 18, panel.title, 'font-weight="600"');
    return `<g transform="translate(${x * COLUMN + 4} ${y * ROW + 4})">${frame}${title}${content}</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12" fill="#24292e">
<title>Panels of the dashboard</title>
<rect width="${WIDTH}" height="${height}" fill="#f4f5f7"/>
${drawn.join("\n")}
${text(8, height - 9, NOTE, 'fill="#57606a"')}
</svg>
`;
}

function drawStat({ lines, fieldConfig, options }, { width, height }) {
  const [{ name, points }] = lines;
  const { unit, decimals } = fieldConfig.defaults;
  const last = decimals === undefined ? points.at(-1)[1] : Number(points.at(-1)[1].toFixed(decimals));
  const isName = options.textMode === "name";
  const value = isName ? name.replace(/@([0-9a-f]{7})[0-9a-f]+/, "@$1") : format(last, unit);
  const fontSize = Math.min(34, (width - 16) / (value.length * 0.56));
  const middle = `text-anchor="middle" font-size="${fontSize.toFixed(1)}"`;
  return text(width / 2, height / 2 + 20, value, middle);
}

function drawLines({ lines, fieldConfig }, { width, height }, { start, end, step }) {
  const { unit, max } = fieldConfig.defaults;
  const box = { left: 62, top: 30, right: width - 12, bottom: height - 58 };
  const values = lines.flatMap(({ points }) => points.map(([, value]) => value));
  const ticks = ticksTo(max ?? Math.max(...values), unit);
  const top = ticks.at(-1);
  const atX = (at) => box.left + ((at - start) / (end - start)) * (box.right - box.left);
  const atY = (value) => box.bottom - (value / top) * (box.bottom - box.top);
  const grid = ticks.map((value) => {
    const y = atY(value).toFixed(1);
    const rule = `<path d="M${box.left} ${y}H${box.right}" stroke="#e4e7eb"/>`;
    return rule + text(box.left - 6, Number(y) + 4, format(value, unit), 'text-anchor="end" font-size="10"');
  });
  const minutes = Math.floor((end - start) / 60);
  const times = Array.from({ length: minutes + 1 }, (_, minute) =>
    text(atX(start + minute * 60), box.bottom + 14, `${minute} min`, 'text-anchor="middle" font-size="10"'),
  );
  const paths = lines.map(({ points }, index) => {
    // a line ends where there was no value
    const isNext = (index) => index > 0 && points[index][0] - points[index - 1][0] < 1.5 * step;
    const steps = points.map(
      ([at, value], index) => `${isNext(index) ? "L" : "M"}${atX(at).toFixed(1)} ${atY(value).toFixed(1)}`,
    );
    return `<path d="${steps.join("")}" fill="none" stroke="${colour(index)}" stroke-width="1.5"/>`;
  });
  return [...grid, ...times, ...paths, legend(lines, box.left, box.right, height - 24)].join("");
}

/** From 0 in round steps past the largest value. */
function ticksTo(largest, unit) {
  const span = largest > 0 ? largest : 1;
  const base = unit === "bytes" ? 2 ** 20 : 1;
  const rough = span / base / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough) * base;
  return Array.from({ length: Math.ceil(span / step - 1e-9) + 1 }, (_, index) => index * step);
}

/** In two rows at most. */
function legend(lines, left, right, top) {
  let [x, y] = [left, top];
  return lines
    .map(({ name }, index) => {
      const width = 26 + name.length * 5.6;
      if (x + width > right && x > left) [x, y] = [left, y + 14];
      const mark = `<rect x="${x.toFixed(1)}" y="${y - 5}" width="10" height="4" fill="${colour(index)}"/>`;
      const item = mark + text(x + 14, y, name, 'font-size="10"');
      x += width;
      return y > top + 14 ? "" : item;
    })
    .join("");
}

const colour = (index) => COLOURS[index % COLOURS.length];

function format(value, unit) {
  if (unit === "bytes") return `${Math.round(value / 2 ** 20)} MiB`;
  if (unit === "percentunit") return `${Math.round(value * 100)} %`;
  if (unit === "s") return value >= 1 ? `${short(value)} s` : `${short(value * 1000)} ms`;
  return unit === "reqps" || unit === "cps" ? `${short(value)}/s` : short(value);
}

function short(value) {
  return Number(value.toPrecision(3)).toLocaleString("en");
}

function text(x, y, content, attributes = "") {
  const safe = content.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return `<text x="${Number(x).toFixed(1)}" y="${Number(y).toFixed(1)}" ${attributes}>${safe}</text>`;
}
