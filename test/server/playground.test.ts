import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { after, test } from "node:test";
import { gzipSync } from "node:zlib";
import { packageRoot } from "../support/package-root.ts";
import { fakeServer } from "./doubles.ts";

const app = await fakeServer();
after(() => app.close());

const BROWSER = { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" };
const get = (url: string, headers: Record<string, string> = BROWSER) =>
  app.inject({ method: "GET", url, headers });

test("a browser at / gets a page that may load and run nothing but its own files", async () => {
  for (const url of ["/", "/?a=b"]) {
    const page = await get(url);
    assert.deepEqual([page.statusCode, page.headers["content-type"]], [200, "text/html; charset=utf-8"]);
    const policy = String(page.headers["content-security-policy"]);
    assert.match(
      policy,
      /default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'/,
    );
    assert.doesNotMatch(policy, /unsafe|https?:|\*/);
    assert.doesNotMatch(page.body, /<script(?![^>]*\ssrc=)|<style|\son\w+=|\sstyle=/);
    assert.equal(page.headers["cache-control"], "no-cache");
    assert.equal(page.headers.vary, "accept, accept-encoding");
    assert.equal(page.headers["x-content-type-options"], "nosniff");
    assert.equal(page.headers["referrer-policy"], "no-referrer");
    assert.match(String(page.headers["x-request-id"]), /^[0-9a-f-]{36}$/);
  }
});

const PROGRAMS: readonly Record<string, string>[] = [
  {},
  { accept: "*/*" },
  { accept: "application/json" },
  { accept: "text/*" },
  { accept: "text/html;q=0, */*" },
  { accept: "text/htmlx" },
];
for (const headers of PROGRAMS) {
  test(`at / there is nothing for a program that accepts ${headers.accept ?? "nothing in particular"}`, async () => {
    const reply = await get("/", headers);
    assert.deepEqual([reply.statusCode, reply.json()], [404, { detail: "This path does not exist." }]);
    assert.equal(reply.headers["x-decision-error"], "NOT_FOUND");
    assert.equal(reply.headers.vary, "accept");
  });
}

test("the page is at / alone, and only to be read", async () => {
  for (const url of ["//", "/index.html", "/playground", "/playground/", "/playground/index.html", "/x"])
    assert.equal((await get(url)).statusCode, 404, url);
  for (const method of ["POST", "PUT", "DELETE"] as const)
    assert.equal((await app.inject({ method, url: "/", headers: BROWSER })).statusCode, 404, method);
});

test("HEAD has the headers of GET and no body", async () => {
  const [whole, head] = [await get("/"), await app.inject({ method: "HEAD", url: "/", headers: BROWSER })];
  assert.deepEqual([head.statusCode, head.body], [200, ""]);
  for (const name of ["etag", "content-length", "content-type", "cache-control"])
    assert.equal(head.headers[name], whole.headers[name], name);
});

test("page and files are not sent again to a browser that has them", async () => {
  const page = await get("/");
  const files = [...page.body.matchAll(/(?:src|href)="(playground\/[^"]+)"/g)].map(
    ([, file = ""]) => `/${file}`,
  );
  assert.equal(files.length, 2);
  for (const url of ["/", ...files]) {
    const whole = await get(url);
    assert.equal(whole.statusCode, 200, url);
    const etag = String(whole.headers.etag);
    for (const known of [etag, `"other", W/${etag}`]) {
      const again = await get(url, { ...BROWSER, "if-none-match": known });
      assert.deepEqual([again.statusCode, again.body, again.headers.etag], [304, "", etag]);
    }
    assert.equal((await get(url, { ...BROWSER, "if-none-match": '"other"' })).statusCode, 200);
    if (url !== "/")
      assert.match(String(whole.headers["cache-control"]), /^public, max-age=31536000, immutable$/);
  }
});

test("script, style and page have at most 100 kB compressed, and name no other host", () => {
  const folder = path.join(packageRoot, "dist/assets/playground");
  const served = readdirSync(folder).filter((name) => !name.endsWith(".txt"));
  const contents = served.map((name) => readFileSync(path.join(folder, name)));
  const bytes = contents.reduce((sum, content) => sum + gzipSync(content).byteLength, 0);
  assert.ok(bytes > 5_000 && bytes <= 100_000, `${bytes} bytes`);
  const hosts = contents.join("\n").match(/https?:\/\/[\w.:-]+/g) ?? [];
  const isHarmless = (host: string) => /www\.w3\.org$|win-now\.example$/.test(host); // a namespace, an example's text
  assert.deepEqual(
    hosts.filter((host) => !isHarmless(host)),
    [],
  );
});
