import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, describe, it } from "node:test";
import { type BatchState, runBatch } from "../../src/batch/batch.ts";
import { csvRows } from "../../src/batch/csv-rows.ts";
import { inOrder } from "../../src/batch/in-order.ts";
import { openRowBytes } from "../../src/batch/input-start.ts";
import { jsonlRows } from "../../src/batch/jsonl-rows.ts";
import { csvFormat, JSONL, type OutputFormat } from "../../src/batch/output-format.ts";
import { barText, progressText } from "../../src/batch/progress-text.ts";
import { writtenCsv, writtenJsonl } from "../../src/batch/resume.ts";
import { type ErrorKind, invalidRequest, ServiceError } from "../../src/errors.ts";
import type { JsonObject } from "../../src/json/value.ts";

const QUESTIONS: JsonObject = new Map([
  ["10", new Map([["type", "choice"]])],
  ["usage", new Map([["type", "noul"]])],
]);

/** Answers like a service. The length of the state determines the answer or the error. */
async function ask(body: string): Promise<string> {
  const { state } = JSON.parse(body);
  await new Promise((resolve) => setImmediate(resolve));
  if (state === "too long")
    throw invalidRequest([{ loc: ["body", "state"], msg: 'It is "long",\nso.', type: "too_many_tokens" }]);
  const choice = `{"type":"choice","choice":"a,\\"usage\\":{\\n","confidence":0.${state.length}}`;
  const noul = `{"type":"noul","noul":0.25,"confidence":0.75}`;
  return `{"answers":{"10":${choice},"usage":${noul}},"usage":{"input_tokens":3},"model":"m@1","latency_ms":${Math.random()}}`;
}

const folder = mkdtempSync(path.join(tmpdir(), "batch-"));
after(() => rmSync(folder, { recursive: true }));
const file = path.join(folder, "output");

async function* bytesOf(text: string) {
  yield Buffer.from(text);
}

const JSONL_INPUT = '{"state":"one","id":"x\\"y"}\n"two"\n{"no":1}\n"too long"\n"five"\n';
const CSV_INPUT = 'id,state\n1,one\n2,"two,\r\n""2"""\n3\n4,too long\n5,five\n';

interface Case {
  readonly name: string;
  readonly open: () => Promise<{ rows: ReturnType<typeof jsonlRows>; format: OutputFormat }>;
  readonly written: (format: OutputFormat) => ReturnType<typeof writtenJsonl>;
}

const CASES: readonly Case[] = [
  {
    name: "JSON Lines",
    open: async () => ({ rows: jsonlRows(bytesOf(JSONL_INPUT), { field: "state" }), format: JSONL }),
    written: () => writtenJsonl(file, QUESTIONS),
  },
  {
    name: "CSV",
    open: async () => {
      const source = await csvRows(bytesOf(CSV_INPUT), { field: "state" });
      return { rows: source.rows, format: csvFormat(source, QUESTIONS) };
    },
    written: (format) => writtenCsv(file, format),
  },
  {
    name: "CSV for a spreadsheet",
    open: async () => {
      const text = CSV_INPUT.replaceAll(",", ";").replace(/^state|^id/, '"$&"');
      const { chunks, hasMark } = await openRowBytes(bytesOf(`\ufeff${text}`));
      const source = await csvRows(chunks, { field: "state" }, ";");
      return { rows: source.rows, format: csvFormat({ ...source, hasMark }, QUESTIONS) };
    },
    written: (format) => writtenCsv(file, format),
  },
];

/** Appends the rows that an earlier run did not write. */
async function finish(
  { open }: Case,
  before: string,
  doneRows: number,
): Promise<{ text: string; state: BatchState }> {
  const { rows, format } = await open();
  let text = before;
  const state = await runBatch({
    rows,
    ask,
    questions: QUESTIONS,
    wait: async () => {},
    doneRows,
    isBegun: before !== "",
    format,
    write: async (row) => {
      text += row;
    },
    onProgress: () => {},
  });
  return { text, state };
}

const EXPECTED: Readonly<Record<string, string>> = {
  "JSON Lines": ".jsonl",
  CSV: ".csv",
  "CSV for a spreadsheet": "-spreadsheet.csv",
};

for (const each of CASES) {
  describe(`a batch of ${each.name}`, () => {
    it("writes one row for each row of the input, in order, with an error where there is one", async () => {
      const { text, state } = await finish(each, "", 0);
      assert.deepEqual([state.rows, state.errors], [5, 2]);
      const expected = readFileSync(
        new URL(`../../../test/batch/expected${EXPECTED[each.name]}`, import.meta.url),
        "utf8",
      );
      assert.equal(text, expected);
    });

    it("gives the same file after a kill at any byte and --resume", async () => {
      const { text: whole } = await finish(each, "", 0);
      const { format } = await each.open();
      const bytes = Buffer.from(whole);
      for (let length = 1; length <= bytes.length; length++) {
        writeFileSync(file, bytes.subarray(0, length));
        const written = await each.written(format);
        assert.ok(written.bytes <= length);
        const kept = bytes.subarray(0, written.bytes).toString();
        const { text, state } = await finish(each, kept, written.rows);
        assert.equal(text, whole, `cut at byte ${length}`);
        assert.equal(state.rows, 5 - written.rows);
      }
    });

    for (const other of [
      "hello\nworld\n",
      '{"a":1}\n',
      '{"row":1,"answers":{"x":{}}}\n',
      "id,state,other\n1,2,3\n",
    ]) {
      it(`does not go on with ${JSON.stringify(other)}`, async () => {
        const { format } = await each.open();
        writeFileSync(file, other);
        await assert.rejects(
          each.written(format),
          (error) => error instanceof ServiceError && error.kind === "INVALID_OPTION",
        );
      });
    }
  });
}

it("refuses a CSV input that has a column of the output", () => {
  assert.throws(
    () => csvFormat({ header: ["state", "answer.10"] }, QUESTIONS),
    /--input has a column "answer\.10"/,
  );
});

describe("errors of a service", () => {
  const run = async (failures: readonly ServiceError[]) => {
    const left = [...failures];
    const waits: number[] = [];
    const text: string[] = [];
    await runBatch({
      rows: jsonlRows(bytesOf('"one"\n'), { field: "state" }),
      questions: QUESTIONS,
      ask: async (body) => {
        const failure = left.shift();
        if (failure !== undefined) throw failure;
        return ask(body);
      },
      wait: async (ms) => {
        waits.push(ms);
      },
      doneRows: 0,
      isBegun: false,
      format: JSONL,
      write: async (row) => {
        text.push(row);
      },
      onProgress: () => {},
    });
    return { waits, text };
  };
  const failing = (kind: ErrorKind, count: number, retryAfterSeconds?: number) =>
    Array.from({ length: count }, () =>
      retryAfterSeconds === undefined
        ? new ServiceError(kind, "no")
        : new ServiceError(kind, "no", { retryAfterSeconds }),
    );

  it("that pass are waited for, as long as it says", async () => {
    assert.deepEqual((await run(failing("OVERLOADED", 2, 3))).waits, [3000, 3000]);
    const { waits, text } = await run(failing("UNREACHABLE", 5));
    assert.deepEqual(waits, [1000, 2000, 4000, 8000, 10_000]);
    assert.match(text.join(""), /"answers"/);
  });

  it("that do not pass end the batch", async () => {
    for (const failures of [failing("UNREACHABLE", 100), failing("UNAUTHORIZED", 1), failing("CANCELLED", 1)])
      await assert.rejects(run(failures), ServiceError);
  });

  for (const kind of ["DEADLINE_EXCEEDED", "BACKEND_FAILED", "BODY_TOO_LARGE"] as const) {
    it(`stay with the row: ${kind}`, async () => {
      const { text } = await run(failing(kind, 1));
      assert.equal(text.join(""), `{"row":1,"error":{"code":"${kind}","message":"no"}}\n`);
    });
  }
});

describe("work in order", () => {
  it("is bounded by rows and bytes, however many there are", async () => {
    for (const bounds of [
      { rows: 4, bytes: 1000 },
      { rows: 1000, bytes: 4 },
    ]) {
      let running = 0;
      let most = 0;
      const items = (async function* () {
        for (let n = 0; n < 100; n++) yield n;
      })();
      const work = async (n: number) => {
        running += 1;
        most = Math.max(most, running);
        for (let turn = 0; turn < (n * 7) % 5; turn++) await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
        return n;
      };
      const results: number[] = [];
      for await (const result of inOrder(items, work, () => 1, bounds)) results.push(result);
      assert.deepEqual(
        results,
        Array.from({ length: 100 }, (_, n) => n),
      );
      assert.equal(most, 4);
    }
  });

  it("gives a result before the next item comes", async () => {
    let next = () => {};
    const items = (async function* () {
      yield 1;
      await new Promise<void>((resolve) => (next = resolve));
      yield 2;
    })();
    const results = inOrder(
      items,
      async (n) => n,
      () => 1,
      { rows: 9, bytes: 9 },
    );
    assert.deepEqual(await results.next(), { value: 1, done: false });
    next();
    assert.deepEqual(await results.next(), { value: 2, done: false });
    assert.equal((await results.next()).done, true);
  });

  it("fails as its source and its work do", async () => {
    const source = (async function* () {
      yield 1;
      throw new Error("source");
    })();
    const all = async (results: AsyncIterable<number>) => {
      for await (const _ of results);
    };
    await assert.rejects(
      all(
        inOrder(
          source,
          async (n) => n,
          () => 1,
          { rows: 9, bytes: 9 },
        ),
      ),
      /source/,
    );
    const fine = (async function* () {
      for (let n = 0; ; n++) yield n;
    })();
    const work = async (n: number) => {
      if (n === 5) throw new Error("work");
      return n;
    };
    await assert.rejects(all(inOrder(fine, work, () => 1, { rows: 3, bytes: 9 })), /work/);
  });
});

describe("the progress of a batch", () => {
  const half = { rows: 1200, errors: 2, bytes: 400, endByte: 500, totalBytes: 1000, ms: 6000 };
  for (const [name, progress, text] of [
    ["of a file", half, "50 %  1200 rows  200 rows/s  8 s left  2 errors"],
    ["of a pipe", { ...half, totalBytes: undefined }, "1200 rows  200 rows/s  2 errors"],
    ["at its begin", { ...half, rows: 1, errors: 0, ms: 10 }, "50 %  1 row"],
  ] as const) {
    it(`is a line: ${name}`, () => assert.equal(progressText(progress), text));
  }

  it("has a bar on a terminal", () => {
    assert.match(barText(half), /^\[##########\.{10}\] 50 %/);
  });
});
