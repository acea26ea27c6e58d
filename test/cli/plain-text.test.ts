import assert from "node:assert/strict";
import { test } from "node:test";
import { BaseCommand } from "../../src/cli/base-command.ts";
import { table } from "../../src/cli/output/model-text.ts";
import { plainLine, plainText } from "../../src/cli/output/plain-text.ts";
import { ServiceError } from "../../src/errors.ts";

const HOSTILE = "a\u001b]0;owned\u0007b\u009b2Jc\u202ed\r\ne\tf";

test("control characters for terminals are escaped as in JSON, other text is unchanged", () => {
  assert.equal(plainText(HOSTILE), "a\\u001b]0;owned\\u0007b\\u009b2Jc\\u202ed\\u000d\ne\tf");
  assert.equal(plainLine("e\tf\ng"), "e\\u0009f\\u000ag");
  const text = "Größe: 你好, שלום, 🙂 — ok";
  assert.equal(plainText(text), text);
  const json = JSON.stringify({ text: HOSTILE });
  assert.deepEqual(JSON.parse(plainText(json)), { text: HOSTILE });
});

test("a cell of a table is one line", () => {
  assert.equal(table([["name", "a\nid  b"]]), "name  a\\u000aid  b");
});

test("a command prints neither a result nor an error that a terminal obeys", async (t) => {
  const own: string[] = [];
  for (const stream of [process.stdout, process.stderr]) {
    const write = stream.write.bind(stream);
    t.mock.method(stream, "write", (chunk: string) =>
      chunk.includes("owned") ? own.push(chunk) > 0 : write(chunk),
    );
  }
  class Print extends BaseCommand {
    override async run(): Promise<void> {
      this.log(`${HOSTILE} %s`);
      throw new ServiceError("INVALID_MODEL", `${HOSTILE} %s`);
    }
  }
  await assert.rejects(Print.run([], import.meta.url), /EEXIT: 1/);
  t.mock.restoreAll();
  assert.equal(own.length, 2);
  for (const text of own) {
    assert.match(text, /a\\u001b\]0;owned/);
    assert.doesNotMatch(text, /(?![\t\n])\p{Control}|\u202e/u);
  }
});
