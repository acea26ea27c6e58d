import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ServiceError } from "../../src/errors.ts";
import { writeJson } from "../../src/json/write.ts";
import { readMessage, writeRefusal, writeWithIds } from "../../src/mcp/messages.ts";

async function read(text: string) {
  const message = await readMessage(Buffer.from(text));
  assert.ok(!("error" in message), JSON.stringify(message));
  return message;
}
async function refusalOf(text: string): Promise<unknown> {
  const message = await readMessage(Buffer.from(text));
  assert.ok("error" in message, JSON.stringify(message));
  return JSON.parse(writeRefusal(message));
}
const deep = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
const call = (given: string, id = "1") =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"decide","arguments":${given}}}`;

describe("a message of MCP", () => {
  it("keeps the arguments of a call as they were sent", async () => {
    const given = '{"state":{"10":1e3,"2":12345678901234567890,"__proto__":null}}';
    const { plain, calls } = await read(call(given));
    assert.deepEqual(plain, JSON.parse(call("{}", '"1"')));
    assert.equal(writeJson(calls.get("1")), given);
  });

  it("keeps the arguments of a batch apart, the id 1 from the id '1'", async () => {
    const { plain, calls } = await read(`[${call('{"a":1}')},${call('{"a":2}', '"1"')},{"method":"other"}]`);
    assert.ok(Array.isArray(plain));
    assert.equal(plain.length, 3);
    assert.equal(writeJson(calls.get("1")), '{"a":1}');
    assert.equal(writeJson(calls.get('"1"')), '{"a":2}');
  });

  it("refuses both of two calls with one id", async () => {
    const { calls } = await read(`[${call('{"a":1}')},${call('{"a":2}')}]`);
    assert.match(String(calls.get("1")), /the same id/);
  });

  for (const [what, given, type] of [
    ["two members of one name", '{"state":1,"state":2}', "duplicate_member"],
    ["too many levels", `{"state":${"[".repeat(100)}${"]".repeat(100)}}`, "nesting_too_deep"],
  ] as const)
    it(`lets a call with ${what} be answered`, async () => {
      const { plain, calls } = await read(call(given));
      assert.deepEqual(plain, JSON.parse(call("{}", '"1"')));
      const error = calls.get("1");
      assert.ok(error instanceof ServiceError);
      assert.deepEqual(
        error.issues.map(({ type, loc }) => [type, loc.slice(0, 2)]),
        [[type, ["body", "state"]]],
      );
    });

  it("leaves other messages whole, but for their id", async () => {
    const text = '{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{"arguments":{"a":[1,null,"b"]}}}';
    const { plain, calls } = await read(text);
    assert.deepEqual([plain, calls.size], [{ ...JSON.parse(text), id: '"a"' }, 0]);
  });

  for (const id of ["9007199254740993", "-0", "1.50", "1e3", '"1"', '"\\u0000 ü"'])
    it(`gets its answer under its id ${id}`, async () => {
      const { plain } = await read(call("{}", id));
      const answer = { jsonrpc: "2.0", result: {}, id: Object(plain).id };
      const text = `{"jsonrpc":"2.0","result":{},"id":${id}}`;
      assert.equal(writeWithIds(answer), text);
      assert.equal(writeWithIds([answer, answer]), `[${text},${text}]`);
    });

  it("may begin with a byte order mark", async () => {
    const { calls } = await read(`\ufeff${call('{"a":1}')}`);
    assert.equal(writeJson(calls.get("1")), '{"a":1}');
  });

  for (const nothing of ["null", "[]"])
    it(`has no parameters or arguments if they are ${nothing}`, async () => {
      const list = await read(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":${nothing}}`);
      assert.deepEqual(list.plain, { jsonrpc: "2.0", id: "1", method: "tools/list" });
      const { plain, calls } = await read(call(nothing));
      assert.deepEqual(Object(plain).params, { name: "decide" });
      assert.deepEqual([...calls], [["1", undefined]]);
    });

  it("may have its arguments as the text of an object", async () => {
    const { plain, calls } = await read(call('" {}"'));
    assert.deepEqual(plain, JSON.parse(call("{}", '"1"')));
    assert.equal(calls.get("1"), " {}");
    const other = await read(call('"text"'));
    assert.equal(Object(other.plain).params.arguments, "text");
  });

  it("cancels the request of its id", async () => {
    const { plain } = await read(
      '{"method":"notifications/cancelled","params":{"requestId":9007199254740993}}',
    );
    assert.deepEqual(Object(plain).params, { requestId: "9007199254740993" });
  });

  for (const [what, id] of [
    ["null", "null"],
    ["an object", "{}"],
    ["nested deeply", deep(5_000)],
    ["nested very deeply", deep(200_000)],
    ["a boolean", "true"],
  ] as const)
    it(`is refused if its id is ${what}`, async () => {
      const { id: answered, error } = Object(await refusalOf(call("{}", id)));
      assert.deepEqual([answered, error.code], [null, -32_600]);
      assert.equal(Object(await refusalOf(`[${call("{}", id)}]`)).error.code, -32_600);
    });

  for (const [what, params] of [
    ["too many levels", `{"a":${deep(200_000)}}`],
    ["two members of one name", '{"a":1,"a":2}'],
  ] as const)
    it(`is refused under its id if it is no call and has ${what}`, async () => {
      const { id, error } = Object(
        await refusalOf(`{"jsonrpc":"2.0","method":"tools/list","params":${params},"id":"x"}`),
      );
      assert.deepEqual([id, error.code], ["x", -32_600]);
    });

  it("is answered as a call though its other parameters are nested deeply as well", async () => {
    const text = call('{"a":1,"a":2}').replace('"arguments"', `"_meta":{"a":${deep(10_000)}},"arguments"`);
    const { id, error } = Object(await refusalOf(text));
    assert.deepEqual([id, error.code], [1, -32_600]);
    const later = call('{"a":1,"a":2}').replace("}}", `},"_meta":{"a":${deep(10_000)}}}`);
    assert.ok((await read(later)).calls.get("1") instanceof ServiceError);
  });

  for (const [what, text] of [
    ["too many levels", `${call(deep(101))} x`],
    ["too many levels that do not end", call("[".repeat(100_000))],
    ["a text that does not end, too deep", call(`${"[".repeat(101)}"\\`)],
    ["two members of one name", `${call('{"a":1,"a":2}')}}`],
  ] as const)
    it(`is refused if it has ${what}, and then is not JSON`, async () => {
      const { id, error } = Object(await refusalOf(text));
      assert.deepEqual([id, error.code], [null, -32_700]);
    });

  it("finds its id behind what is nested too deeply", async () => {
    const nested = `{"a":${'[{"]}\\"":['.repeat(60)}"[\\\\"${"]}]".repeat(60)}}`;
    const text = `{"params":{"name":"decide","arguments":${nested}},"method":"tools/call","id":7,"jsonrpc":"2.0"}`;
    assert.equal(JSON.parse(text).id, 7);
    assert.deepEqual([...(await read(text)).calls.keys()], ["7"]);
  });

  it("is refused if it is not JSON", async () => {
    const { id, error } = Object(await refusalOf("{nonsense"));
    assert.deepEqual([id, error.code], [null, -32_700]);
    assert.match(error.message, /Expected valid JSON/);
  });
});
