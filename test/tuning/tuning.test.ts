import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { RenderedQuestion } from "../../src/decisions/request.ts";
import { ServiceError } from "../../src/errors.ts";
import { questionDigest } from "../../src/tuning/question-digest.ts";
import { openTuning } from "../../src/tuning/tuning.ts";
import { readTuning, type TunedQuestion, type TuningFile } from "../../src/tuning/tuning-file.ts";

const MODEL = `example/model@${"0".repeat(40)}`;
const FIGURES = { accuracy: 0.5, calibration_error: 0.1, log_loss: 0.7 };

function question(
  form: RenderedQuestion["form"],
  text: string,
  candidates: Record<string, string>,
): RenderedQuestion {
  return {
    ...(form && { form }),
    question: { text, loc: [] },
    candidates: Object.entries(candidates).map(([label, candidate]) => ({ label, text: candidate, loc: [] })),
  };
}

const INTENT = question("choice", "What is wanted?", {
  refund: "refund: Money back",
  cancel: "cancel: To leave",
});

function tuned(of: RenderedQuestion, more: Partial<TunedQuestion> = {}): TunedQuestion {
  return {
    name: "intent",
    form: "choice",
    question: questionDigest(of),
    kind: "scale",
    labels: ["cancel", "refund"],
    scale: [0.5, 2],
    bias: [3, -1],
    measured: { rows: 40, folds: 5, before: FIGURES, after: FIGURES },
    ...more,
  };
}

const file = (...questions: TunedQuestion[]): TuningFile => ({
  format: "decision-tuning/1",
  model: MODEL,
  precision: "int8",
  questions,
});
const open = (...files: TuningFile[]) =>
  openTuning(
    files.map((one, at) => ({ name: `file-${at}.json`, file: one })),
    { id: MODEL },
  );

const messageOf = (action: () => unknown): string => {
  try {
    action();
  } catch (error) {
    if (error instanceof ServiceError && error.kind === "INVALID_OPTION") return error.message;
    throw error;
  }
  return "nothing was thrown";
};

describe("a tuning", () => {
  it("corrects scores by label, around their mean", () => {
    const matched = open(file(tuned(INTENT))).match([INTENT]) ?? assert.fail();
    const [scores] = matched.correct([Float32Array.of(10, 4)], undefined);
    // mean 7: refund 7 + 2 * 3 - 1, cancel 7 + 0.5 * -3 + 3
    assert.deepEqual([...(scores ?? [])], [12, 8.5]);
  });

  it("adds the head's product with the vector of the label", () => {
    const head = tuned(INTENT, {
      kind: "head",
      head: [
        [1, 0],
        [0.5, -2],
      ],
      scale: [1, 1],
      bias: [0, 0],
    });
    const matched = open(file(head)).match([INTENT]) ?? assert.fail();
    const vectors = Float32Array.of(2, 1, 8, 9); // of refund, of cancel
    const [scores] = matched.correct([Float32Array.of(10, 4)], [vectors]);
    assert.deepEqual([...(scores ?? [])], [10 + 0.5 * 2 - 2 * 1, 4 + 8]);
    for (const wrong of [undefined, [Float32Array.of(1, 2)]])
      assert.throws(() => matched.correct([Float32Array.of(10, 4)], wrong), { kind: "BACKEND_FAILED" });
  });

  it("belongs to a question by what the model reads, not by its name or the order of its labels", () => {
    const tuning = open(file(tuned(INTENT)));
    const turned = { ...INTENT, candidates: [...INTENT.candidates].reverse() };
    const [scores] = tuning.match([turned])?.correct([Float32Array.of(4, 10)], undefined) ?? [];
    assert.deepEqual([...(scores ?? [])], [8.5, 12]);
    const others = [
      { ...INTENT, form: "score" as const },
      question(undefined, "What is wanted?", { refund: "refund: Money back", cancel: "cancel: To leave" }),
      question("choice", "What is wanted", { refund: "refund: Money back", cancel: "cancel: To leave" }),
      question("choice", "What is wanted?", { refund: "refund: Money back", cancel: "cancel: Leaves" }),
      question("choice", "What is wanted?", { money: "refund: Money back", cancel: "cancel: To leave" }),
      question("choice", "What is wanted?", {
        refund: "refund: Money back",
        cancel: "cancel: To leave",
        other: "other",
      }),
    ];
    for (const other of others) assert.equal(tuning.match([other]), undefined);
  });

  it("leaves the other questions of a request as they are, to the same array", () => {
    const other = question("noul", "Angry?", { false: "No", true: "Yes" });
    const matched = open(file(tuned(INTENT))).match([other, INTENT]) ?? assert.fail();
    const raw = [Float32Array.of(1, 2), Float32Array.of(10, 4)];
    const scores = matched.correct(raw, undefined);
    assert.equal(scores[0], raw[0]);
    assert.deepEqual([...(raw[1] ?? [])], [10, 4]);
    assert.equal(matched.ids.length, 1);
    assert.match(matched.ids[0] ?? "", /^[0-9a-f]{16}$/);
  });

  it("has an id that changes with what it does, and with nothing else", () => {
    const idOf = (one: TunedQuestion) => open(file(one)).facts[0]?.id;
    const id = idOf(tuned(INTENT));
    assert.equal(
      idOf(tuned(INTENT, { name: "other", measured: { ...tuned(INTENT).measured, rows: 9 } })),
      id,
    );
    for (const changed of [{ bias: [3, -1.001] }, { scale: [0.5, 2.001] }])
      assert.notEqual(idOf(tuned(INTENT, changed)), id);
  });

  it("is refused for another model, and where a question is tuned twice", () => {
    const other = { ...file(tuned(INTENT)), model: `example/model@${"1".repeat(40)}` };
    assert.equal(
      messageOf(() => open(other)),
      `--tuning: file-0.json belongs to ${other.model}, but the model to serve is ${MODEL}.`,
    );
    assert.match(
      messageOf(() => open(file(tuned(INTENT)), file(tuned(INTENT, { bias: [0, 0] })))),
      /"intent" of file-1.json is tuned twice/,
    );
  });
});

describe("a tuning file", () => {
  const whole = file(tuned(INTENT));
  const read = (value: unknown) =>
    readTuning(typeof value === "string" ? value : JSON.stringify(value), "t.json");
  const [one] = whole.questions;

  it("is read as it was written", () => {
    assert.deepEqual(read(whole), whole);
    const head = file(tuned(INTENT, { kind: "head", head: [[1], [2]] }));
    assert.deepEqual(read(head), head);
  });

  for (const [name, value, wanted] of [
    ["text", "{", /t\.json is not JSON\.$/],
    [
      "another format",
      { ...whole, format: "decision-tuning/2" },
      /has the format "decision-tuning\/2"; this version reads decision-tuning\/1\.$/,
    ],
    ["thresholds", { format: "decision-thresholds/1" }, /t\.json lacks "model" at its top/],
    [
      "a model without a revision",
      { ...whole, model: "example/model" },
      /is wrong at \/model: must match pattern/,
    ],
    ["no questions", { ...whole, questions: [] }, /at \/questions: must NOT have fewer than 1 items/],
    ["an unknown member", { ...whole, extra: 1 }, /has the unknown member "extra" at its top/],
    [
      "texts for numbers",
      file({ ...(one as TunedQuestion), scale: ["1", "2"] as never }),
      /at \/questions\/0\/scale\/0: must be number/,
    ],
    [
      "endless numbers",
      JSON.stringify(whole).replace("0.5,2", "0.5,1e999"),
      /at \/questions\/0\/scale\/1: must be/,
    ],
    [
      "too few numbers",
      file(tuned(INTENT, { bias: [1, 2, 3] })),
      /\/questions\/0 needs as many entries in scale, bias and head as in labels, which has 2/,
    ],
    [
      "a head that its kind does not have",
      file(tuned(INTENT, { head: [[1], [2]] })),
      /of the kind scale must not have a head/,
    ],
    ["a kind without its head", file(tuned(INTENT, { kind: "head" })), /of the kind head must have a head/],
    [
      "rows of different lengths",
      file(tuned(INTENT, { kind: "head", head: [[1], [2, 3]] })),
      /rows of different lengths/,
    ],
    ["labels out of order", file(tuned(INTENT, { labels: ["refund", "cancel"] })), /labels out of order/],
  ] as const)
    it(`with ${name} is refused with what is wrong`, () => {
      assert.match(
        messageOf(() => read(value)),
        wanted,
      );
    });
});
