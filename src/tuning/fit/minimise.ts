/** Value at `x`; writes the gradient there into `gradient`. */
export type Objective = (x: Float64Array, gradient: Float64Array) => number;

/** Usual number of remembered steps. */
const MEMORY = 10;
const MOST_STEPS = 200;
/** Chosen: a step that gains less than this share of the value changes no figure that is shown. */
const LEAST_GAIN = 1e-6;
/** Share of the expected decrease that a step must reach (Armijo). Usual value. */
const SUFFICIENT = 1e-4;

/**
 * The minimum of a smooth convex function (L-BFGS with backtracking).
 *
 * @param start where the search begins; not changed
 * @see Nocedal and Wright 2006, Numerical Optimization, 7.2
 */
export function minimise(objective: Objective, start: Float64Array): Float64Array {
  let x: Float64Array = start.slice();
  let gradient: Float64Array = new Float64Array(x.length);
  let value = objective(x, gradient);
  const steps: Step[] = [];
  for (let count = 0; count < MOST_STEPS; count++) {
    const direction = descent(gradient, steps);
    const slope = dot(direction, gradient);
    if (!(slope < 0)) break; // at the minimum
    const next = search(objective, { x, value, direction, slope, isFirst: count === 0 });
    if (next === undefined) break; // no better point can be told apart
    remember(steps, difference(next.x, x), difference(next.gradient, gradient));
    const gain = value - next.value;
    ({ x, value, gradient } = next);
    if (gain <= LEAST_GAIN * Math.max(1, Math.abs(value))) break;
  }
  return x;
}

interface Step {
  readonly moved: Float64Array;
  readonly turned: Float64Array; // change of the gradient
  readonly curvature: number; // their product, > 0
}

interface Point {
  readonly x: Float64Array;
  readonly value: number;
  readonly gradient: Float64Array;
}

interface Line extends Omit<Point, "gradient"> {
  readonly direction: Float64Array;
  readonly slope: number;
  readonly isFirst: boolean;
}

/** Halves the step until the value falls enough. */
function search(objective: Objective, { x, value, direction, slope, isFirst }: Line): Point | undefined {
  const gradient = new Float64Array(x.length);
  const first = isFirst ? 1 / Math.max(1, Math.sqrt(dot(direction, direction))) : 1;
  for (let length = first; length > 1e-12; length /= 2) {
    const tried = x.map((one, i) => one + length * (direction[i] as number));
    const found = objective(tried, gradient);
    if (found <= value + SUFFICIENT * length * slope) return { x: tried, value: found, gradient };
  }
  return undefined;
}

/** The direction of descent, by the two-loop recursion. */
function descent(gradient: Float64Array, steps: readonly Step[]): Float64Array {
  const direction = gradient.map((one) => -one);
  const shares: number[] = [];
  for (const { moved, turned, curvature } of [...steps].reverse()) {
    const share = dot(moved, direction) / curvature;
    shares.unshift(share);
    add(direction, turned, -share);
  }
  const last = steps.at(-1);
  if (last) scale(direction, last.curvature / dot(last.turned, last.turned));
  for (const [at, { moved, turned, curvature }] of steps.entries())
    add(direction, moved, (shares[at] ?? 0) - dot(turned, direction) / curvature);
  return direction;
}

function remember(steps: Step[], moved: Float64Array, turned: Float64Array): void {
  const curvature = dot(moved, turned);
  if (curvature <= 1e-12 * dot(turned, turned)) return; // rounding: it would make the direction useless
  steps.push({ moved, turned, curvature });
  if (steps.length > MEMORY) steps.shift();
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number);
  return sum;
}

function add(to: Float64Array, what: Float64Array, times: number): void {
  for (let i = 0; i < to.length; i++) to[i] = (to[i] as number) + times * (what[i] as number);
}

function scale(what: Float64Array, factor: number): void {
  for (let i = 0; i < what.length; i++) what[i] = (what[i] as number) * factor;
}

const difference = (a: Float64Array, b: Float64Array) => a.map((one, i) => one - (b[i] as number));
