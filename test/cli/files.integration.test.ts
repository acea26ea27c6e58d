import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { startFastService } from "../support/fast-service.ts";
import { inProcess } from "./in-process.ts";

const folder = mkdtempSync(path.join(tmpdir(), "files-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const QUESTION = { angry: { type: "noul", instructions: "The customer is angry." } };
writeFileSync(path.join(folder, "questions.json"), JSON.stringify(QUESTION));
writeFileSync(path.join(folder, "rows.jsonl"), '{"state": "Hm!", "labels": {"angry": true}}\n');
writeFileSync(path.join(folder, "empty"), "");
writeFileSync(path.join(folder, "latin1"), Buffer.from([0x61, 0xe4]));
mkdirSync(path.join(folder, "folder"));

const run = (line: string, input = "") => inProcess(line.split(" "), { cwd: folder, input });

const ROWS = "--questions questions.json --input rows.jsonl --url http://127.0.0.1:1";
/** Commands up to the name of a file that they read, and the flag's or file's name in messages. */
const READERS: readonly (readonly [string, string])[] = [
  ["decide --question ? --state-file", "--state-file"],
  ["decide --state x --questions", "--questions"],
  ["decide --state x --question ? --tuning", "--tuning"],
  ["rank --candidate a --candidate b --state-file", "--state-file"],
  ["rank --state x --candidate a --candidate b --tuning", "--tuning"],
  ["explain --question ? --dry-run --state-file", "--state-file"],
  ["batch --input rows.jsonl --questions", "--questions"],
  ["batch --questions questions.json --input-format jsonl --input", "--input"],
  ["evaluate --questions questions.json --input-format jsonl --input", "--input"],
  [`evaluate ${ROWS} --check`, "--check"],
  [`evaluate ${ROWS} --compare`, "--compare"],
  ["evaluate --questions questions.json --input rows.jsonl --compare-tuning", "--compare-tuning"],
  ["tune --questions questions.json --output t.json --input-format jsonl --input", "--input"],
  ["mcp --tuning", "--tuning"],
  ["bench --compare", "--compare"],
  ["bench --requests", "--requests"],
  ["conformance http://127.0.0.1:1 --baseline", "--baseline"],
  ["config --config", "the configuration file"],
  ["keys:list --keys-file", "the file of keys"],
];

describe("a file to read", () => {
  for (const [line, named] of READERS)
    it(`that is missing or a folder is told in a sentence: ${line}`, async () => {
      const missing = await run(`${line} none`);
      assert.equal(missing.status, 2, missing.stderr);
      assert.ok(
        missing.stderr.includes(`${named} none cannot be read: there is no such file (ENOENT).`),
        missing.stderr,
      );
      const held = await run(`${line} folder`);
      assert.equal(held.status, 2, held.stderr);
      assert.match(
        held.stderr,
        /folder cannot be read: it is a folder \(EISDIR\)\.|got the folder .*folder\./,
      );
    });

  it("that is empty or not text gives an error that names its flag", async () => {
    for (const [line, named] of READERS.filter(([line]) =>
      /-file$|questions$|--check$|--compare$/.test(line),
    ))
      for (const [file, fault] of [
        ["empty", "got an empty one: empty"],
        ["latin1", "latin1 has bytes that are not UTF-8 (first in line 1)"],
      ] as const) {
        if (!line.startsWith("bench") && named.startsWith("--")) {
          const { status, stderr } = await run(`${line} ${file}`);
          assert.equal(status, 2, line);
          assert.ok(stderr.includes(named) && stderr.includes(fault), stderr);
        }
      }
  });

  it("may be standard input, for one flag", async () => {
    const dry = await run("explain --dry-run --question ? --state-file -", "Hello there");
    assert.match(dry.stdout, /\[CLS\] hello there/);
    const questions = await run("explain --dry-run --state x --questions -", JSON.stringify(QUESTION));
    assert.match(questions.stdout, /the customer is angry \./);
    const nothing = await run("decide --question ? --state-file -");
    assert.deepEqual(
      [nothing.status, /--state-file - reads standard input, which is empty/.test(nothing.stderr)],
      [2, true],
    );
    const twice = await run("batch --questions - --input - --output o.jsonl", JSON.stringify(QUESTION));
    assert.equal(twice.status, 2);
    assert.match(twice.stderr, /--input - reads standard input, which another flag has already read/);
  });
});

describe("a file to write", () => {
  const WRITERS = [
    [`evaluate ${ROWS} --thresholds`, "--thresholds"],
    [`evaluate ${ROWS} --report`, "--report"],
    ["tune --questions questions.json --input rows.jsonl --output", "--output"],
    ["bench --report", "--report"],
    ["conformance http://127.0.0.1:1 --junit", "--junit"],
  ] as const;
  for (const [line, flag] of WRITERS)
    it(`is tried before the work: ${line}`, async () => {
      for (const [file, fault] of [
        ["none/x", "none/x cannot be written: its folder does not exist (ENOENT)."],
        ["empty/x", "empty/x cannot be written: a part of its path is not a folder (ENOTDIR)."],
        ["folder", "folder"],
        ["-", "expected the name of a file, got standard output."],
      ] as const) {
        const { status, stderr } = await run(`${line} ${file}`);
        assert.equal(status, 2, stderr);
        assert.ok(stderr.includes(flag) && stderr.includes(fault), stderr);
      }
      assert.ok(!readdirSync(folder).includes("-"));
    });
});

describe("a disk that is full", { skip: existsSync("/dev/full") ? false : "there is no /dev/full" }, () => {
  it("ends with 1 and a sentence", async () => {
    const { url, close } = await startFastService();
    const line = `evaluate --questions questions.json --input rows.jsonl --url ${url} --report /dev/full`;
    const { status, stderr } = await run(line);
    await close();
    assert.equal(status, 1);
    assert.match(stderr, /--report \/dev\/full cannot be written: its disk is full \(ENOSPC\)\./);
  });
});

let service: Awaited<ReturnType<typeof startFastService>>;
before(async () => {
  service = await startFastService();
});
after(() => service.close());

describe("rows that are not UTF-8", () => {
  const latin = Buffer.from("state,angry\nHm!,true\nTr\u00e8s d\u00e9\u00e7u,true\n", "latin1");
  const LINES = [
    "batch --questions questions.json",
    "evaluate --questions questions.json",
    "tune --questions questions.json --output t.json",
  ];

  it("are refused if the file is UTF-16, by every command", async () => {
    writeFileSync(path.join(folder, "utf16.csv"), Buffer.from("\ufeffstate,angry\nx,true\n", "utf16le"));
    writeFileSync(path.join(folder, "utf16.jsonl"), Buffer.from('{"state":"x"}\n', "utf16le"));
    for (const line of LINES)
      for (const file of ["utf16.csv", "utf16.jsonl"]) {
        const { status, stderr } = await run(`${line} --input ${file}`);
        assert.equal(status, 2, stderr);
        assert.match(stderr, /--input is UTF-16: save it as UTF-8\./);
      }
    const { stderr } = await run("explain --dry-run --question ? --state-file utf16.csv");
    assert.match(stderr, /--state-file: utf16\.csv is UTF-16: save it as UTF-8\./);
  });

  it("are errors with their line, and exit code 1", async () => {
    writeFileSync(path.join(folder, "latin1.csv"), latin);
    const { url } = service;
    const batch = await run(`batch --questions questions.json --input latin1.csv --url ${url}`);
    const evaluate = await run(`evaluate --questions questions.json --input latin1.csv --url ${url}`);
    const message = 'Expected UTF-8, got other bytes in the column "state" (up to line 3 of the file).';
    assert.equal(batch.status, 1);
    assert.ok(batch.stdout.includes(`INVALID_REQUEST: ${message.replaceAll('"', '""')}`), batch.stdout);
    assert.ok(!batch.stdout.includes("\ufffd"));
    assert.equal(evaluate.status, 1);
    assert.ok(evaluate.stdout.includes(message), evaluate.stdout);
  });

  it("are told of if no row can be read", async () => {
    writeFileSync(
      path.join(folder, "latin1.jsonl"),
      Buffer.from('{"state":"\u00e9","angry":true}', "latin1"),
    );
    const { status, stderr } = await run(`evaluate --questions questions.json --input latin1.jsonl`);
    assert.equal(status, 2);
    assert.match(stderr, /no row that can be read\. Row 1: Expected UTF-8, got other bytes in line 1/);
  });
});

describe("the delimiter of CSV", () => {
  it("is named by a flag, the file's name or its first line, and kept in the output with the byte order mark", async () => {
    const { url } = service;
    const withRows = (file: string, text: string, flags: readonly string[] = []) => {
      writeFileSync(path.join(folder, file), text);
      const line = ["batch", "--questions", "questions.json", "--input", file, "--url", url, ...flags];
      return inProcess(line, { cwd: folder });
    };
    const mark = "\ufeff";
    for (const [file, text, flags, head] of [
      [
        "semi.csv",
        `${mark}id;state\n1;m\u00f6chte, bitte\n`,
        ["--delimiter", ";"],
        `${mark}id;state;answer.angry`,
      ],
      ["excel.csv", "sep=;\r\nid;state\r\n1;x\r\n", [], "id;state;answer.angry"],
      ["tab.tsv", "id\tstate\n1\tx\n", [], "id\tstate\tanswer.angry"],
      ["tab.csv", "id\tstate\n1\tx\n", ["--delimiter", "tab"], "id\tstate\tanswer.angry"],
    ] as const) {
      const { status, stdout, stderr } = await withRows(file, text, flags);
      assert.equal(status, 0, stderr);
      assert.ok(stdout.startsWith(head), stdout);
    }
    for (const wrong of ["", ";;", '"', "\n"]) {
      const { status, stderr } = await withRows("semi.csv", "id;state\n", ["--delimiter", wrong]);
      assert.equal(status, 2);
      assert.match(stderr, /--delimiter: expected one character other than a quote, or tab, got "/);
    }
  });
});

describe("a service to compare with", () => {
  it("is refused under its own flag's name", async () => {
    const line = "evaluate --questions questions.json --input rows.jsonl --url http://127.0.0.1:1";
    const { stderr } = await run(`${line} --compare-tuning questions.json`);
    assert.match(
      stderr,
      /--compare-tuning: expected a file that `decision tune` has written, got another: questions\.json lacks/,
    );
    const empty = await inProcess([...line.split(" "), "--compare-url", ""], { cwd: folder });
    assert.match(empty.stderr, /--compare-url: expected an address/);
  });
});

describe("flags for a model of the command's own", () => {
  it("are refused beside --url, and overrule DECISION_URL", async () => {
    const asked = "--state x --candidate a --candidate b";
    for (const line of [
      `rank ${asked} --tuning t.json`,
      "mcp --tuning t.json",
      "mcp --precision fp32",
      "batch --questions questions.json --input rows.jsonl --precision fp32",
    ]) {
      const { status, stderr } = await run(`${line} --url http://127.0.0.1:1`);
      assert.deepEqual(
        [status, /--(tuning|precision) has no effect on a running service/.test(stderr)],
        [2, true],
        stderr,
      );
    }
    const wrong = await inProcess(["mcp"], { cwd: folder, env: { DECISION_URL: "ftp://x" } });
    assert.deepEqual(
      [wrong.status, /DECISION_URL: expected an address/.test(wrong.stderr)],
      [2, true],
      wrong.stderr,
    );
    for (const line of [`rank ${asked} --model nothing`, "mcp --model nothing"]) {
      const { status, stderr } = await inProcess(line.split(" "), {
        cwd: folder,
        env: { DECISION_URL: "http://127.0.0.1:1" },
      });
      assert.deepEqual([status, /unknown model "nothing"/.test(stderr)], [2, true], stderr);
    }
  });
});
