import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { chooseTuning, correctRow, figuresOf } from "../../src/tuning/fit/choose.ts";
import {
  fitCorrection,
  objectiveOf,
  parameterCount,
  prepare,
  type TuningRow,
} from "../../src/tuning/fit/fit.ts";
import { minimise } from "../../src/tuning/fit/minimise.ts";
import { seededRandom } from "../support/seeded-random.ts";

const TEMPERATURE = 4;

/** Sum of twelve: nearly normal, with mean 0 and variance 1. */
function normal(next: () => number): number {
  return Array.from({ length: 12 }, next).reduce((sum, one) => sum + one, 0) - 6;
}

/**
 * Rows whose right labels are drawn from the softmax of logits that `trueLogits` makes of the model's.
 *
 * @param size of vectors without information
 */
function syntheticRows(
  count: number,
  trueLogits: (logits: readonly number[], vector: Float32Array) => readonly number[],
  { labels = 3, size = 0, seed = 1 } = {},
): TuningRow[] {
  const { next } = seededRandom(seed);
  return Array.from({ length: count }, (_, at) => {
    const logits = Array.from({ length: labels }, () => 2 * normal(next));
    const vectors = Float32Array.from({ length: labels * size }, () => normal(next));
    const weights = trueLogits(logits, vectors).map(Math.exp);
    let rest = next() * weights.reduce((sum, one) => sum + one, 0);
    const truth = weights.findIndex((weight) => {
      rest -= weight;
      return rest < 0;
    });
    const scores = Float32Array.from(logits, (logit) => 10 + TEMPERATURE * logit);
    const key = String(next());
    return { key: `${key} ${at}`, truth: Math.max(0, truth), scores, ...(size > 0 && { vectors }) };
  });
}

const identity = (logits: readonly number[]) => logits;

describe("minimise", () => {
  it("finds the minimum of a square form whose axes differ a hundredfold", () => {
    const wanted = [3, -2, 0.5, 10];
    const found = minimise((x, gradient) => {
      let value = 0;
      for (const [i, one] of wanted.entries()) {
        const off = (x[i] ?? 0) - one;
        const weight = 10 ** (i - 2);
        value += (weight * off * off) / 2;
        gradient[i] = weight * off;
      }
      return value;
    }, new Float64Array(4));
    for (const [i, one] of wanted.entries())
      assert.ok(Math.abs((found[i] ?? 0) - one) < 0.02, `${i}: ${found[i]}`);
  });
});

describe("the fit of a correction", () => {
  it("has the gradient of its value", () => {
    const rows = syntheticRows(12, identity, { size: 3 });
    const data = prepare(rows, TEMPERATURE, true);
    const objective = objectiveOf(data, { scale: 0.7, head: 0.3 });
    const { next } = seededRandom(5);
    const x = Float64Array.from({ length: parameterCount(data) }, () => next() - 0.5);
    const gradient = new Float64Array(x.length);
    objective(x, gradient);
    const STEP = 1e-5;
    for (let i = 0; i < x.length; i++) {
      const moved = (by: number) => objective(x.with(i, (x[i] ?? 0) + by), new Float64Array(x.length));
      const slope = (moved(STEP) - moved(-STEP)) / (2 * STEP);
      assert.ok(Math.abs(slope - (gradient[i] ?? 0)) < 1e-5, `parameter ${i}: ${slope}, ${gradient[i]}`);
    }
  });

  it("finds the scale and the bias that made the labels", () => {
    const [scale, bias] = [0.5, [1, 0, -1]];
    const rows = syntheticRows(20_000, (logits) => logits.map((logit, l) => scale * logit + (bias[l] ?? 0)));
    const fitted = fitCorrection(rows, TEMPERATURE, { scale: 0.01 });
    for (const [l, wanted] of bias.entries()) {
      assert.ok(Math.abs((fitted.scale[l] ?? 0) - scale) < 0.05, `scale ${fitted.scale}`);
      const own = ((fitted.bias[l] ?? 0) - (fitted.bias[1] ?? 0)) / TEMPERATURE;
      assert.ok(Math.abs(own - wanted) < 0.1, `bias ${fitted.bias}`);
    }
  });

  it("finds the direction in which vectors tell of a label", () => {
    const rows = syntheticRows(
      3_000,
      (logits, vectors) => logits.map((logit, l) => logit + (l === 0 ? 2 * (vectors[1] ?? 0) : 0)),
      { size: 4 },
    );
    const { head } = fitCorrection(rows, TEMPERATURE, { scale: 1, head: 0.1 });
    const [first = [], ...others] = head ?? [];
    assert.ok(Math.abs((first[1] ?? 0) / TEMPERATURE - 2) < 0.4, `${first}`);
    for (const one of [first[0], first[2], first[3], ...others.flat()])
      assert.ok(Math.abs(one ?? 0) / TEMPERATURE < 0.35, `${head}`);
  });

  it("does less the more strongly it is held, down to nothing", () => {
    const rows = syntheticRows(100, (logits) => logits.map((logit, l) => 0.3 * logit + l));
    const moved = [0.1, 10, 1_000, 1e9].map((scale) => {
      const fitted = fitCorrection(rows, TEMPERATURE, { scale });
      const changes = [...fitted.scale.map((one) => one - 1), ...fitted.bias];
      return Math.max(...changes.map(Math.abs));
    });
    assert.deepEqual(
      moved,
      [...moved].sort((a, b) => b - a),
    );
    assert.ok((moved.at(-1) ?? 1) < 1e-4, `${moved}`);
  });

  it("takes scores that do not vary", () => {
    const rows = Array.from({ length: 30 }, (_, at): TuningRow => {
      return { key: `${at}`, truth: at % 3 === 0 ? 1 : 0, scores: Float32Array.of(1, 1) };
    });
    const fitted = fitCorrection(rows, TEMPERATURE, { scale: 0.01 });
    const [no = 0, yes = 0] = correctRow(fitted, rows[0] ?? assert.fail());
    assert.ok(Math.abs(1 / (1 + Math.exp((no - yes) / TEMPERATURE)) - 1 / 3) < 0.01, `${no}, ${yes}`);
  });
});

describe("the choice of a correction", () => {
  const biased = (logits: readonly number[]) => logits.map((logit, l) => 0.4 * logit + 2 * l);

  it("takes a correction that helps, and promises what it does on further rows", () => {
    const choice = chooseTuning(syntheticRows(300, biased), TEMPERATURE, ["scale"]);
    assert.ok(choice.isBetter);
    assert.equal(choice.kind, "scale");
    const further = syntheticRows(3_000, biased, { seed: 9 });
    const { accuracy, log_loss } = figuresOf(
      further,
      further.map((row) => correctRow(choice.fitted, row)),
      TEMPERATURE,
    );
    assert.ok(Math.abs(accuracy - choice.after.accuracy) < 0.06, `${accuracy}, ${choice.after.accuracy}`);
    assert.ok(Math.abs(log_loss - choice.after.log_loss) < 0.1, `${log_loss}, ${choice.after.log_loss}`);
    assert.ok(choice.after.accuracy > choice.before.accuracy + 0.1);
    assert.ok(choice.after.calibration_error < choice.before.calibration_error);
  });

  it("takes a head where vectors know more than scores", () => {
    const known = (logits: readonly number[], vectors: Float32Array) =>
      logits.map((_, l) => 3 * (vectors[l * 4] ?? 0));
    const rows = syntheticRows(300, known, { size: 4 });
    const choice = chooseTuning(rows, TEMPERATURE, ["scale", "head"]);
    assert.deepEqual([choice.kind, choice.isBetter], ["head", true]);
    assert.equal(chooseTuning(rows, TEMPERATURE, ["scale"]).kind, "scale");
  });

  it("takes nothing where the model is right already", () => {
    const kept = Array.from({ length: 20 }, (_, seed) => {
      const rows = syntheticRows(60, identity, { seed, size: 4 });
      return chooseTuning(rows, TEMPERATURE, ["scale", "head"]).isBetter;
    });
    assert.ok(kept.filter(Boolean).length <= 6, `${kept}`);
  });

  it("measures nothing on fewer than 20 states, and says so", () => {
    const [first, ...others] = syntheticRows(20, biased);
    const again = { ...(first ?? assert.fail()), truth: 0 };
    const choice = chooseTuning([again, ...others.slice(1), again], TEMPERATURE, ["scale", "head"]);
    assert.deepEqual([choice.folds, choice.isBetter], [0, false]);
    assert.deepEqual(choice.after, choice.before);
  });

  it("does not depend on the order of the rows", () => {
    const rows = syntheticRows(60, biased, { size: 2 });
    const one = chooseTuning(rows, TEMPERATURE, ["scale", "head"]);
    const other = chooseTuning([...rows].reverse(), TEMPERATURE, ["scale", "head"]);
    assert.equal(one.kind, other.kind);
    assert.ok(Math.abs(one.after.log_loss - other.after.log_loss) < 1e-4);
    assert.equal(one.after.accuracy, other.after.accuracy);
  });
});
