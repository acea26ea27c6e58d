import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { FastService } from "./fast-client.ts";
import { KEY, MARK, SMALL, SMALL_RANK } from "./service.ts";

let service: FastService;
let open: FastService;
before(async () => {
  [service, open] = await Promise.all([FastService.start({ apiKey: KEY }), FastService.start()]);
});
after(async () => {
  await service.stop();
  await open.stop();
});

const TYPE = { "content-type": "application/json" };
const AUTHORIZED = { ...TYPE, authorization: `Bearer ${KEY}` };
const GETS = ["/health", "/ready", "/v1/models", "/docs", "/redoc", "/openapi.json", "/openapi.typed.json"];
const POSTS = ["/v1/systemone", "/v1/rank"];
const ID = /^[A-Za-z0-9._-]{1,128}$/;

describe("without a key", () => {
  for (const path of GETS) {
    test(`GET ${path} is answered`, async () => {
      for (const target of [path, `${path}?x=${MARK}`, `${path}?`]) {
        const reply = await service.call("GET", target);
        assert.equal(reply.status, 200);
        assert.ok(reply.text.length > 0);
        const wrong = await service.call("GET", target, { headers: { authorization: "Bearer wrong" } });
        assert.equal(wrong.status, 200);
      }
    });
  }
  for (const { name, headers } of [
    { name: "no header", headers: TYPE },
    { name: "an empty one", headers: { ...TYPE, authorization: "" } },
    { name: "another key", headers: { ...TYPE, authorization: `Bearer ${MARK}` } },
    { name: "the scheme alone", headers: { ...TYPE, authorization: "Bearer" } },
    { name: "the scheme and a space", headers: { ...TYPE, authorization: "Bearer " } },
    { name: "the key alone", headers: { ...TYPE, authorization: KEY } },
    { name: "Basic", headers: { ...TYPE, authorization: `Basic ${KEY}` } },
    { name: "Basic of the key", headers: { ...TYPE, authorization: `Basic ${btoa(`user:${KEY}`)}` } },
    { name: "Token", headers: { ...TYPE, authorization: `Token ${KEY}` } },
    { name: "no space", headers: { ...TYPE, authorization: `Bearer${KEY}` } },
    { name: "a colon", headers: { ...TYPE, authorization: `Bearer: ${KEY}` } },
    { name: "quotes", headers: { ...TYPE, authorization: `Bearer "${KEY}"` } },
    { name: "the key and more", headers: { ...TYPE, authorization: `Bearer ${KEY}x` } },
    { name: "the key and another word", headers: { ...TYPE, authorization: `Bearer ${KEY} x` } },
    { name: "a list", headers: { ...TYPE, authorization: `Bearer x, Bearer ${KEY}` } },
    { name: "the beginning of the key", headers: { ...TYPE, authorization: `Bearer ${KEY.slice(0, -1)}` } },
    { name: "the end of the key", headers: { ...TYPE, authorization: `Bearer ${KEY.slice(1)}` } },
    { name: "the key in capitals", headers: { ...TYPE, authorization: `Bearer ${KEY.toUpperCase()}` } },
    { name: "a long key", headers: { ...TYPE, authorization: `Bearer ${"k".repeat(8000)}` } },
    { name: "bytes past ASCII", headers: { ...TYPE, authorization: `Bearer ${KEY}é` } },
    { name: "another header", headers: { ...TYPE, "x-api-key": KEY } },
    { name: "a cookie", headers: { ...TYPE, cookie: `authorization=Bearer ${KEY}` } },
    { name: "the proxy's header", headers: { ...TYPE, "proxy-authorization": `Bearer ${KEY}` } },
  ]) {
    test(`an inference is 401: ${name}`, async () => {
      for (const [target, body] of [
        ["/v1/systemone", SMALL],
        ["/v1/rank", SMALL_RANK],
        [`/v1/rank?access_token=${KEY}&key=${KEY}`, SMALL_RANK],
      ] as const) {
        const reply = await service.post(target, body, headers);
        assert.equal(reply.status, 401);
        assert.equal(reply.headers["www-authenticate"], "Bearer");
        assert.equal(typeof reply.body.detail, "string");
        assert.ok(!reply.text.includes(KEY));
      }
    });
  }
});

describe("with the key", () => {
  for (const authorization of [`Bearer ${KEY}`, `bearer ${KEY}`, `BEARER ${KEY}`]) {
    test(`an inference is answered: ${authorization.slice(0, 6)}`, async () => {
      const headers = { ...TYPE, authorization };
      assert.equal((await service.post("/v1/systemone", SMALL, headers)).status, 200);
      assert.equal((await service.post("/v1/rank?x=1", SMALL_RANK, headers)).status, 200);
    });
  }
  test("a service without one never asks", async () => {
    const reply = await open.post("/v1/systemone", SMALL, { ...TYPE, authorization: "Bearer anything" });
    assert.equal(reply.status, 200);
  });
});

describe("the order of checks:", () => {
  const big = "{".padEnd(2_097_153);
  const plain = { "content-type": "text/plain" };
  for (const { name, method = "POST", target = "/v1/systemone", headers, body, status } of [
    { name: "an unknown path before the key", target: "/v1/other", headers: plain, body: big, status: 404 },
    {
      name: "an unknown path before the method",
      method: "DELETE",
      target: "/nowhere",
      headers: {},
      status: 404,
    },
    { name: "a method before the key", method: "PUT", headers: plain, body: "{", status: 405 },
    { name: "a method before the size", method: "PUT", headers: AUTHORIZED, body: big, status: 405 },
    { name: "a key before the media type", headers: plain, body: "{}", status: 401 },
    {
      name: "a key before the encoding",
      headers: { ...TYPE, "content-encoding": "gzip" },
      body: "x",
      status: 401,
    },
    { name: "a key before the size", headers: TYPE, body: big, status: 401 },
    { name: "a key before the JSON", headers: TYPE, body: "{", status: 401 },
    { name: "a key before an empty body", headers: {}, body: "", status: 401 },
    {
      name: "a media type before the size",
      headers: { ...AUTHORIZED, ...plain },
      body: big,
      status: 422,
    },
    { name: "a size before the JSON", headers: AUTHORIZED, body: big, status: 413 },
  ]) {
    test(`${name}: ${status}`, async () => {
      const reply = await service.call(method, target, { headers, ...(body === undefined ? {} : { body }) });
      assert.equal(reply.status, status);
      // The same connection goes on with the next request.
      assert.equal((await service.post("/v1/systemone", SMALL, AUTHORIZED)).status, 200);
    });
  }
});

describe("unknown paths", () => {
  for (const path of [
    "/",
    "/v1",
    "/v1/",
    "/v2/systemone",
    "/systemone",
    "/v1/systemone/",
    "/v1/rank/",
    "/health/",
    "/ready/",
    "/v1/models/",
    "/v1/models/twig",
    "/openapi.json/",
    "/openapi.yaml",
    "/V1/systemone",
    "/v1/SystemOne",
    "/Health",
    "//v1/systemone",
    "/v1//systemone",
    "//health",
    "/v1/systemone//",
    "/./health",
    "/v1/../health",
    "/v1/rank/../systemone",
    "/v1/systemone%2f",
    "/v1%2fsystemone",
    "/v1/systemone%20",
    "/v1/systemone%00",
    "/v1/systemone;x=1",
    "/v1/systemone.json",
    "/health%3Fx",
    "/v1/chat/completions",
    "/__proto__",
    "/constructor",
    "/%2e%2e/package.json",
    "/docs/../package.json",
    "/docs/%2e%2e/%2e%2e/package.json",
    "/docs/..%2f..%2fpackage.json",
    "/docs/static/..%2f..%2f..%2fpackage.json",
    "/docs/static/%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
    "/docs/none",
    "/redoc/none",
    "/redoc/..%2fpackage.json",
    "/favicon.ico",
    `/${"a".repeat(4000)}`,
    `/v1/${MARK}`,
    "/v1/systemoné".normalize("NFD").replace(/[^\x20-\x7e]/g, "%CC%81"),
  ]) {
    test(`${path.slice(0, 60)} is 404 for each method`, async () => {
      // The assets of a page may be one path, which has GET only.
      for (const method of path.startsWith("/docs/static/") ? ["GET"] : ["GET", "POST", "DELETE"]) {
        const reply = await service.call(
          method,
          path,
          method === "POST" ? { body: SMALL, headers: AUTHORIZED } : {},
        );
        assert.equal(reply.status, 404);
        assert.match(reply.headers["x-request-id"]?.toString() ?? "", ID);
        assert.equal(typeof reply.body.detail, "string");
      }
    });
  }
  for (const path of ["/%", "/%zz", "/v1/systemone%", "/v1/%E0%A4%A", "/v1/%ff", "/docs/%"]) {
    test(`${path} is 400 or 404, in JSON`, async () => {
      for (const method of ["GET", "POST"]) {
        const reply = await service.call(method, path);
        assert.ok(reply.status === 404 || reply.status === 400, String(reply.status));
        assert.equal(typeof reply.body.detail, "string");
      }
    });
  }
  test("a path with other escapes of its characters is the same path or unknown", async () => {
    const { status } = await service.call("POST", "/v1/%73ystemone", { body: SMALL, headers: AUTHORIZED });
    assert.ok(status === 200 || status === 404);
    const health = await service.call("GET", "/%68ealth");
    assert.ok(health.status === 200 || health.status === 404);
  });
  test("a path by another spelling does not go around the key", async () => {
    for (const path of [
      "/v1/%73ystemone",
      "/v1/systemone?",
      "/v1/systemone#x",
      "/%76%31/rank",
      "/v1/rank?a?b",
    ]) {
      const { status } = await service.call("POST", path, { body: SMALL, headers: TYPE });
      assert.ok(status === 401 || status === 404, `${path}: ${status}`);
    }
  });
});

describe("wrong methods", () => {
  for (const method of ["GET", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "HEAD"]) {
    for (const path of POSTS) {
      test(`${method} ${path} is 405 and allows POST`, async () => {
        const reply = await service.call(method, path);
        assert.equal(reply.status, 405);
        assert.equal(reply.headers.allow, "POST");
        assert.match(reply.headers["x-request-id"]?.toString() ?? "", ID);
      });
    }
  }
  for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
    for (const path of GETS) {
      test(`${method} ${path} is 405 and allows GET`, async () => {
        for (const call of method === "POST" ? [{}, { body: SMALL }, { body: "{" }] : [{}]) {
          const reply = await service.call(method, path, call);
          assert.equal(reply.status, 405);
          assert.match(String(reply.headers.allow), /^GET(, HEAD)?$/);
        }
      });
    }
  }
  for (const path of GETS) {
    test(`HEAD ${path} is answered like GET without the body, or refused with Allow`, async () => {
      const reply = await service.call("HEAD", path);
      assert.equal(reply.text, "");
      if (reply.status === 405) assert.equal(reply.headers.allow, "GET");
      else assert.equal(reply.status, 200);
    });
  }
});

describe("x-request-id", () => {
  for (const id of ["a", "A-b.c_9", "0".repeat(128), "-", "...", "constructor"]) {
    test(`${id.slice(0, 20)} is kept with each status`, async () => {
      const given = { "x-request-id": id };
      for (const [method, target, headers, body, status] of [
        ["GET", "/health", given, undefined, 200],
        ["GET", "/docs", given, undefined, 200],
        ["GET", "/nowhere", given, undefined, 404],
        ["GET", "/v1/rank", given, undefined, 405],
        ["POST", "/v1/rank", { ...given, ...TYPE }, "{}", 401],
        ["POST", "/v1/rank", { ...given, ...AUTHORIZED }, "{}", 422],
        ["POST", "/v1/rank", { ...given, ...AUTHORIZED }, " ".repeat(2_097_153), 413],
        ["POST", "/v1/rank", { ...given, ...AUTHORIZED }, JSON.stringify(SMALL_RANK), 200],
      ] as const) {
        const reply = await service.call(method, target, {
          headers,
          ...(body === undefined ? {} : { body }),
        });
        assert.equal(reply.status, status);
        assert.equal(reply.headers["x-request-id"], id);
      }
    });
  }
  for (const id of [
    "",
    " ",
    "a b",
    "a,b",
    "0".repeat(129),
    "a/b",
    "ü",
    "<script>",
    "a\tb",
    `"a"`,
    "a;b",
    "a:b",
  ]) {
    test(`${JSON.stringify(id).slice(0, 20)} is replaced by a new one`, async () => {
      const headers = { "x-request-id": id };
      const seen = new Set<unknown>();
      for (const path of ["/health", "/nowhere", "/v1/rank"]) {
        const reply = await service.call("GET", path, { headers });
        const given = reply.headers["x-request-id"]?.toString() ?? "";
        assert.match(given, ID);
        assert.notEqual(given, id);
        seen.add(given);
      }
      assert.equal(seen.size, 3);
    });
  }
  test("two of them are replaced by one new one, or the first is taken", async () => {
    const reply = await service.call("GET", "/health", { headers: { "x-request-id": ["first", "second"] } });
    const id = String(reply.headers["x-request-id"]);
    assert.match(id, ID);
    assert.notEqual(id, "second");
  });
});

test("server-timing has the times of an inference", async () => {
  for (const [target, body] of [
    ["/v1/systemone", SMALL],
    ["/v1/rank", SMALL_RANK],
  ] as const) {
    const { headers } = await open.post(target, body);
    const entries = String(headers["server-timing"]).split(", ");
    assert.deepEqual(
      entries.map((entry) => entry.split(";")[0]),
      ["queue", "tokenize", "inference", "total"],
    );
    for (const entry of entries) assert.match(entry, /^[a-z]+;dur=\d+(\.\d+)?$/);
  }
});

test("counters add up", async () => {
  const before = await open.health();
  for (let count = 0; count < 3; count += 1) await open.decide(SMALL);
  await open.rank(SMALL_RANK);
  await open.refused("/v1/systemone", "{}");
  const after = await open.health();
  const grown = (name: string): number => Number(after[name]) - Number(before[name]);
  assert.equal(grown("completed_requests"), 4);
  assert.equal(grown("model_batches"), 4);
  assert.ok(grown("model_forwards") >= 4);
  for (const name of ["rejected", "timed_out", "failed", "cancelled"])
    assert.equal(grown(`${name}_requests`), 0);
  for (const name of ["queued_requests", "running_requests", "cache_size", "cache_hits"])
    assert.equal(after[name], 0);
});

test("pages load nothing from elsewhere", async () => {
  for (const path of ["/docs", "/redoc"]) {
    const { text, headers } = await service.call("GET", path);
    const tags = text.replace(/(<script[^>]*>)[\s\S]*?<\/script>/g, "$1");
    assert.match(String(headers["content-type"]), /^text\/html/);
    for (const [, asset = ""] of tags.matchAll(/<(?:script|link|img)\b[^>]*?\s(?:src|href)="([^"#]+)"/g)) {
      assert.doesNotMatch(asset, /^(https?:)?\/\//);
      if (asset.startsWith("data:")) continue;
      const target = new URL(asset, `http://localhost${path}`).pathname;
      assert.equal((await service.call("GET", target)).status, 200, target);
    }
  }
});

test("the document is this contract", async () => {
  const document = JSON.parse((await service.call("GET", "/openapi.json")).text);
  assert.match(document.openapi, /^3\./);
  for (const path of [...GETS, ...POSTS]) assert.ok(path in document.paths, path);
});
