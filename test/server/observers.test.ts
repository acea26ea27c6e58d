import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fakeServer, KEY, memoryLog, withServer } from "./doubles.ts";

const fail = () => {
  throw new Error("a fault of the observer");
};

const HEADERS = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };

/** @returns the statuses of an answer, a refusal and a broken request */
async function statuses(port: number): Promise<number[]> {
  const url = `http://127.0.0.1:${port}`;
  const answers = await Promise.all([
    fetch(`${url}/v1/systemone`, { method: "POST", headers: HEADERS, body: "{}" }),
    fetch(`${url}/v1/systemone`, { method: "POST", body: "{}" }),
    fetch(`${url}/nowhere`),
  ]);
  return answers.map(({ status }) => status);
}

describe("an observer that throws is logged and harms no request", () => {
  it("at the end of a request", async () => {
    const log = memoryLog();
    await withServer(await fakeServer({ log, onRequestEnd: fail }), async (port) => {
      assert.deepEqual(await statuses(port), [200, 401, 404]);
    });
    const lines = log.entries.filter(({ message }) => message === "request").map(({ fields }) => fields);
    assert.deepEqual(lines.map(({ status, code }) => [status, code]).sort(), [
      [200, undefined],
      [401, "KEY_MISSING"],
      [404, "NOT_FOUND"],
    ]);
    const faults = log.entries.filter(({ level }) => level === "error");
    assert.deepEqual(
      faults.map(({ fields }) => fields.observer),
      ["requests", "requests", "requests"],
    );
  });

  it("for traces", async () => {
    const log = memoryLog();
    await withServer(
      await fakeServer({ log, tracing: { begin: fail, close: async () => {} } }),
      async (port) => {
        assert.deepEqual(await statuses(port), [200, 401, 404]);
      },
    );
    assert.ok(log.entries.some(({ fields }) => fields.observer === "tracing"));
  });

  it("or is the log itself", async () => {
    const log = { debug: fail, info: fail, warn: fail, error: fail };
    await withServer(await fakeServer({ log, onRequestEnd: fail }), async (port) => {
      assert.deepEqual(await statuses(port), [200, 401, 404]);
    });
  });
});
