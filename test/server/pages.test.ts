import assert from "node:assert/strict";
import { after, test } from "node:test";
import { fakeServer } from "./doubles.ts";

const app = await fakeServer();
after(() => app.close());

const HTML = "text/html; charset=utf-8";
const SCRIPT = /^(text|application)\/javascript/;

for (const url of ["/docs", "/docs/", "/redoc"]) {
  test(`${url} is a page that may load nothing from another host`, async () => {
    const answer = await app.inject({ method: "GET", url });
    assert.deepEqual([answer.statusCode, answer.headers["content-type"]], [200, HTML]);
    const policy = String(answer.headers["content-security-policy"]);
    assert.match(policy, /default-src 'none'/);
    assert.doesNotMatch(policy, /https?:|\*|unsafe-eval|upgrade-insecure/);
    assert.doesNotMatch(answer.body, /(src|href)="(https?:)?\/\//);
    assert.equal(answer.headers["cache-control"], "no-cache");
    assert.equal(answer.headers["x-content-type-options"], "nosniff");
  });

  test(`every file that ${url} names is served`, async () => {
    const page = await app.inject({ method: "GET", url });
    const names = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, name = ""]) => name);
    const files = names.filter((name) => !name.startsWith("data:"));
    assert.ok(files.length > 0);
    for (const name of files) {
      const file = new URL(name, `http://localhost${url}`).pathname;
      const answer = await app.inject({ method: "GET", url: file });
      assert.equal(answer.statusCode, 200, file);
      assert.match(String(answer.headers["cache-control"]), /^public, max-age=\d+$/, file);
      if (file.endsWith(".js")) assert.match(String(answer.headers["content-type"]), SCRIPT);
    }
  });
}

test("Redoc's bundle asks no other host for its logo", async () => {
  const bundle = (await app.inject({ method: "GET", url: "/redoc/redoc.standalone.js" })).body;
  assert.doesNotMatch(bundle, /cdn\.redoc/);
});

test("a missing file of a page is not kept in caches", async () => {
  const answer = await app.inject({ method: "GET", url: "/docs/static/nothing.js" });
  assert.deepEqual([answer.statusCode, answer.headers["cache-control"]], [404, "no-store"]);
});

test("the document that Swagger UI reads is the contract's", async () => {
  const answer = await app.inject({ method: "GET", url: "/docs/json" });
  assert.equal(answer.json().info.title, "Fake");
});
