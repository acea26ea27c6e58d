import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ServiceError } from "../../src/errors.ts";
import { writeJson } from "../../src/json/write.ts";
import { keyOf, readMessage } from "../../src/mcp/messages.ts";

const read = (text: string) => readMessage(Buffer.from(text));
const call = (given: string, id = "1") =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"decide","arguments":${given}}}`;

describe("a message of MCP", () => {
  it("keeps the arguments of a call as they were sent", async () => {
    const given = '{"state":{"10":1e3,"2":12345678901234567890,"__proto__":null}}';
    const { plain, calls } = await read(call(given));
    assert.deepEqual(plain, JSON.parse(call("{}")));
    assert.equal(writeJson(calls.get(keyOf(1))), given);
  });

  it("keeps the arguments of a batch apart, the id 1 from the id '1'", async () => {
    const { plain, calls } = await read(`[${call('{"a":1}')},${call('{"a":2}', '"1"')},{"method":"other"}]`);
    assert.ok(Array.isArray(plain));
    assert.equal(plain.length, 3);
    assert.equal(writeJson(calls.get(keyOf(1))), '{"a":1}');
    assert.equal(writeJson(calls.get(keyOf("1"))), '{"a":2}');
  });

  it("refuses both of two calls with one id", async () => {
    const { calls } = await read(`[${call('{"a":1}')},${call('{"a":2}')}]`);
    assert.match(String(calls.get(keyOf(1))), /the same id/);
  });

  for (const [what, given, type] of [
    ["two members of one name", '{"state":1,"state":2}', "duplicate_member"],
    ["too many levels", `{"state":${"[".repeat(100)}${"]".repeat(100)}}`, "nesting_too_deep"],
  ] as const)
    it(`lets a call with ${what} be answered`, async () => {
      const { plain, calls } = await read(call(given));
      assert.deepEqual(plain, JSON.parse(call("{}")));
      const error = calls.get(keyOf(1));
      assert.ok(error instanceof ServiceError);
      assert.deepEqual(
        error.issues.map(({ type, loc }) => [type, loc.slice(0, 2)]),
        [[type, ["body", "state"]]],
      );
    });

  it("leaves other messages whole", async () => {
    const text = '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"arguments":{"a":[1,null,"b"]}}}';
    assert.deepEqual(await read(text), { plain: JSON.parse(text), calls: new Map() });
  });

  it("is refused if it is not JSON", async () => {
    await assert.rejects(read("{nonsense"), { kind: "INVALID_REQUEST", message: /Not valid JSON/ });
  });
});
