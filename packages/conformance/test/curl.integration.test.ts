import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { after, before, describe, it } from "node:test";
import { curlLine } from "../src/client/curl.ts";

const KEY = "secret-of-the-test";
/** Keys with characters that are special in shells, `printf`, JSON and URLs. */
const STRANGE_KEYS = ["it's-'so'", "back\\slash\\n\\", "100%s%41%", `a"b$c\`d!e`, "q?a=1&b#+[x]{y}/@"];
const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port; // they listen on TCP

/** Runs a line in a shell, with the key in the environment. */
async function inShell(line: string, key = KEY): Promise<void> {
  const child = spawn("sh", ["-c", line], {
    env: { ...process.env, DECISION_API_KEY: key },
    stdio: "ignore",
  });
  await once(child, "exit");
}

describe("a curl line sends the very request again:", () => {
  const received: { url: string; headers: IncomingHttpHeaders; body: Buffer }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      received.push({ url: request.url ?? "", headers: request.headers, body: Buffer.concat(chunks) });
      response.end();
    });
  });
  before(async () => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  const noise = Array.from({ length: 500 }, (_, index) => Math.sin(index)).join(" ");
  for (const { name, body } of [
    { name: "no body", body: undefined },
    { name: "an empty body", body: "" },
    { name: "quotes", body: `{"a":"it's \\"so\\""}` },
    { name: "an @ in front", body: "@/etc/passwd" },
    { name: "control characters and backslashes", body: "a\r\n\t\u0000b\\n %s %b \u0085é😀" },
    { name: "a long repetition", body: `{"state":"${"go ".repeat(5000)}"}` },
    { name: "two MiB of spaces", body: "{}".padEnd(2_097_153) },
    { name: "bytes that are no UTF-8", body: Buffer.from([0xff, 0x00, 0x27, 0x0a, 0x80]) },
    { name: "a long text without repetitions", body: noise },
  ]) {
    it(name, async () => {
      const headers = {
        "content-type": "application/json",
        authorization: `Bearer ${KEY}`,
        "x-request-id": `a"b'c`,
        "x-empty": "",
      };
      const url = `http://127.0.0.1:${portOf(server)}/a/../b?x=1`;
      const line = curlLine({ method: "POST", url, headers, body }, KEY);
      assert.ok(!line.includes(KEY), "the key is in the line");
      await inShell(line);
      const request = received.pop();
      assert.ok(request, line.slice(0, 500));
      assert.equal(request.url, "/a/../b?x=1");
      assert.ok(request.body.equals(Buffer.from(body ?? "")));
      for (const [header, value] of Object.entries(headers)) assert.equal(request.headers[header], value);
    });
  }

  for (const key of STRANGE_KEYS) {
    it(`the key ${key} wherever it stands, and near misses of it`, async () => {
      const headers = {
        authorization: `Bearer ${key}`,
        cookie: `authorization=Bearer ${key}`,
        "x-begun": key.slice(0, -1),
        "x-ended": key.slice(1),
        "x-longer": `${key}'x`,
      };
      const path = `/v1/rank?key=${encodeURIComponent(key)}&b=1`;
      const url = `http://127.0.0.1:${portOf(server)}${path}`;
      const body = Buffer.concat([
        Buffer.from(`{"${key}":"`),
        Buffer.from([0xff, 0x00]),
        Buffer.from(`"}${key}`),
      ]);
      const line = curlLine({ method: "POST", url, headers, body }, key);
      for (const secret of [key, key.slice(0, -1), key.slice(1), encodeURIComponent(key)])
        assert.ok(!line.includes(secret) && !line.includes(secret.replaceAll("'", "'\\''")), line);
      await inShell(line, key);
      const request = received.pop();
      assert.ok(request, line);
      assert.equal(request.url, path);
      assert.ok(request.body.equals(body));
      for (const [header, value] of Object.entries(headers)) assert.equal(request.headers[header], value);
    });
  }
});

// each line sleeps for two seconds
describe("a line for a bare connection sends the very bytes again", { concurrency: 6 }, () => {
  for (const key of [KEY, ...STRANGE_KEYS]) {
    it(`with the key ${key}`, async () => {
      const chunks: Buffer[] = [];
      const bare = createTcpServer((socket) => {
        socket.on("error", () => {});
        socket.on("data", (chunk) => {
          chunks.push(chunk);
          if (Buffer.concat(chunks).includes("\r\n\r\n")) socket.end("HTTP/1.1 400 No\r\n\r\n");
        });
      });
      bare.listen(0, "127.0.0.1");
      await once(bare, "listening");
      const raw = `GET /health HTTQ/1.1\r\nAuthorization: Bearer ${key}\r\n%s\\n\r\n\r\n`;
      const request = { method: "", url: `http://127.0.0.1:${portOf(bare)}/`, headers: {}, raw };
      const line = curlLine(request, key);
      for (const secret of [key, key.replaceAll("\\", "\\\\"), key.replaceAll("'", "'\\''")])
        assert.ok(!line.includes(secret), line);
      await inShell(line, key);
      bare.close();
      assert.equal(Buffer.concat(chunks).toString(), raw);
    });
  }
});
