import assert from "node:assert/strict";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { launch } from "../playground/browser.ts";
import { Service } from "../service/service.ts";

const PREFIX = "/decisions";

let browser: Browser;
let service: Service;
/** What a page complained of, and what it asked outside the prefix. */
let complaints: string[];
let page: Page;

/** A reverse proxy that strips a prefix of the path. */
const proxy = createServer((incoming, outgoing) => {
  const { method, headers, url = "" } = incoming;
  if (!url.startsWith(`${PREFIX}/`)) {
    complaints.push(`asks ${url}`);
    outgoing.writeHead(404).end();
    return;
  }
  const target = { host: "127.0.0.1", port: service.port, method, headers, path: url.slice(PREFIX.length) };
  const passed = request(target, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
    answer.pipe(outgoing);
  });
  incoming.pipe(passed);
}).listen(0, "127.0.0.1");

before(async () => {
  [browser, service] = await Promise.all([launch(), Service.start()]);
  page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
});
after(async () => {
  await browser.close();
  proxy.close();
  await service.stop();
});

async function open(path: string): Promise<void> {
  complaints = [];
  const { port } = proxy.address() as AddressInfo; // a TCP listener's address is an AddressInfo
  await page.goto(`http://127.0.0.1:${port}${PREFIX}${path}`);
}

describe("behind a proxy that strips a prefix, the documentation", () => {
  for (const [path, operation] of [
    ["/docs", "/v1/systemone"],
    ["/docs/typesafe/?a=b", "/v1/systemone"],
    ["/redoc", "/v1/systemone"],
    ["/redoc/rerank", "/v2/rerank"],
  ] as const)
    it(`begins with the operations at ${path}`, async () => {
      await open(path);
      const shown = page.getByText(operation, { exact: true }).first();
      await shown.waitFor();
      assert.ok(((await shown.boundingBox())?.y ?? 900) < 900, "without scrolling");
      assert.equal(await page.getByText("Order of checks").first().isVisible(), false);
      assert.deepEqual(complaints, []);
    });

  it("sends the requests of its forms to the service below the prefix", async () => {
    await open("/docs");
    await page.locator("[id$=listModels] .opblock-summary-control").click();
    await page.getByText("Try it out").click();
    const answered = page.waitForResponse((response) => response.url().endsWith(`${PREFIX}/v1/models`));
    await page.getByText("Execute").click();
    assert.equal((await answered).status(), 200);
    assert.deepEqual(complaints, []);
  });

  it("has the rules behind one link", async () => {
    await open("/docs");
    const link = page.getByText("Rules for all requests and responses");
    assert.match((await link.getAttribute("href")) ?? "", /redoc#tag\/Rules$/);
    await open("/redoc#tag/Rules");
    await page.getByText("Order of checks").first().waitFor();
    assert.deepEqual(complaints, []);
  });
});
