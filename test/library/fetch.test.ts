import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import { createFastEngine, MODEL_ID } from "../../packages/conformance/test/fast-engine.ts";
import { createContractFor } from "../../src/app.ts";
import { openDecider } from "../../src/library/deciders/local-decider.ts";
import { connectDecider, type LocalDecider, ServiceError } from "../../src/library/index.ts";
import { completeOptions } from "../../src/options/resolve.ts";

const ASKED = {
  state: "The parcel is here.",
  questions: { q: { type: "noul", instructions: "Is it late?" } },
} as const;
const URL_BASE = "http://service.example";

let decider: LocalDecider;
before(async () => {
  const engine = await createFastEngine();
  decider = openDecider({ engine, contract: await createContractFor(engine), options: completeOptions({}) });
});
after(() => decider.close());

const post = (body: string | Uint8Array, headers: Record<string, string> = {}) =>
  new Request(`${URL_BASE}/v1/systemone`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body,
  });

describe("decider.fetch", () => {
  it("gives the answer of the web service", async () => {
    const response = await decider.fetch(post(JSON.stringify(ASKED), { "x-request-id": "mine-1" }));
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("content-type"), "application/json; charset=utf-8");
    assert.equal(response.headers.get("x-request-id"), "mine-1");
    assert.match(response.headers.get("server-timing") ?? "", /total;dur=/);
    const { answers, model } = (await response.json()) as { answers: object; model: string };
    assert.deepEqual([Object.keys(answers), model], [["q"], MODEL_ID]);
  });

  for (const [name, request, status] of [
    ["an unknown path", new Request(`${URL_BASE}/nothing`), 404],
    ["a method that a path does not have", new Request(`${URL_BASE}/v1/systemone`), 405],
    ["a body of another type", post("{}", { "content-type": "text/plain" }), 422],
    ["a body that is no JSON", post("{"), 422],
    ["a body that is too large", post(new Uint8Array(3 * 2 ** 20)), 413],
    ["health", new Request(`${URL_BASE}/health`), 200],
    ["a page", new Request(`${URL_BASE}/docs`), 200],
    ["HEAD", new Request(`${URL_BASE}/health`, { method: "HEAD" }), 200],
  ] as const) {
    it(`answers ${name} with ${status}`, async () => {
      const response = await decider.fetch(request);
      assert.equal(response.status, status);
      const text = await response.text();
      assert.equal(text === "", request.method === "HEAD");
      if (status >= 400) assert.ok(JSON.parse(text).detail);
    });
  }
});

describe("a decider of a running service", () => {
  const key = "a key";
  let url: string;
  let close: () => Promise<unknown>;
  before(async () => {
    const app = await decider.createApp({ apiKey: key });
    url = await app.listen({ host: "127.0.0.1", port: 0 });
    close = () => app.close();
  });
  after(() => close());

  it("answers as the one in this program does", async () => {
    await using remote = connectDecider(`${url}/`, { apiKey: key });
    const [there, here] = await Promise.all([remote.decide(ASKED), decider.decide(ASKED)]);
    assert.deepEqual(there.answers, here.answers);
    const ranking = await remote.rank({ state: "x", candidates: { a: "one", b: "two" } });
    assert.equal(ranking.ranked.length, 2);
  });

  it("takes any number of calls at once", async () => {
    await using remote = connectDecider(url, { apiKey: key });
    const calls = Array.from({ length: 200 }, (_, n) => remote.decide({ ...ASKED, state: `Parcel ${n}` }));
    assert.equal((await Promise.all(calls)).length, 200);
  });

  const code = async (call: Promise<unknown>) => {
    const error = await call.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof ServiceError, String(error));
    return error.code;
  };

  it("reports errors with the codes that they have here", async () => {
    await using remote = connectDecider(url, { apiKey: key });
    await using stranger = connectDecider(url, { apiKey: "another" });
    await using nowhere = connectDecider("http://127.0.0.1:9");
    const faulty = { state: "x", questions: {} };
    const stopped = { signal: AbortSignal.abort() };
    assert.equal(await code(remote.decide(faulty)), "INVALID_REQUEST");
    assert.equal(await code(decider.decide(faulty)), "INVALID_REQUEST");
    assert.equal(await code(stranger.decide(ASKED)), "UNAUTHORIZED");
    assert.equal(await code(connectDecider(url).decide(ASKED)), "KEY_MISSING");
    assert.equal(await code(remote.decide({ ...ASKED, state: "x".repeat(2 ** 21) })), "BODY_TOO_LARGE");
    assert.equal(await code(remote.decide(ASKED, stopped)), "CANCELLED");
    assert.equal(await code(nowhere.decide(ASKED)), "UNREACHABLE");
    assert.equal(await code(connectDecider(`${url}/else`).decide(ASKED)), "NOT_FOUND");
    await remote.close();
    assert.equal(await code(remote.decide(ASKED)), "DRAINING");
  });

  it("takes the code from the header, and from the status where a server sends none", async () => {
    const sent: Record<string, string>[] = [
      { "x-decision-error": "DRAINING" },
      { "x-decision-error": "RATE_LIMITED", "retry-after": "7" },
      { "x-decision-error": "SOMETHING_NEW" },
      {},
    ];
    const server = createServer((_, response) => {
      response.writeHead(503, sent.shift()).end('{"detail":"Later."}');
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    await using remote = connectDecider(`http://127.0.0.1:${port}`);
    const codes = [];
    for (let asked = 0; asked < 4; asked++) codes.push(await code(remote.decide(ASKED)));
    server.close();
    assert.deepEqual(codes, ["DRAINING", "RATE_LIMITED", "OVERLOADED", "OVERLOADED"]);
  });

  for (const address of ["", "127.0.0.1:8700", "ftp://host", "http://user:secret@host", "http://host?x=1"]) {
    it(`refuses the address ${JSON.stringify(address)}`, () => {
      assert.throws(
        () => connectDecider(address),
        (error) => error instanceof ServiceError && error.code === "INVALID_OPTION",
      );
    });
  }
});
