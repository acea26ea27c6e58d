import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { reportQuestion } from "../../src/evaluation/question-report.ts";
import { calibration } from "../../src/evaluation/statistics/calibration.ts";
import { compare, mcnemar } from "../../src/evaluation/statistics/comparison.ts";
import { confusionMatrix, labelReports } from "../../src/evaluation/statistics/confusion.ts";
import { atThreshold, coverageCurve, fitThreshold } from "../../src/evaluation/statistics/coverage.ts";
import { crossValidate } from "../../src/evaluation/statistics/cross-validation.ts";
import type { Judged } from "../../src/evaluation/statistics/judged.ts";
import { proportion, rowsToShow } from "../../src/evaluation/statistics/proportion.ts";

const near = (actual: number | undefined, expected: number, within = 1e-12) =>
  assert.ok(Math.abs((actual ?? Number.NaN) - expected) <= within, `${actual} is not ${expected}`);

/** A row that is right or wrong, with this confidence. */
const judged = (isRight: boolean, confidence: number, key = String(Math.random())): Judged => ({
  key,
  truth: "a",
  predicted: isRight ? "a" : "b",
  confidence,
});

describe("the Wilson interval", () => {
  // Newcombe 1998, table I, method 3
  for (const { right, count, low, high } of [
    { right: 81, count: 263, low: 0.2553, high: 0.3662 },
    { right: 15, count: 148, low: 0.0624, high: 0.1605 },
    { right: 0, count: 20, low: 0, high: 0.1611 },
    { right: 1, count: 29, low: 0.0061, high: 0.1718 },
  ])
    it(`of ${right} in ${count} is the published one`, () => {
      near(proportion(right, count).low, low, 5e-5);
      near(proportion(right, count).high, high, 5e-5);
    });

  it("tells nothing without rows", () => {
    assert.deepEqual(proportion(0, 0), { right: 0, count: 0, share: 0, low: 0, high: 1 });
  });

  it("lies above the target from the least number of rows on, if all are right", () => {
    for (const target of [0.5, 0.9, 0.95, 0.99]) {
      const rows = rowsToShow(target);
      assert.ok(proportion(rows, rows).low >= target);
      assert.ok(proportion(rows - 1, rows - 1).low < target);
    }
    assert.equal(rowsToShow(0.95), 73);
  });
});

describe("the exact McNemar test", () => {
  it("is the two-sided sign test", () => {
    near(mcnemar(0, 3).p, 0.25);
    near(mcnemar(5, 1).p, 14 / 64); // 2 (1 + 6) / 2^6
    near(mcnemar(1, 9).p, 22 / 1024);
    assert.equal(mcnemar(4, 4).p, 1);
    assert.equal(mcnemar(0, 0).p, 1);
  });

  it("holds for many rows", () => {
    near(mcnemar(1000, 1000).p, 1);
    assert.ok(mcnemar(1100, 900).p > 1e-6 && mcnemar(1100, 900).p < 1e-5);
    // the symmetric sum, computed the long way
    let term = 1;
    let tail = 0;
    for (let k = 0; k <= 18; k += 1) {
      tail += term;
      term = (term * (50 - k)) / (k + 1);
    }
    near(mcnemar(32, 18).p, (2 * tail) / 2 ** 50);
  });

  it("counts the rows on which only one is right", () => {
    const [yes, no] = [judged(true, 0.9), judged(false, 0.9)];
    const rows = [
      { first: yes, second: yes },
      { first: no, second: no },
      ...Array.from({ length: 6 }, () => ({ first: no, second: yes })),
    ];
    const { onlyFirst, onlySecond, p, isDifferent, firstAccuracy, secondAccuracy } = compare("q", "r", rows);
    assert.deepEqual(
      [onlyFirst, onlySecond, isDifferent, firstAccuracy.right, secondAccuracy.right],
      [0, 6, true, 1, 7],
    );
    near(p, 2 / 64);
  });
});

describe("labels", () => {
  it("have precision and recall by the confusion matrix", () => {
    const rows = (["aa", "aa", "ab", "ba", "bb", "ca"] as const).map(
      ([truth = "", predicted = ""]): Judged => ({ key: "", truth, predicted, confidence: 1 }),
    );
    const matrix = confusionMatrix(rows, ["a", "b", "c"]);
    assert.deepEqual(matrix, [
      [2, 1, 0],
      [1, 1, 0],
      [1, 0, 0],
    ]);
    assert.deepEqual(labelReports(matrix, ["a", "b", "c"]), [
      { label: "a", rows: 3, answered: 4, precision: 0.5, recall: 2 / 3 },
      { label: "b", rows: 2, answered: 2, precision: 0.5, recall: 0.5 },
      { label: "c", rows: 1, answered: 0, precision: undefined, recall: 0 },
    ]);
  });
});

describe("the calibration error", () => {
  it("is the mean distance of confidence and accuracy, weighted by rows", () => {
    // 0.9 to 1: 4 rows, mean 0.95, right 0.75; 0.6 to 0.7: 1 row, 0.6, right 1
    const rows = [
      judged(true, 0.9),
      judged(true, 1),
      judged(true, 0.95),
      judged(false, 0.95),
      judged(true, 0.6),
    ];
    const { error, bins } = calibration(rows);
    near(error, (4 * 0.2 + 1 * 0.4) / 5);
    assert.deepEqual(
      bins.map(({ rows: count }) => count),
      [0, 0, 0, 0, 0, 0, 1, 0, 0, 4],
    );
  });
});

describe("thresholds", () => {
  const rows = [
    judged(true, 0.9),
    judged(true, 0.8),
    judged(false, 0.7),
    judged(true, 0.7),
    judged(true, 0.6),
    judged(false, 0.5),
  ];

  it("keep equal confidences together", () => {
    assert.deepEqual(
      coverageCurve(rows).map(({ threshold, accuracy: { right, count } }) => [threshold, right, count]),
      [
        [0.9, 1, 1],
        [0.8, 2, 2],
        [0.7, 3, 4],
        [0.6, 4, 5],
        [0.5, 4, 6],
      ],
    );
  });

  it("keep as many rows as the target allows, and have few digits", () => {
    assert.equal(fitThreshold(rows, 0.95), 0.8);
    assert.equal(fitThreshold(rows, 0.8), 0.6); // 4 of 5, though 3 of 4 are fewer
    assert.equal(fitThreshold(rows, 0.6), 0);
    assert.equal(fitThreshold([judged(false, 0.9)], 0.6), undefined);
    assert.equal(fitThreshold([judged(true, 0.71239), judged(false, 0.71231)], 0.9), 0.71235);
    const { coverage, accuracy } = atThreshold(rows, 0.7);
    assert.deepEqual([coverage, accuracy.right, accuracy.count], [4 / 6, 3, 4]);
  });

  it("are checked on rows that they were not fitted to", () => {
    // the threshold of each fold is fitted to the other four: it never sees the wrong answer with 0.99 that it keeps
    const many = Array.from({ length: 20 }, (_, at) =>
      judged(at !== 7, at === 7 ? 0.99 : 0.9, String(at).padStart(2, "0")),
    );
    const heldOut = crossValidate(many, 0.99);
    // rows 2, 7, 12, 17 are a fold: the others, all right, keep everything; elsewhere the wrong answer bars every threshold
    assert.deepEqual([heldOut?.accuracy.right, heldOut?.accuracy.count, heldOut?.coverage], [3, 4, 0.2]);
    assert.deepEqual(crossValidate(many.toReversed(), 0.99), heldOut);
    assert.equal(crossValidate(many.slice(1), 0.99), undefined);
    const repeated = many.map((row) => ({ ...row, key: row.key.slice(1) }));
    assert.equal(crossValidate(repeated, 0.99), undefined, "the same state in two folds");
  });
});

describe("a report", () => {
  const report = (count: number, wrong: number, target = 0.95) =>
    reportQuestion(
      "q",
      Array.from({ length: count }, (_, at) => judged(at >= wrong, 0.5 + at / (2 * count), `${at}`)),
      ["a", "b"],
      target,
    );

  it("says when the rows are too few", () => {
    const { notes, heldOut } = report(12, 0);
    assert.equal(heldOut, undefined);
    assert.match(notes.join("\n"), /Too few rows: 12\. .* 95 % would take 73\./);
    assert.match(notes.join("\n"), /Labels with fewer than 10 rows: b \(0\)/);
    assert.match(notes.join("\n"), /not cross-validated/);
  });

  it("says when the target is out of reach, or reached without statistical confidence", () => {
    assert.match(report(100, 100).notes.join("\n"), /No threshold reaches 95 %/);
    assert.match(report(80, 4).notes.join("\n"), /reached, but not with 95 % confidence|misses 95 %/);
    const { notes, heldOut, chosen } = report(400, 40);
    assert.ok((heldOut?.accuracy.low ?? 0) < (chosen?.accuracy.share ?? 0));
    assert.doesNotMatch(notes.join("\n"), /Too few/);
  });

  it("thins a long curve and keeps its end, but not the table's figures", () => {
    const { curve, steps } = report(1000, 3); // confidences 0.5, 0.5005, ... 0.9995
    assert.deepEqual(
      steps.map(({ threshold, accuracy: { count } }) => [threshold, count]),
      [0, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99].map((one) => [
        one,
        Math.round(one === 0 ? 1000 : 2000 * (1 - one)),
      ]),
    );
    assert.ok(curve.length <= 201);
    assert.equal(curve.at(-1)?.coverage, 1);
  });
});
