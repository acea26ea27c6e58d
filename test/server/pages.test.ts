import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { gunzipSync } from "node:zlib";
import type { ServedDialect } from "../../src/server/server.ts";
import { fakeContract, fakeServer } from "./doubles.ts";

const dialect: ServedDialect = {
  name: "other",
  basePath: "/other",
  contract: { ...fakeContract(), document: { info: { title: "Other" } }, routes: [] },
  maxBodyBytes: undefined,
  bareKeys: undefined,
  requestIdHeader: undefined,
};
const app = await fakeServer({ dialects: [dialect] });
after(() => app.close());
const get = (url: string, headers = {}) => app.inject({ method: "GET", url, headers });

const SCRIPT = /^text\/javascript/;
const PAGES = [
  "/docs",
  "/docs/",
  "/docs?a=b",
  "/docs/other",
  "/docs/other/",
  "/redoc",
  "/redoc/",
  "/redoc/other",
];

/** Addresses that a page names: files, other pages, documents. */
function namedIn(page: string): string[] {
  const names = [...page.matchAll(/(?:src|href|data-\w+)="([^"]+)"/g)].map(([, name = ""]) => name);
  return names.filter((name) => !name.startsWith("data:"));
}

for (const url of PAGES) {
  test(`${url} is a page that may load nothing from another host`, async () => {
    const answer = await get(url);
    assert.deepEqual([answer.statusCode, answer.headers["content-type"]], [200, "text/html; charset=utf-8"]);
    const policy = String(answer.headers["content-security-policy"]);
    assert.match(policy, /default-src 'none'/);
    assert.doesNotMatch(policy, /https?:|\*|unsafe-eval|upgrade-insecure/);
    assert.equal(answer.headers["cache-control"], "no-cache");
    assert.equal(answer.headers["x-content-type-options"], "nosniff");
  });

  test(`everything that ${url} names is there, also behind a proxy that strips a prefix`, async () => {
    const names = namedIn((await get(url)).body);
    assert.ok(names.length > 5);
    for (const name of names) {
      assert.match(name, /^\.\.?\//, "relative");
      const { pathname, search } = new URL(name, `http://localhost/decisions${url}`);
      assert.match(pathname, /^\/decisions\//);
      const there = pathname.slice("/decisions".length);
      if (["/", "/other"].includes(there)) continue; // the playground, and where operations are
      const answer = await get(there + search);
      assert.equal(answer.statusCode, 200, there);
      if (/\.(js|css)$/.test(there))
        assert.match(String(answer.headers["cache-control"]), /^public, max-age=\d+$/);
      if (there.endsWith(".js")) assert.match(String(answer.headers["content-type"]), SCRIPT);
    }
  });
}

test("a page shows the document of its contract, and calls the paths below it", async () => {
  for (const [url, document, operations] of [
    ["/docs", "./openapi.typed.json", "./"],
    ["/redoc/", "../openapi.typed.json", "../"],
    ["/docs/other", "../docs/contracts/other.json", "../other"],
  ] as const) {
    const { body } = await get(url);
    assert.ok(body.includes(`data-document="${document}"`), url);
    assert.ok(body.includes(`data-operations="${operations}"`), url);
  }
  assert.equal((await get("/docs/contracts/other.json")).json().info.title, "Other");
});

describe("the files of the pages", () => {
  const LARGE = ["/docs/static/swagger-ui-bundle.js", "/redoc/redoc.standalone.js"];

  test("are compressed once, for those that take it", async () => {
    for (const url of LARGE) {
      const plain = await get(url);
      assert.equal(plain.headers["content-encoding"], undefined);
      for (const accepted of ["gzip", "br, gzip;q=0.5", "deflate,GZIP"]) {
        const answer = await get(url, { "accept-encoding": accepted });
        assert.deepEqual(
          [answer.headers["content-encoding"], answer.headers.vary],
          ["gzip", "accept-encoding"],
        );
        assert.ok(answer.rawPayload.length < plain.rawPayload.length / 2);
        assert.ok(gunzipSync(answer.rawPayload).equals(plain.rawPayload));
      }
      for (const accepted of ["gzip;q=0", "br", "gzip;q=0.0, br", "xgzip"])
        assert.equal(
          (await get(url, { "accept-encoding": accepted })).headers["content-encoding"],
          undefined,
        );
    }
  });

  test("are not sent again to a browser that has them", async () => {
    const { etag } = (await get("/docs/static/page.js")).headers;
    const again = await get("/docs/static/page.js", { "if-none-match": etag });
    assert.deepEqual([again.statusCode, again.body], [304, ""]);
  });

  test("name no other host for the logo of Redoc", async () => {
    assert.doesNotMatch((await get("/redoc/redoc.standalone.js")).body, /cdn\.redoc/);
  });

  test("have neither a way out of their folder nor a place in caches if they do not exist", async () => {
    const answer = await get("/docs/static/nothing.js");
    assert.deepEqual([answer.statusCode, answer.headers["cache-control"]], [404, "no-store"]);
    assert.equal((await get("/docs/static/..%2f..%2fpackage.json")).statusCode, 404);
  });
});

test("nothing renders the document anew for each request", async () => {
  for (const url of ["/docs/yaml", "/docs/json"]) assert.equal((await get(url)).statusCode, 404, url);
});

test("an operator can turn the pages off", async () => {
  const closed = await fakeServer({ dialects: [dialect], docs: false });
  const headers = { accept: "text/html" };
  for (const url of ["/", ...PAGES, "/docs/static/page.js", "/redoc/redoc.standalone.js"])
    assert.equal((await closed.inject({ method: "GET", url, headers })).statusCode, 404, url);
  assert.equal((await closed.inject({ method: "GET", url: "/openapi.typed.json" })).statusCode, 200);
  await closed.close();
});
