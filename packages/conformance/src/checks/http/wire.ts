import { excerpt, type Reply } from "../../client/exchange.ts";
import { at, namesOf } from "../../client/json.ts";
import type { Wire } from "../../client/wire.ts";
import { type Check, checksOf, keylessChecksOf } from "../../trial/check.ts";
import { RANK, SMALL, SYSTEMONE } from "../../trial/operations.ts";
import type { Trial } from "../../trial/trial.ts";

const TYPE = "Content-Type: application/json";
const TEXT = JSON.stringify(SMALL);
const OTHER_TEXT = JSON.stringify({ ...SMALL, questions: { other: SMALL.questions.q } });
const H2C = [
  "Connection: Upgrade, HTTP2-Settings",
  "Upgrade: h2c",
  "HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA",
];

/** Heads that are not valid HTTP; `HOST` stands for the Host header. */
const BROKEN = {
  words: ["hello there"],
  "another protocol": ["GET /health HTTQ/1.1"],
  "an unknown method": ["FROBNICATE /health HTTP/1.1", "HOST"],
  "a header without a colon": ["GET /health HTTP/1.1", "HOST", "no colon"],
  "a space in the path": ["GET /health /ready HTTP/1.1", "HOST"],
  "a length that is not a number": ["POST /v1/rank HTTP/1.1", "HOST", TYPE, "Content-Length: 1x"],
  "two different lengths": ["POST /v1/rank HTTP/1.1", "HOST", TYPE, "Content-Length: 2", "Content-Length: 3"],
  "a chunk of size zz": ["POST /v1/rank HTTP/1.1", "HOST", TYPE, "Transfer-Encoding: chunked", "", "zz"],
};

/** Checks that need a raw connection. */
export const WIRE_CHECKS: readonly Check[] = [
  ...keylessChecksOf("contract: Connections", {
    "wire.broken": {
      clause: "A message that is not HTTP is answered in JSON with `detail`.",
      expected:
        "a 4xx or 505 with `content-type: application/json` and a string `detail`; then the end of the connection",
      run: (trial: Trial) =>
        trial.eachOf(BROKEN, async (lines) => {
          const wire = await trial.wire();
          const message = lines.join("\r\n").replace("HOST", `Host: ${trial.target.base.host}`);
          wire.send(`${message}\r\n${lines.includes("") ? "" : "\r\n"}`);
          const reply = await wire.read();
          const isJson = /^application\/json\b/.test(reply.headers["content-type"] ?? "");
          trial.expect((isClientError(reply) || reply.status === 505) && isJson, excerpt(reply), wire);
          expectDetail(trial, reply, wire);
          const more = await wire.readOrEnd();
          trial.expect(more === undefined, "the connection went on after a broken message", wire);
        }),
    },
    "wire.huge-head": {
      clause: "Headers that are too large are refused in JSON.",
      expected: "431 (or another 4xx) with a string `detail`",
      run: async (trial: Trial) => {
        const wire = await trial.wire();
        wire.send(trial.head("GET /health", `X-A: ${"a".repeat(200_000)}`));
        const reply = await wire.read();
        trial.expect(isClientError(reply), excerpt(reply), wire);
        expectDetail(trial, reply, wire);
      },
    },
    "wire.early-answers": {
      clause:
        "After an answer before the end of the body, the server drains a small body or closes: the next request is parsed correctly.",
      expected:
        "after a 401, 404, 405 or 422, the next request is answered, or the answer announced that the connection closes",
      run: checkEarlyAnswers,
    },
    "wire.head-bodies": {
      clause: "An answer to HEAD has no body, whatever its status.",
      expected: "the next answer on the connection follows directly",
      run: async (trial) => {
        const wire = await trial.wire();
        for (const path of ["/health", "/nowhere", RANK, "/openapi.json"]) {
          wire.send(trial.head(`HEAD ${path}`));
          if (isClosing(await wire.read("HEAD"))) return;
          if (isClosing(await sendFor(200, trial, wire, trial.head("GET /health")))) return;
        }
      },
    },
  }),
  ...checksOf("contract: Connections", {
    "wire.early-413": {
      clause: "After a 413, the next request is parsed correctly or the connection closes.",
      expected:
        "413 reaches a client that writes all before it reads; the next request is answered, or the connection closes",
      isGentle: false,
      run: async (trial) => {
        const body = " ".repeat(trial.facts.limits.maxBodyBytes + 500_000);
        const wire = await trial.wire();
        await expectInStep(trial, wire, await sendFor(413, trial, wire, post(trial, body)));
      },
    },
    "wire.h2c": {
      clause: "`Upgrade: h2c` is ignored: Java's client sends it with every request.",
      expected: "200 over HTTP/1.1 for requests with and without a body",
      run: async (trial) => {
        const wire = await trial.wire();
        if (isClosing(await sendFor(200, trial, wire, post(trial, TEXT, ...H2C)))) return;
        await sendFor(200, trial, wire, trial.head("GET /health", ...H2C));
      },
    },
    "wire.keep-alive": {
      clause: "A connection serves several requests in sequence, including refused ones.",
      expected: "one answer after another on one connection, unless the server announces that it closes",
      run: async (trial) => {
        const wire = await trial.wire();
        for (const [given, status] of requestsInTurn(trial, TEXT))
          if (isClosing(await sendFor(status, trial, wire, given))) return;
      },
    },
    "wire.pipelining": {
      clause: "Pipelined requests are answered in order.",
      expected: "200, 200, 422, 404, 200, and with each 200 the answer to its own request",
      run: async (trial) => {
        const wire = await trial.wire();
        const requests = requestsInTurn(trial, OTHER_TEXT);
        wire.send(requests.map(([given]) => given).join(""));
        for (const [, status, name] of requests) {
          const reply = await wire.read();
          trial.status(reply, status, wire);
          const came = namesOf(at(reply.json, "answers")).join();
          if (name !== undefined) trial.equal("the question that is answered", came, name, wire);
          if (isClosing(reply)) return;
        }
      },
    },
    "wire.chunked": {
      clause: "A body may be chunked, with chunks of any size.",
      expected: "200 for a body in chunks of one byte, which split characters",
      run: async (trial) => {
        const wire = await trial.wire();
        wire.send(trial.postHead(SYSTEMONE, "Transfer-Encoding: chunked"));
        for (const byte of Buffer.from(JSON.stringify({ ...SMALL, state: "😀é漢" })))
          wire.send("1\r\n", Uint8Array.of(byte), "\r\n");
        await sendFor(200, trial, wire, "0\r\n\r\n");
      },
    },
    "wire.expect-continue": {
      clause: "`Expect: 100-continue` gets 100 and then the answer, or the answer at once.",
      expected: "100 and then 200, or 200 or 417 at once",
      run: async (trial) => {
        const wire = await trial.wire();
        wire.send(trial.postHead(SYSTEMONE, `Content-Length: ${TEXT.length}`, "Expect: 100-continue"));
        const first = await wire.read();
        if (first.status !== 100) return trial.status(first, [200, 417], wire);
        await sendFor(200, trial, wire, TEXT);
      },
    },
    "wire.kept": {
      clause: "A connection stays open after an answer.",
      expected: "an open connection after a 200",
      run: async (trial: Trial) => {
        const wire = await trial.wire();
        for (const given of [post(trial, TEXT), trial.head("GET /health"), post(trial, TEXT)]) {
          const { reply } = await trial.unlessBusy(async () => {
            wire.send(given);
            return { reply: await wire.read() };
          });
          trial.expect(!isClosing(reply), "a 200 that closes its connection", wire);
        }
      },
    },
    "wire.half-body": {
      clause: "A caller that disconnects within its body does not affect others.",
      expected: "the next requests are answered",
      run: async (trial) => {
        for (let count = 0; count < 5; count += 1) {
          const wire = await trial.wire();
          wire.send(trial.postHead(SYSTEMONE, "Content-Length: 100"), "{");
          wire.close();
        }
        await trial.infer(SYSTEMONE, SMALL);
      },
    },
  }),
  ...checksOf("contract: Errors", {
    "wire.expect-unknown": {
      clause: "An expectation other than `100-continue` is refused.",
      expected: "417 with a string `detail`",
      run: async (trial) => {
        const wire = await trial.wire();
        const reply = await sendFor(417, trial, wire, post(trial, TEXT, "Expect: a-miracle"));
        expectDetail(trial, reply, wire);
      },
    },
  }),
];

/** Requests for one connection, with the status of each answer and the name that it must have. @param last body */
function requestsInTurn(trial: Trial, last: string) {
  return [
    [post(trial, TEXT), 200, "q"],
    [trial.head("GET /health"), 200, undefined],
    [post(trial, "{"), 422, undefined],
    [trial.head("GET /nowhere"), 404, undefined],
    [post(trial, last), 200, last === TEXT ? "q" : "other"],
  ] as const;
}

function post(trial: Trial, body: string, ...lines: readonly string[]): string {
  return trial.postHead(SYSTEMONE, `Content-Length: ${Buffer.byteLength(body)}`, ...lines) + body;
}

/** Sends the rest of a request. @returns its answer, which must have the status */
async function sendFor(status: number, trial: Trial, wire: Wire, given: string): Promise<Reply> {
  wire.send(given);
  const reply = await wire.read();
  trial.status(reply, status, wire);
  return reply;
}

function expectDetail(trial: Trial, reply: Reply, wire: Wire): void {
  if (typeof at(reply.json, "detail") !== "string") trial.fail(excerpt(reply), wire);
}

function isClientError({ status }: Reply): boolean {
  return status >= 400 && status < 500;
}

function isClosing({ headers }: Reply): boolean {
  return /\bclose\b/i.test(headers.connection ?? "");
}

async function checkEarlyAnswers(trial: Trial): Promise<void> {
  // this body would be parsed as a request if it were left on the connection
  const hidden = trial.head("GET /nowhere/hidden");
  const length = `Content-Length: ${hidden.length}`;
  const { wantsKey, noInference } = trial.facts;
  const cases: Record<string, readonly [head: string, status: number]> = {
    "a 404": [trial.head("POST /nowhere", TYPE, length), 404],
    "a 405": [trial.head(`PUT ${RANK}`, TYPE, length), 405],
    "a GET with a body": [trial.head("GET /health", length), 200],
  };
  if (wantsKey) cases["a 401"] = [trial.head(`POST ${RANK}`, TYPE, length), 401];
  if (noInference === undefined) {
    const plain = trial.postHead(RANK, length).replace(TYPE, "Content-Type: text/plain");
    cases["a 422 for the type"] = [plain, 422];
    cases["a 422 for the encoding"] = [trial.postHead(RANK, "Content-Encoding: br", length), 422];
  }
  await trial.eachOf(cases, async ([head, status]) => {
    const wire = await trial.wire();
    wire.send(`${head}${hidden}`);
    const reply = await wire.read();
    // other checks report a wrong status; this rule applies to every early answer
    if (reply.status === status) await expectInStep(trial, wire, reply);
  });
}

/** Expects that the next request gets its own answer, or that the connection closes as announced. */
async function expectInStep(trial: Trial, wire: Wire, before: Reply): Promise<void> {
  wire.send(trial.head("GET /v1/models"));
  const next = await wire.readOrEnd();
  if (next !== undefined) return trial.status(next, 200, wire);
  if (!isClosing(before))
    trial.fail("the connection closed, and the previous answer did not announce it", wire);
}
