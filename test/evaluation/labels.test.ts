import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { jsonlRows } from "../../src/batch/jsonl-rows.ts";
import { ServiceError } from "../../src/errors.ts";
import { askedRow, labelsOf, rowLabels } from "../../src/evaluation/labelled-row.ts";
import { check, readThresholdFile } from "../../src/evaluation/threshold-file.ts";
import { readJson } from "../../src/json/read.ts";
import { isJsonObject } from "../../src/json/value.ts";
import { writeJson } from "../../src/json/write.ts";

const QUESTIONS = await object(`{
  "intent": {"type": "choice", "instructions": "?", "criteria": {"10": "Money", "2": null}},
  "angry": {"type": "noul", "instructions": "?", "criteria": {"yes": "Angry"}},
  "urgency": {"type": "score", "instructions": "?", "criteria": ["later", "today"]}
}`);

async function object(text: string) {
  const value = await readJson(Buffer.from(text));
  return isJsonObject(value) ? value : assert.fail();
}

async function rowOf(line: string) {
  async function* chunks() {
    yield Buffer.from(line);
  }
  for await (const row of jsonlRows(chunks(), "row")) return row;
  return assert.fail();
}

const labels = async (line: string) => Object.fromEntries(rowLabels(await rowOf(line), QUESTIONS));

describe("labels of a row", () => {
  it("are those of the question's kind, in its order", () => {
    const all = ["intent", "angry", "urgency"].map((name) => labelsOf(QUESTIONS.get(name)));
    assert.deepEqual(all, [
      ["10", "2"],
      ["false", "true"],
      ["0", "1"],
    ]);
  });

  it("stand in `labels`, or in the row itself", async () => {
    const expected = { intent: "2", angry: "true", urgency: "1" };
    assert.deepEqual(
      await labels('{"state":"x","labels":{"intent":"2","angry":true,"urgency":1}}'),
      expected,
    );
    assert.deepEqual(await labels('{"state":"x","intent":"2","angry":"Yes","urgency":"1"}'), expected);
  });

  it("may be whole numbers with a fraction of zero, as programs write columns with gaps", async () => {
    for (const level of ["1.0", '"1.0"', '" 1."', '"1e0"', '"+1"'])
      assert.deepEqual(await labels(`{"urgency":${level}}`), { urgency: "1" }, level);
    assert.deepEqual(await labels('{"intent":2.0}'), { intent: "2" });
    await assert.rejects(labels('{"urgency":0.5}'), /expected one of "0", "1", got "0\.5"\./);
  });

  it("may be missing", async () => {
    assert.deepEqual(await labels('{"state":"x","intent":null,"angry":""}'), {});
    assert.deepEqual(await labels('"x"'), {});
  });

  it("are refused if the question does not have them", async () => {
    const wrong = [
      '{"intent":"3"}',
      '{"angry":"maybe"}',
      '{"urgency":2}',
      '{"urgency":0.5}',
      '{"intent":{}}',
    ];
    for (const line of wrong)
      await assert.rejects(labels(line), /--input, row 1: the label of .*: expected one of "/, line);
  });

  it("are not shown to the model where the whole row is the state", async () => {
    const row = await rowOf('{"text":"x","angry":true,"labels":{"intent":"2"}}');
    const { state } = askedRow(row, "row", ["intent", "angry"]);
    assert.equal(writeJson(state), '{"text":"x"}');
    assert.equal(askedRow(row, { field: "text" }, []).state, "x");
    assert.ok(askedRow(row, { field: "none" }, []).state instanceof ServiceError);
  });
});

describe("a check", () => {
  const before = {
    name: "q",
    data: "d",
    question: "e",
    rows: 10,
    accuracy: 0.8,
    threshold: 0.7,
    coverage: 0.5,
    keptAccuracy: 1,
  };
  const rows = (right: number, confident: number) =>
    Array.from({ length: 10 }, (_, at) => ({
      key: String(at),
      truth: "a",
      predicted: at < right ? "a" : "b",
      confidence: at < confident ? 0.9 : 0.6,
    }));
  const digests = { data: "d", question: "e" };
  const worse = (right: number, confident: number, tolerance: number) =>
    check("q", before, rows(right, confident), digests, tolerance)
      .figures.filter(({ isWorse }) => isWorse)
      .map(({ what }) => what);

  it("passes what is as good as before", () => {
    assert.deepEqual(worse(8, 5, 0), []);
    assert.deepEqual(worse(10, 10, 0), []);
  });

  it("tells what has become worse by more than the tolerance", () => {
    assert.deepEqual(worse(7, 5, 0.05), ["accuracy"]);
    assert.deepEqual(worse(7, 5, 0.1), []);
    assert.deepEqual(worse(8, 4, 0.05), ["coverage"]);
    assert.deepEqual(worse(8, 0, 0.05), ["coverage"]);
    assert.deepEqual(worse(8, 10, 0.05), ["keptAccuracy"]);
  });

  it("says when question or rows are others, or the question is new", () => {
    const { notes } = check("q", before, rows(8, 5), { data: "", question: "" }, 0);
    assert.equal(notes.length, 2);
    assert.equal(check("q", undefined, rows(8, 5), digests, 0).isWorse, false);
  });

  it("refuses other files", () => {
    for (const text of ["", "[]", "null", '{"format":"decision-thresholds/1","questions":[{}]}'])
      assert.throws(() => readThresholdFile(text, "x.json"), /--check needs a file/, text);
  });
});
