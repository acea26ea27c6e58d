import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { csvRows } from "../../src/batch/csv-rows.ts";
import { openRowBytes } from "../../src/batch/input-start.ts";
import { jsonlRows } from "../../src/batch/jsonl-rows.ts";
import { MAX_ROW_BYTES, type Row, type StatePlace } from "../../src/batch/row.ts";
import { ServiceError } from "../../src/errors.ts";
import { writeJson } from "../../src/json/write.ts";

/** The bytes in chunks of every length from 1 on must give the same rows. */
async function* chunksOf(text: string | Uint8Array, length: number) {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

async function listOf(rows: AsyncIterable<Row>): Promise<Row[]> {
  const list: Row[] = [];
  for await (const row of rows) list.push(row);
  return list;
}

/** A state as JSON, or the fault as `location: message`. */
function shown({ state }: Row): string {
  if (!(state instanceof ServiceError)) return writeJson(state);
  const [issue] = state.issues;
  return `${issue?.loc.join(".")}: ${issue?.msg}`;
}

const FIELD: StatePlace = { field: "state" };
const MARK_BYTES = 3;

describe("rows of JSON Lines", () => {
  const text = [
    '\ufeff{"state":"one","id":7}',
    "",
    '"two"\r',
    '{"state":{"10":1.0,"2":null}}',
    "  ",
    '{"text":"no state"}',
    '{"state":',
    '{"state":"a","state":"b"}',
    "[1]",
    '{"state":null}', // no newline behind it
  ].join("\n");
  const expected = [
    '"one"',
    '"two"',
    '{"10":1.0,"2":null}',
    'row: Expected a text, or an object with the member "state".',
    /^row\.state: Expected valid JSON/,
    /^row\.state: Expected each member once/,
    'row: Expected a text, or an object with the member "state".',
    "null",
  ];

  for (const length of [1, 2, 3, 7, 64, 1000]) {
    it(`are the same in chunks of ${length} bytes`, async () => {
      const rows = await listOf(jsonlRows((await openRowBytes(chunksOf(text, length))).chunks, FIELD));
      assert.equal(rows.length, expected.length);
      for (const [at, row] of rows.entries()) {
        const want = expected[at] ?? "";
        assert.equal(row.number, at + 1);
        if (typeof want === "string") assert.equal(shown(row), want);
        else assert.match(shown(row), want);
      }
      assert.equal(rows.at(-1)?.endByte, Buffer.byteLength(text) - MARK_BYTES);
      assert.equal(writeJson(rows[0]?.id), "7");
    });
  }

  it("may be states as a whole", async () => {
    const rows = await listOf(jsonlRows(chunksOf('{"a":1}\n[true]', 5), "row"));
    assert.deepEqual(rows.map(shown), ['{"a":1}', "[true]"]);
  });

  it("are faults if they are too long or no UTF-8, and the rows behind them are read", async () => {
    const long = `"${"x".repeat(MAX_ROW_BYTES)}"`;
    const bytes = Buffer.concat([
      Buffer.from(`${long}\n"a"\n`),
      Buffer.of(0x22, 0xff, 0x22, 0x0a),
      Buffer.from('"b"\n'),
    ]);
    const rows = await listOf(jsonlRows(chunksOf(bytes, 65_536), FIELD));
    assert.match(shown(rows[0] as Row), /^row: Expected a row of at most 4194304 bytes/);
    assert.equal(shown(rows[1] as Row), '"a"');
    assert.equal(shown(rows[2] as Row), "row: Expected UTF-8, got other bytes in line 3 of the file.");
    assert.deepEqual([shown(rows[3] as Row), rows.length], ['"b"', 4]);
  });
});

describe("rows of CSV", () => {
  const text = '\ufeffid,state\r\n1,"a ""quoted"",\nlong text"\r\n\r\n2,plain\n3\n4,b,more\n"x"y,z\n6,last';
  const expected = [
    '"a \\"quoted\\",\\nlong text"',
    '"plain"',
    "row: Expected 2 cells, as the header has, got 1.",
    "row: Expected 2 cells, as the header has, got 3.",
    '"z"',
    '"last"',
  ];

  for (const length of [1, 2, 5, 1000]) {
    it(`are the same in chunks of ${length} bytes`, async () => {
      const { chunks } = await openRowBytes(chunksOf(text, length));
      const { header, rows } = await csvRows(chunks, FIELD);
      assert.deepEqual(header, ["id", "state"]);
      const list = await listOf(rows);
      assert.equal(list.length, expected.length);
      for (const [at, row] of list.entries()) {
        const want = expected[at] ?? "";
        assert.equal(row.number, at + 1);
        assert.equal(row.cells?.length, 2);
        if (typeof want === "string") assert.equal(shown(row), want);
        else assert.match(shown(row), want);
      }
      assert.equal(list.at(-1)?.endByte, Buffer.byteLength(text) - MARK_BYTES);
    });
  }

  it("may be states as a whole, with the columns as members", async () => {
    const { rows } = await csvRows(chunksOf("10,2\nb,a\n", 4), "row");
    assert.deepEqual((await listOf(rows)).map(shown), ['{"10":"b","2":"a"}']);
  });

  it("are faults if a cell is not UTF-8, and keep the character that stands for such bytes", async () => {
    const bytes = Buffer.concat([
      Buffer.from("id,state\n1,\ufffd\n"),
      Buffer.from('2,"a\nTr\u00e8s"\n\u00e9,b\n', "latin1"),
      Buffer.from("4,Tr\u00e8s\n"),
    ]);
    for (const length of [1, 5, 1000]) {
      const list = await listOf((await csvRows(chunksOf(bytes, length), FIELD)).rows);
      assert.deepEqual(list.map(shown), [
        '"\ufffd"',
        'row: Expected UTF-8, got other bytes in the column "state" (up to line 4 of the file).',
        'row: Expected UTF-8, got other bytes in the column "id" (up to line 5 of the file).',
        '"Tr\u00e8s"',
      ]);
      assert.deepEqual(
        list.map(({ cells }) => cells?.join()),
        ["1,\ufffd", "2,", ",b", "4,Tr\u00e8s"],
      );
    }
  });

  it("may have unnamed columns, as spreadsheets write them", async () => {
    const given = "id,,state,,\n1,,a,,\n2,x,b,,\n3,,c,,y\n4,,d\n";
    const { header, rows } = await csvRows(chunksOf(given, 7), FIELD);
    assert.deepEqual(header, ["id", "", "state"]);
    const fault = "row: Expected 3 cells, as the header has, got 5.";
    assert.deepEqual((await listOf(rows)).map(shown), ['"a"', '"b"', fault, '"d"']);
    const whole = await csvRows(chunksOf(",id,\nx,1,\n,2,\n", 7), "row");
    assert.deepEqual((await listOf(whole.rows)).map(shown), ['{"":"x","id":"1"}', '{"id":"2"}']);
    const twice = await csvRows(chunksOf(",,id\nx,y,1\n", 7), "row");
    assert.deepEqual((await listOf(twice.rows)).map(shown), [
      "row: Expected a name for each column, got 2 cells without.",
    ]);
  });

  for (const [given, delimiter] of [
    ["id;state\n1;a,b\n", ";"],
    ["id\tstate\n1\ta,b\n", "\t"],
    ["id\u00a6state\n1\u00a6a,b\n", "\u00a6"],
    ["sep=;\r\nid;state\r\n1;a,b\r\n", undefined],
    ["SEP=\t\nid\tstate\n1\ta,b\n", undefined],
    ["sep=,\nid;state\n1;a,b\n", ";"],
  ] as const)
    it(`may have another delimiter: ${JSON.stringify(given)}`, async () => {
      const { header, rows } = await csvRows(chunksOf(given, 3), FIELD, delimiter);
      assert.deepEqual(header, ["id", "state"]);
      assert.deepEqual((await listOf(rows)).map(shown), ['"a,b"']);
    });

  it("end with a fault at a quote that is never closed, however much follows", async () => {
    const endless = Buffer.concat([Buffer.from('state\na\n"b\n'), Buffer.alloc(2 * MAX_ROW_BYTES, "x\n")]);
    for (const bytes of [endless, Buffer.from('state\na\n"b\nc\n')]) {
      const { rows } = await csvRows(chunksOf(bytes, 65_536), FIELD);
      const list = await listOf(rows);
      assert.deepEqual([shown(list[0] as Row), list.length], ['"a"', 2]);
      assert.match(shown(list[1] as Row), /^row: Expected CSV/);
    }
  });

  for (const [name, input, message] of [
    ["an empty file", "", /needs a header/],
    ["a missing column", "id,text\n1,a\n", /no column "state".*"id", "text".*--state-field/],
    [
      "another delimiter that is not named",
      "id;text\n1;a\n",
      /only "id;text"; .* Columns were separated by a comma; --delimiter names another character\./,
    ],
    ["a header that is not UTF-8", Buffer.of(0xe9, 0x0a), /header line .* not UTF-8/],
    ["two columns of one name", "state,state\n", /two columns named "state"/],
  ] as const) {
    it(`refuses ${name}`, async () => {
      await assert.rejects(csvRows(chunksOf(input, 9), FIELD), (error) => {
        return (
          error instanceof ServiceError && error.kind === "INVALID_OPTION" && message.test(error.message)
        );
      });
    });
  }
});

describe("a file of rows", () => {
  for (const encoding of ["utf16le", "swap16"] as const)
    for (const mark of ["\ufeff", ""])
      it(`in UTF-16 is refused by its name: ${encoding}, ${mark === "" ? "without" : "with"} a mark`, async () => {
        const bytes = Buffer.from(`${mark}{"state":"x"}`, "utf16le");
        const given = encoding === "swap16" ? bytes.swap16() : bytes;
        await assert.rejects(
          openRowBytes(chunksOf(given, 1)),
          /^ServiceError: --input is UTF-16: save it as UTF-8\.$/,
        );
      });

  it("may be empty or short", async () => {
    for (const text of ["", "1", "{}"]) {
      const { chunks, isEmpty } = await openRowBytes(chunksOf(text, 1));
      const parts: Uint8Array[] = [];
      for await (const part of chunks) parts.push(part);
      assert.deepEqual([Buffer.concat(parts).toString(), isEmpty], [text, text === ""]);
    }
  });
});
