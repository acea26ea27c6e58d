/** Style sheet. Text has a contrast of at least 4.5 in both colour schemes. */
const STYLE = `
:root{--ground:#fff;--text:#1c2024;--soft:#5b6570;--line:#d9dee3;--panel:#f5f7f9;--bad:#b3202a;--heat:18 89 168;
--s0:#1259a8;--s1:#b84300;--s2:#0c6f4d;--s3:#8a2fd6;--s4:#8a5a10;--s5:#0b5f74}
@media(prefers-color-scheme:dark){:root{--ground:#14171a;--text:#e6e9ec;--soft:#9aa5b1;--line:#333a42;--panel:#1d2126;--bad:#ff8b8b;--heat:90 150 220;
--s0:#7db8f5;--s1:#ff9a62;--s2:#4cd7a0;--s3:#c99bff;--s4:#f0c05a;--s5:#5fd0e6}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--text);font:16px/1.5 system-ui,sans-serif}
main{max-width:62rem;margin:0 auto;padding:2rem 1rem 4rem}
h1{font-size:1.7rem;margin:0 0 .5rem}
h2{font-size:1.3rem;margin:2.5rem 0 .3rem;border-top:1px solid var(--line);padding-top:1rem}
h3{font-size:1rem;margin:1.5rem 0 .4rem}
p{margin:.3rem 0}
pre{padding:.8rem;overflow-x:auto;background:var(--panel);font-size:.8rem}
.note{border-left:4px solid var(--bad);background:var(--panel);padding:.4rem .8rem}
.bad{color:var(--bad)}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-size:.92em}
th,td{padding:.2rem .7rem;border-bottom:1px solid var(--line);text-align:right;font-variant-numeric:tabular-nums}
th{color:var(--soft);font-weight:600}
th:first-child{text-align:left}
td.heat{background:rgb(var(--heat)/var(--share))}
.plots{display:flex;flex-wrap:wrap;gap:1rem 2rem}
figure{margin:0;max-width:100%}
figcaption{font-weight:600;margin:1rem 0 .3rem}
svg{max-width:100%;height:auto;font:12px system-ui,sans-serif}
svg text{fill:var(--soft)}
.axis{stroke:var(--line);fill:none}
.ideal{stroke:var(--soft);stroke-dasharray:4 4;fill:none}
.curve{stroke:var(--mark);stroke-width:2;fill:none}
.dashed{stroke-dasharray:6 4}
.dot{fill:var(--mark)}
.band{fill:var(--mark);opacity:.18}
.key{color:var(--mark);padding-right:1.2rem}
:root,.s0{--mark:var(--s0)}.s1{--mark:var(--s1)}.s2{--mark:var(--s2)}.s3{--mark:var(--s3)}.s4{--mark:var(--s4)}.s5{--mark:var(--s5)}
`;

/** A self-contained page without scripts. @param body HTML */
export function htmlPage(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="content-security-policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`;
}

/** @param rows of cells as text; the first one of each is its head */
export function htmlTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = rows.map(
    ([first = "", ...rest]) =>
      `<tr><th scope="row">${escaped(first)}</th>${rest.map((cell) => `<td>${escaped(cell)}</td>`).join("")}</tr>`,
  );
  return wideTable(head, lines.join(""));
}

/** @param rows HTML */
export function wideTable(head: readonly string[], rows: string): string {
  const cells = head.map((text) => `<th scope="col">${escaped(text)}</th>`).join("");
  return `<div class="wide"><table><tr>${cells}</tr>${rows}</table></div>`;
}

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
export const escaped = (text: string) => text.replaceAll(/[&<>"]/g, (character) => ESCAPES[character] ?? "");

/** An axis of a plot. */
export interface Axis {
  readonly label: string;
  /** Values with a mark, ascending. The plot reaches from the first to the last. */
  readonly ticks: readonly number[];
  /** Position of a value on a scale that is not linear. */
  readonly scale?: (value: number) => number;
  readonly text?: (value: number) => string;
}

/** Draws in the units of the axes. @returns SVG */
interface Pen {
  line(style: string, points: readonly (readonly [x: number, y: number])[]): string;
  dot(x: number, y: number, radius: number, title: string): string;
}

const HEIGHT = 280;
const EDGE = { left: 48, right: 12, top: 10, bottom: 40 };

/** A picture with axes. @param width in pixels */
export function plot(label: string, x: Axis, y: Axis, width: number, draw: (pen: Pen) => string): string {
  const across = placeOf(x, EDGE.left, width - EDGE.right);
  const up = placeOf(y, HEIGHT - EDGE.bottom, EDGE.top);
  const [left, right] = [EDGE.left, width - EDGE.right];
  const marks = [
    ...y.ticks.map(
      (tick) =>
        `<path class="axis" d="M${left} ${up(tick)}H${right}"/>` +
        `<text x="${left - 6}" y="${up(tick)}" text-anchor="end" dominant-baseline="middle">${textOf(y, tick)}</text>`,
    ),
    ...x.ticks.map(
      (tick) =>
        `<text x="${across(tick)}" y="${HEIGHT - EDGE.bottom + 16}" text-anchor="middle">${textOf(x, tick)}</text>`,
    ),
  ];
  const body = draw({
    line: (style, points) =>
      `<path class="${style}" d="M${points.map(([a, b]) => `${across(a)} ${up(b)}`).join("L")}"/>`,
    dot: (a, b, radius, title) =>
      `<circle class="dot" cx="${across(a)}" cy="${up(b)}" r="${radius}"><title>${escaped(title)}</title></circle>`,
  });
  const middle = (HEIGHT - EDGE.bottom) / 2;
  return `<svg role="img" aria-label="${escaped(label)}" viewBox="0 0 ${width} ${HEIGHT}" width="${width}" height="${HEIGHT}">${marks.join("")}${body}<text x="${(left + right) / 2}" y="${HEIGHT - 6}" text-anchor="middle">${x.label}</text><text x="12" y="${middle}" text-anchor="middle" transform="rotate(-90 12 ${middle})">${y.label}</text></svg>`;
}

const textOf = ({ text = String }: Axis, tick: number) => text(tick);

/** @returns pixels of a value, as text */
function placeOf({ ticks, scale = (value) => value }: Axis, from: number, to: number) {
  const [first, last] = [scale(ticks[0] ?? 0), scale(ticks.at(-1) ?? 1)];
  return (value: number) => (from + ((scale(value) - first) / (last - first)) * (to - from)).toFixed(1);
}
