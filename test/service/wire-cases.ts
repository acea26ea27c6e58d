import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { assertProtocolError } from "../contract/response-check.ts";
import { head, type WireAnswer, WireClient } from "../server/wire.ts";
import { assertReply, type Body, type Client, KEY, MARK, SMALL, SMALL_RANK } from "./service.ts";

/** @param start starts the service that is asked, with `KEY` */
export function testWire(start: () => Promise<Client>): void {
  let service: Client;
  before(async () => {
    service = await start();
  });
  after(() => service.stop());

  const TYPE = "Content-Type: application/json";
  const AUTH = `Authorization: Bearer ${KEY}`;
  const TEXT = JSON.stringify(SMALL);

  /** The next answer, its body parsed also where the type names a charset. */
  async function read(client: WireClient, method?: string): Promise<WireAnswer> {
    const answer = await client.read(method);
    const isJson = answer.headers["content-type"]?.startsWith("application/json") && answer.text !== "";
    return isJson ? { ...answer, body: JSON.parse(answer.text) } : answer;
  }

  async function withClient(run: (client: WireClient) => Promise<void>): Promise<void> {
    const client = await WireClient.open(service.port);
    try {
      await run(client);
    } finally {
      client.close();
    }
  }

  function post(body: string, ...lines: string[]): string {
    return (
      head("POST /v1/systemone", TYPE, AUTH, `Content-Length: ${Buffer.byteLength(body)}`, ...lines) + body
    );
  }

  function assertInference(answer: WireAnswer): void {
    assertReply("POST", "/v1/systemone", { ...answer, body: answer.body as unknown as Body }); // the check is within
    assert.equal(answer.status, 200, answer.text);
  }

  describe("a message that is not HTTP gets a JSON 4xx and the end of the connection:", () => {
    for (const { name, given, status = [400] } of [
      { name: "words", given: `${MARK} ${MARK}\r\n\r\n` },
      { name: "another protocol", given: "GET /health HTTQ/1.1\r\n\r\n" },
      { name: "version 9.9", given: "GET /health HTTP/9.9\r\nHost: localhost\r\n\r\n", status: [400, 505] },
      {
        name: "a method of no known name",
        given: `${MARK.toUpperCase()} /health HTTP/1.1\r\nHost: localhost\r\n\r\n`,
      },
      { name: "a method in small letters", given: "get /health HTTP/1.1\r\nHost: localhost\r\n\r\n" },
      {
        name: "the preface of HTTP/2",
        given: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        status: [400, 404, 405, 505],
      },
      { name: "TLS", given: Buffer.from("16030100c8010000c40303", "hex") },
      { name: "zeros", given: Buffer.alloc(64) },
      {
        name: "a header without a colon",
        given: `GET /health HTTP/1.1\r\nHost: localhost\r\n${MARK}\r\n\r\n`,
      },
      { name: "a header with a space before its colon", given: head("GET /health", `X-A : ${MARK}`) },
      { name: "a header with a zero byte", given: head("GET /health", `X-A: a\u0000${MARK}`) },
      { name: "a folded header", given: head("GET /health", "X-A: a", ` ${MARK}`) },
      { name: "a space in the path", given: head("GET /health /ready") },
      { name: "a missing Host", given: "GET /health HTTP/1.1\r\n\r\n" },
      { name: "two Hosts", given: head("GET /health", "Host: b") },
      {
        name: "two lengths",
        given: head("POST /v1/rank", TYPE, AUTH, "Content-Length: 2", "Content-Length: 3"),
      },
      { name: "a list of lengths", given: head("POST /v1/rank", TYPE, AUTH, "Content-Length: 2, 3") },
      { name: "a negative length", given: head("POST /v1/rank", TYPE, AUTH, "Content-Length: -1") },
      { name: "a length with a plus", given: head("POST /v1/rank", TYPE, AUTH, "Content-Length: +2") },
      { name: "a hexadecimal length", given: head("POST /v1/rank", TYPE, AUTH, "Content-Length: 0x10") },
      {
        name: "an endless length",
        given: head("POST /v1/rank", TYPE, AUTH, `Content-Length: ${"9".repeat(40)}`),
      },
      {
        name: "a length beside chunks",
        given: `${head("POST /v1/rank", TYPE, AUTH, "Content-Length: 5", "Transfer-Encoding: chunked")}0\r\n\r\n`,
      },
      {
        name: "chunks beside a length",
        given: `${head("POST /v1/rank", TYPE, AUTH, "Transfer-Encoding: chunked", "Content-Length: 5")}0\r\n\r\n`,
      },
      {
        name: "chunks under a false name",
        given: `${head("POST /v1/rank", TYPE, AUTH, "Transfer-Encoding : chunked")}0\r\n\r\n`,
      },
      {
        name: "chunks that are not the last coding",
        given: `${head("POST /v1/rank", TYPE, AUTH, "Transfer-Encoding: chunked, identity")}0\r\n\r\n`,
      },
      {
        name: "a chunk of size zz",
        given: `${head("POST /v1/rank", TYPE, AUTH, "Transfer-Encoding: chunked")}zz\r\n`,
      },
      { name: "headers of 100 kB", given: head("GET /health", `X-A: ${"a".repeat(100_000)}`), status: [431] },
      {
        name: "10,000 headers",
        given: head("GET /health", ...Array.from({ length: 10_000 }, (_, i) => `X-${i}: ${i}`)),
        status: [431],
      },
      { name: "a path of 100 kB", given: head(`GET /${"a".repeat(100_000)}`), status: [431, 400, 414] },
    ]) {
      test(`${name}`, async () => {
        await withClient(async (client) => {
          await client.send(given);
          const answer = await read(client);
          assert.ok(status.includes(answer.status), `${answer.status} ${answer.text}`);
          if ([400, 404, 405, 408, 431].includes(answer.status))
            assertProtocolError(answer.status, answer.headers, answer.body);
          assert.ok(!answer.text.includes(MARK) && !answer.text.includes(MARK.toUpperCase()));
          await client.ended();
          assert.equal(client.error, undefined);
        });
      });
    }
  });

  test("a body with two possible ends gets a single answer", async () => {
    const hidden = head("GET /v1/models");
    for (const lines of [
      ["Content-Length: 5", "Transfer-Encoding: chunked"],
      ["Transfer-Encoding: chunked", `Content-Length: ${hidden.length + 5}`],
      ["Transfer-Encoding: xchunked"],
      ["Transfer-Encoding: chunked", "Transfer-Encoding: identity"],
      ["Transfer-Encoding:\u000bchunked"],
      ["Content-Length: 5", "Content-Length: 5"],
    ]) {
      await withClient(async (client) => {
        await client.send(`${head("POST /v1/rank", TYPE, AUTH, ...lines)}0\r\n\r\n${hidden}`);
        const answer = await read(client);
        assert.ok(answer.status >= 400, `${lines.join()}: ${answer.status}`);
        const next = await read(client).then(
          ({ status }) => status,
          () => undefined,
        );
        // Equal lengths may be taken as one; then what follows is a request of its own.
        if (lines[1] !== "Content-Length: 5") assert.equal(next, undefined, lines.join());
      });
    }
  });

  test("an upgrade to h2c is ignored, with a body and without", async () => {
    const upgrade = [
      "Connection: Upgrade, HTTP2-Settings",
      "Upgrade: h2c",
      "HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA",
    ];
    await withClient(async (client) => {
      await client.send(post(TEXT, ...upgrade));
      assertInference(await read(client));
      await client.send(head("GET /health", ...upgrade));
      assert.equal((await read(client)).status, 200);
      await client.send(post(TEXT, ...upgrade));
      assertInference(await read(client));
      await client.send(
        head("GET /health", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: x"),
      );
      assert.equal((await read(client)).status, 200);
      await client.send(head("POST /v1/rank", TYPE, ...upgrade, "Content-Length: 2"), "{}");
      assert.equal((await read(client)).status, 401);
    });
  });

  test("Expect: 100-continue gets its 100 and then its answer", async () => {
    await withClient(async (client) => {
      await client.send(
        head("POST /v1/systemone", TYPE, AUTH, `Content-Length: ${TEXT.length}`, "Expect: 100-continue"),
      );
      assert.equal((await read(client)).status, 100);
      await client.send(TEXT);
      assertInference(await read(client));
    });
  });

  test("Expect: 100-continue without a key gets its 401 and no invitation to send", async () => {
    await withClient(async (client) => {
      await client.send(
        head("POST /v1/systemone", TYPE, `Content-Length: ${TEXT.length}`, "Expect: 100-continue"),
      );
      const answer = await read(client);
      // A 100 before the refusal asks for an unwanted body but is harmless.
      const final = answer.status === 100 ? await read(client) : answer;
      assert.equal(final.status, 401);
    });
  });

  test("another expectation is answered in JSON or ignored", async () => {
    await withClient(async (client) => {
      await client.send(post(TEXT, "Expect: the-unexpected"));
      const answer = await read(client);
      assert.ok([200, 400, 417].includes(answer.status), String(answer.status));
      if (answer.status !== 200) assert.equal(typeof answer.body.detail, "string");
    });
  });

  test("pipelined requests are answered in order", async () => {
    await withClient(async (client) => {
      await client.send(post(TEXT) + head("GET /health") + post("{") + head("GET /nowhere") + post(TEXT));
      const statuses: number[] = [];
      for (let count = 0; count < 5; count += 1) statuses.push((await read(client)).status);
      assert.deepEqual(statuses, [200, 200, 422, 404, 200]);
    });
  });

  describe("the connection goes on, or ends, after", () => {
    const long = TEXT.padEnd(2_097_153);
    const unsigned = head("POST /v1/systemone", TYPE, `Content-Length: ${TEXT.length}`) + TEXT;
    for (const { name, given, status } of [
      { name: "a 401", given: unsigned, status: 401 },
      {
        name: "a 401 for a long body",
        given: head("POST /v1/systemone", TYPE, `Content-Length: ${long.length}`) + long,
        status: 401,
      },
      {
        name: "a 401 for chunks",
        given: `${head("POST /v1/systemone", TYPE, "Transfer-Encoding: chunked")}2\r\n{}\r\n0\r\n\r\n`,
        status: 401,
      },
      { name: "a 413", given: post(long), status: 413 },
      {
        name: "a 422 for the type",
        given: head("POST /v1/rank", AUTH, `Content-Length: ${TEXT.length}`) + TEXT,
        status: 422,
      },
      { name: "a 422 for the JSON", given: post("{{{"), status: 422 },
      {
        name: "a 404",
        given: head("POST /nowhere", TYPE, `Content-Length: ${TEXT.length}`) + TEXT,
        status: 404,
      },
      {
        name: "a 405",
        given: head("PUT /v1/rank", TYPE, `Content-Length: ${TEXT.length}`) + TEXT,
        status: 405,
      },
      {
        name: "a GET with a body",
        given: head("GET /health", `Content-Length: ${TEXT.length}`) + TEXT,
        status: 200,
      },
      {
        name: "a GET with a body that looks like a request",
        given: `${head("GET /health", `Content-Length: ${head("GET /nowhere").length}`)}${head("GET /nowhere")}`,
        status: 200,
      },
    ]) {
      test(name, async () => {
        await withClient(async (client) => {
          await client.send(given);
          const first = await read(client);
          assert.equal(first.status, status);
          await client.send(post(TEXT)); // fails without harm where the connection ended
          const next = await read(client).catch(() => undefined);
          if (next === undefined) assert.equal(first.headers.connection, "close");
          else assertInference(next);
          assert.equal(client.error, undefined);
        });
      });
    }
  });

  test("a client that writes 2 MiB and more before it reads gets its answer and no reset", async () => {
    const body = Buffer.alloc(3_000_000, 0x20);
    for (const [lines, status] of [
      [[TYPE], 401],
      [[TYPE, AUTH], 413],
      [["Content-Type: text/plain", AUTH], 422],
    ] as const) {
      await withClient(async (client) => {
        client.socket.pause();
        await client.send(head("POST /v1/systemone", ...lines, `Content-Length: ${body.length}`), body);
        client.socket.resume();
        assert.equal((await read(client)).status, status);
        assert.equal(client.error, undefined);
      });
    }
  });

  test("HTTP/1.0 is answered and its connection ends", async () => {
    await withClient(async (client) => {
      const text = JSON.stringify(SMALL_RANK);
      await client.send(
        `POST /v1/rank HTTP/1.0\r\n${TYPE}\r\n${AUTH}\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
      );
      assert.equal((await read(client)).status, 200);
      await client.ended();
    });
  });

  test("a target in absolute form is its path, or refused in JSON", async () => {
    await withClient(async (client) => {
      const line = "POST http://other.example/v1/systemone";
      await client.send(`${head(line, TYPE, `Content-Length: ${TEXT.length}`)}${TEXT}`);
      const answer = await read(client);
      assert.ok([401, 400, 404].includes(answer.status), String(answer.status));
      assert.equal(typeof answer.body.detail, "string");
    });
  });

  for (const line of [
    "OPTIONS *",
    "GET *",
    "CONNECT example.org:443",
    "GET health",
    "GET http://",
    "GET ?",
  ]) {
    test(`${line} is refused in JSON`, async () => {
      await withClient(async (client) => {
        await client.send(head(line));
        const answer = await read(client, line.split(" ")[0]);
        assertProtocolError(answer.status, answer.headers, answer.body);
      });
    });
  }

  test("two keys, the second of them right, are refused", async () => {
    await withClient(async (client) => {
      await client.send(
        `${head("POST /v1/systemone", TYPE, "Authorization: Bearer x", AUTH, `Content-Length: ${TEXT.length}`)}${TEXT}`,
      );
      const { status } = await read(client);
      assert.ok(status === 401 || status === 400, String(status));
    });
  });

  test("two media types of which one is not JSON are refused", async () => {
    await withClient(async (client) => {
      const lines = ["Content-Type: text/plain", TYPE, AUTH, `Content-Length: ${TEXT.length}`];
      await client.send(`${head("POST /v1/systemone", ...lines)}${TEXT}`);
      assert.ok([400, 422].includes((await read(client)).status));
    });
  });

  test("a body in many small chunks, with extensions and trailers, is one body", async () => {
    await withClient(async (client) => {
      const chunks = [...TEXT].map((letter) => `1;ext=x\r\n${letter}\r\n`).join("");
      await client.send(
        head("POST /v1/systemone", TYPE, AUTH, "Transfer-Encoding: chunked"),
        `${chunks}0\r\nX-Trailer: ${MARK}\r\n\r\n`,
      );
      assertInference(await read(client));
    });
  });

  test("a character cut in two by chunks is whole", async () => {
    await withClient(async (client) => {
      const bytes = Buffer.from(JSON.stringify({ ...SMALL, state: "😀é漢" }));
      await client.send(head("POST /v1/systemone", TYPE, AUTH, "Transfer-Encoding: chunked"));
      for (const byte of bytes) await client.send("1\r\n", Uint8Array.of(byte), "\r\n");
      await client.send("0\r\n\r\n");
      assertInference(await read(client));
    });
  });

  test("a body that ends before its length is no request", async () => {
    await withClient(async (client) => {
      await client.send(head("POST /v1/systemone", TYPE, AUTH, `Content-Length: ${TEXT.length + 9}`), TEXT);
      client.socket.end();
      const answer = await read(client).catch(() => undefined);
      if (answer !== undefined) assertProtocolError(answer.status, answer.headers, answer.body);
    });
  });

  test("HEAD answers have no body, whatever the status", async () => {
    await withClient(async (client) => {
      for (const path of ["/health", "/nowhere", "/v1/rank", "/openapi.json"]) {
        await client.send(head(`HEAD ${path}`));
        assert.ok((await read(client, "HEAD")).status >= 200);
        await client.send(head("GET /health"));
        assert.equal((await read(client)).status, 200, "the next answer is in its place");
      }
    });
  });
}
