import assert from "node:assert/strict";
import { it } from "node:test";
import { connectionsWithin, limitOf } from "../../src/server/wire/listener.ts";

it("reads the limit of open files that is in force", () => {
  const text =
    "Limit            Soft Limit  Hard Limit  Units\nMax open files   1024        4096        files\n";
  assert.equal(limitOf(text), 1024);
  assert.equal(limitOf(text.replace("1024", "unlimited")), Number.POSITIVE_INFINITY);
  assert.equal(limitOf(""), Number.POSITIVE_INFINITY);
});

it("leaves descriptors for connections that are refused, and for the service itself", () => {
  for (const openFiles of [120, 150, 300, 1024, 4096]) {
    const connections = connectionsWithin(openFiles);
    assert.ok(2 * connections + 50 <= openFiles, `${connections} of ${openFiles}`);
    assert.ok(connections >= 1);
  }
  assert.equal(connectionsWithin(10), 1);
  assert.equal(connectionsWithin(Number.POSITIVE_INFINITY), Number.POSITIVE_INFINITY);
});
