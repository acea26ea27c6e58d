import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { Contract } from "../../src/contract/call.ts";
import { ServiceError } from "../../src/errors.ts";
import type { ServedDialect } from "../../src/server/server.ts";
import { fakeContract, fakeServer, json, KEY, OPEN } from "./doubles.ts";

/** A contract under /other, with an error body of its own that names the operation. */
const other: Contract = {
  ...fakeContract(),
  document: { openapi: "3.0.3", info: { title: "Other", version: "1" }, paths: {} },
  routes: [
    { method: "POST", path: "/other/ask", operationId: "otherAsk", hasBody: true, needsKey: true },
    { method: "POST", path: "/other/bare", operationId: "otherBare", hasBody: true, needsKey: true },
  ],
  errorReply(error, _requestId, operationId) {
    const kind = error instanceof ServiceError ? error.kind : "INTERNAL";
    return json(kind === "KEY_MISSING" ? 403 : kind === "BODY_TOO_LARGE" ? 413 : 400, { kind, operationId });
  },
};

const dialect: ServedDialect = {
  name: "other",
  basePath: "/other",
  contract: other,
  maxBodyBytes: 10,
  bareKeys: ["otherBare"],
  requestIdHeader: "x-other-id",
};

describe("a dialect beside the contract", async () => {
  let isFull = false;
  const app = await fakeServer({
    dialects: [dialect],
    admission: { ...OPEN, isFull: () => isFull },
  });
  after(() => app.close());
  const ask = (url: string, payload: string, headers = {}) =>
    app.inject({ method: "POST", url, payload, headers: { "content-type": "application/json", ...headers } });
  const withKey = { authorization: `Bearer ${KEY}` };

  it("answers under its base path, with the request id under its second name", async () => {
    const answer = await ask("/other/ask", "{}", { ...withKey, "x-request-id": "r-1" });
    assert.deepEqual([answer.statusCode, answer.json()], [200, { operation: "otherAsk", bytes: 2 }]);
    assert.equal(answer.headers["x-request-id"], "r-1");
    assert.equal(answer.headers["x-other-id"], "r-1");
  });

  it("has error bodies and a limit of its own", async () => {
    const none = await ask("/other/ask", "{}");
    assert.deepEqual([none.statusCode, none.json()], [403, { kind: "KEY_MISSING", operationId: "otherAsk" }]);
    const large = await ask("/other/ask", JSON.stringify("0123456789"), withKey);
    assert.deepEqual(large.json(), { kind: "BODY_TOO_LARGE", operationId: "otherAsk" });
  });

  it("takes the key alone where it says so, and only there", async () => {
    assert.equal((await ask("/other/bare", "{}", { authorization: KEY })).statusCode, 200);
    assert.equal((await ask("/other/ask", "{}", { authorization: KEY })).json().kind, "UNAUTHORIZED");
    assert.equal((await ask("/v1/systemone", "{}", { authorization: KEY })).statusCode, 401);
  });

  it("is refused in its own words when the queue is full, each time with the request's own id", async () => {
    isFull = true;
    const url = await app.listen({ host: "127.0.0.1", port: 0 }); // refused before Fastify, to which `ask` goes
    const post = (path: string, id: string) => {
      const headers = { ...withKey, "content-type": "application/json", "x-request-id": id };
      return fetch(url + path, { method: "POST", body: "{}", headers });
    };
    try {
      for (const id of ["r-2", "r-3"]) {
        const answer = await post("/other/ask", id);
        assert.deepEqual(await answer.json(), { kind: "QUEUE_FULL", operationId: "otherAsk" });
        assert.equal(answer.headers.get("x-other-id"), id);
      }
      const plain = await post("/v1/systemone", "r-4");
      assert.deepEqual([plain.status, await plain.json()], [503, { detail: "The inference queue is full." }]);
      assert.equal(plain.headers.get("x-other-id"), null);
    } finally {
      isFull = false;
    }
  });

  it("leaves the plain contract's operations as they are", async () => {
    const answer = await ask("/v1/systemone", "{}", withKey);
    assert.deepEqual([answer.statusCode, answer.headers["x-other-id"]], [200, undefined]);
  });
});
