import { excerpt, type Reply } from "../../client/exchange.ts";
import { at, namesOf, show } from "../../client/json.ts";
import { headOf, type Wire } from "../../client/wire.ts";
import { type Check, defineCheck } from "../../trial/check.ts";
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

/** Messages that are not valid HTTP. `host` is the line of the Host header. */
const BROKEN: readonly { readonly name: string; readonly given: (host: string) => string }[] = [
  { name: "words", given: () => "hello there\r\n\r\n" },
  { name: "another protocol", given: () => "GET /health HTTQ/1.1\r\n\r\n" },
  { name: "an unknown method", given: (host) => `FROBNICATE /health HTTP/1.1\r\n${host}\r\n\r\n` },
  {
    name: "a header without a colon",
    given: (host) => `GET /health HTTP/1.1\r\n${host}\r\nno colon\r\n\r\n`,
  },
  { name: "a space in the path", given: (host) => `GET /health /ready HTTP/1.1\r\n${host}\r\n\r\n` },
  {
    name: "a length that is not a number",
    given: (host) => `POST /v1/rank HTTP/1.1\r\n${host}\r\n${TYPE}\r\nContent-Length: 1x\r\n\r\n`,
  },
  {
    name: "two different lengths",
    given: (host) =>
      `POST /v1/rank HTTP/1.1\r\n${host}\r\n${TYPE}\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n`,
  },
  {
    name: "a chunk of size zz",
    given: (host) =>
      `POST /v1/rank HTTP/1.1\r\n${host}\r\n${TYPE}\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
  },
];

/** Checks that need a raw connection. */
export const WIRE_CHECKS: readonly Check[] = [
  defineCheck({
    id: "wire.broken",
    clause: "A message that is not HTTP is answered in JSON with `detail`.",
    source: "contract: Connections",
    expected:
      "a 4xx or 505 with `content-type: application/json` and a string `detail`; then the end of the connection",
    needsInference: false,
    run: (trial: Trial) =>
      trial.each(BROKEN, async ({ given }) => {
        const wire = await trial.wire();
        wire.send(given(`Host: ${trial.target.base.host}`));
        const reply = await wire.read();
        trial.expect(
          (reply.status >= 400 && reply.status < 500) || reply.status === 505,
          excerpt(reply),
          wire,
        );
        const isJson = /^application\/json\b/.test(reply.headers["content-type"] ?? "");
        trial.expect(isJson && typeof at(reply.json, "detail") === "string", excerpt(reply), wire);
        const more = await wire.readOrEnd();
        trial.expect(more === undefined, "the connection went on after a broken message", wire);
      }),
  }),
  defineCheck({
    id: "wire.huge-head",
    clause: "Headers that are too large are refused in JSON.",
    source: "contract: Connections",
    expected: "431 (or another 4xx) with a string `detail`",
    needsInference: false,
    run: async (trial: Trial) => {
      const wire = await trial.wire();
      wire.send(headOf(trial.target, "GET /health", `X-A: ${"a".repeat(200_000)}`));
      const reply = await wire.read();
      const isRefused =
        reply.status >= 400 && reply.status < 500 && typeof at(reply.json, "detail") === "string";
      trial.expect(isRefused, excerpt(reply), wire);
    },
  }),
  defineCheck({
    id: "wire.early-answers",
    clause:
      "After an answer before the end of the body, the server drains a small body or closes: the next request is parsed correctly.",
    source: "contract: Connections",
    expected:
      "after a 401, 404, 405 or 422, the next request is answered, or the answer announced that the connection closes",
    needsInference: false,
    run: checkEarlyAnswers,
  }),
  defineCheck({
    id: "wire.early-413",
    clause: "After a 413, the next request is parsed correctly or the connection closes.",
    source: "contract: Connections",
    expected:
      "413 reaches a client that writes all before it reads; the next request is answered, or the connection closes",
    isGentle: false,
    run: async (trial: Trial) => {
      const body = " ".repeat(trial.facts.limits.maxBodyBytes + 500_000);
      const wire = await trial.wire();
      await expectInStep(trial, wire, await sendFor(413, trial, wire, post(trial, SYSTEMONE, body)));
    },
  }),
  defineCheck({
    id: "wire.h2c",
    clause: "`Upgrade: h2c` is ignored: Java's client sends it with every request.",
    source: "contract: Connections",
    expected: "200 over HTTP/1.1 for requests with and without a body",
    run: async (trial: Trial) => {
      const wire = await trial.wire();
      const inference = await sendFor(200, trial, wire, post(trial, SYSTEMONE, TEXT, ...H2C));
      if (isClosing(inference)) return;
      await sendFor(200, trial, wire, headOf(trial.target, "GET /health", ...H2C));
    },
  }),
  defineCheck({
    id: "wire.keep-alive",
    clause: "A connection serves several requests in sequence, including refused ones.",
    source: "contract: Connections",
    expected: "one answer after another on one connection, unless the server announces that it closes",
    run: async (trial: Trial) => {
      const wire = await trial.wire();
      for (const [given, status] of [
        [post(trial, SYSTEMONE, TEXT), 200],
        [headOf(trial.target, "GET /health"), 200],
        [post(trial, SYSTEMONE, "{"), 422],
        [headOf(trial.target, "GET /nowhere"), 404],
        [post(trial, SYSTEMONE, TEXT), 200],
      ] as const) {
        if (isClosing(await sendFor(status, trial, wire, given))) return;
      }
    },
  }),
  defineCheck({
    id: "wire.pipelining",
    clause: "Pipelined requests are answered in order.",
    source: "contract: Connections",
    expected: "200, 200, 422, 404, 200, and with each 200 the answer to its own request",
    run: async (trial: Trial) => {
      const wire = await trial.wire();
      const { target } = trial;
      const given = [
        post(trial, SYSTEMONE, TEXT),
        headOf(target, "GET /health"),
        post(trial, SYSTEMONE, "{"),
      ];
      wire.send([...given, headOf(target, "GET /nowhere"), post(trial, SYSTEMONE, OTHER_TEXT)].join(""));
      const statuses: number[] = [];
      const names = [["q"], undefined, undefined, undefined, ["other"]];
      for (let count = 0; count < 5; count += 1) {
        const reply = await wire.read();
        statuses.push(reply.status);
        const own = names[count];
        const came = namesOf(at(reply.json, "answers"));
        if (own !== undefined && reply.status === 200)
          trial.expect(
            came.join() === own.join(),
            `the answers ${show([...came])} instead of ${own.join()}`,
            wire,
          );
        if (isClosing(reply)) break;
      }
      const wanted = [200, 200, 422, 404, 200].slice(0, statuses.length);
      trial.expect(statuses.join() === wanted.join(), `the answers ${statuses.join()}`, wire);
    },
  }),
  defineCheck({
    id: "wire.chunked",
    clause: "A body may be chunked, with chunks of any size.",
    source: "contract: Connections",
    expected: "200 for a body in chunks of one byte, which split characters",
    run: async (trial: Trial) => {
      const wire = await trial.wire();
      wire.send(
        headOf(trial.target, `POST ${SYSTEMONE}`, TYPE, "Transfer-Encoding: chunked", ...trial.keyLines()),
      );
      for (const byte of Buffer.from(JSON.stringify({ ...SMALL, state: "😀é漢" })))
        wire.send("1\r\n", Uint8Array.of(byte), "\r\n");
      await sendFor(200, trial, wire, "0\r\n\r\n");
    },
  }),
  defineCheck({
    id: "wire.expect-continue",
    clause: "`Expect: 100-continue` gets 100 and then the answer, or the answer at once.",
    source: "contract: Connections",
    expected: "100 and then 200, or 200 or 417 at once",
    run: async (trial: Trial) => {
      const wire = await trial.wire();
      const lines = [TYPE, `Content-Length: ${TEXT.length}`, "Expect: 100-continue", ...trial.keyLines()];
      wire.send(headOf(trial.target, `POST ${SYSTEMONE}`, ...lines));
      const first = await wire.read();
      if (first.status === 100) wire.send(TEXT);
      const reply = first.status === 100 ? await wire.read() : first;
      const isAnswered = reply.status === 200 || (reply.status === 417 && first === reply);
      trial.expect(isAnswered, excerpt(reply), wire);
    },
  }),
  defineCheck({
    id: "wire.expect-unknown",
    clause: "An expectation other than `100-continue` is refused.",
    source: "contract: Errors",
    expected: "417 with a string `detail`",
    run: async (trial: Trial) => {
      const wire = await trial.wire();
      const lines = [TYPE, `Content-Length: ${TEXT.length}`, "Expect: a-miracle", ...trial.keyLines()];
      wire.send(headOf(trial.target, `POST ${SYSTEMONE}`, ...lines), TEXT);
      const reply = await wire.read();
      trial.expect(
        reply.status === 417 && typeof at(reply.json, "detail") === "string",
        excerpt(reply),
        wire,
      );
    },
  }),
  defineCheck({
    id: "wire.kept",
    clause: "A connection stays open after an answer.",
    source: "contract: Connections",
    expected: "an open connection after a 200",
    run: async (trial: Trial) => {
      const wire = await trial.wire();
      for (const given of [
        post(trial, SYSTEMONE, TEXT),
        headOf(trial.target, "GET /health"),
        post(trial, SYSTEMONE, TEXT),
      ]) {
        const reply = await trial.unlessBusy(async () => {
          wire.send(given);
          return { reply: await wire.read() };
        });
        trial.expect(!isClosing(reply.reply), "a 200 that closes its connection", wire);
      }
    },
  }),
  defineCheck({
    id: "wire.head-bodies",
    clause: "An answer to HEAD has no body, whatever its status.",
    source: "contract: Connections",
    expected: "the next answer on the connection follows directly",
    needsInference: false,
    run: async (trial: Trial) => {
      const wire = await trial.wire();
      for (const path of ["/health", "/nowhere", RANK, "/openapi.json"]) {
        wire.send(headOf(trial.target, `HEAD ${path}`));
        const head = await wire.read("HEAD");
        if (isClosing(head)) return;
        const next = await sendFor(200, trial, wire, headOf(trial.target, "GET /health"));
        if (isClosing(next)) return;
      }
    },
  }),
  defineCheck({
    id: "wire.half-body",
    clause: "A caller that disconnects within its body does not affect others.",
    source: "contract: Connections",
    expected: "the next requests are answered",
    run: async (trial: Trial) => {
      for (let count = 0; count < 5; count += 1) {
        const wire = await trial.wire();
        wire.send(
          headOf(trial.target, `POST ${SYSTEMONE}`, TYPE, "Content-Length: 100", ...trial.keyLines()),
          "{",
        );
        wire.close();
      }
      await trial.infer(SYSTEMONE, SMALL);
    },
  }),
];

function post(trial: Trial, path: string, body: string, ...lines: readonly string[]): string {
  const length = `Content-Length: ${Buffer.byteLength(body)}`;
  return headOf(trial.target, `POST ${path}`, TYPE, length, ...trial.keyLines(), ...lines) + body;
}

/** Sends the rest of a request. @returns its answer, which must have the status */
async function sendFor(status: number, trial: Trial, wire: Wire, given: string): Promise<Reply> {
  wire.send(given);
  const reply = await wire.read();
  trial.expect(reply.status === status, `${excerpt(reply)}, expected ${status}`, wire);
  return reply;
}

function isClosing({ headers }: Reply): boolean {
  return /\bclose\b/i.test(headers.connection ?? "");
}

async function checkEarlyAnswers(trial: Trial): Promise<void> {
  const { target } = trial;
  // this body would be parsed as a request if it were left on the connection
  const hidden = headOf(target, "GET /nowhere/hidden");
  const length = `Content-Length: ${hidden.length}`;
  const cases = [
    { name: "a 404", given: headOf(target, "POST /nowhere", TYPE, length), status: 404 },
    { name: "a 405", given: headOf(target, `PUT ${RANK}`, TYPE, length), status: 405 },
    {
      name: "a 422 for the type",
      given: headOf(target, `POST ${RANK}`, "Content-Type: text/plain", length, ...trial.keyLines()),
      status: 422,
    },
    {
      name: "a 422 for the encoding",
      given: headOf(target, `POST ${RANK}`, TYPE, "Content-Encoding: br", length, ...trial.keyLines()),
      status: 422,
    },
    { name: "a GET with a body", given: headOf(target, "GET /health", length), status: 200 },
    ...(trial.facts.wantsKey
      ? [{ name: "a 401", given: headOf(target, `POST ${RANK}`, TYPE, length), status: 401 }]
      : []),
  ].filter(({ status }) => status !== 422 || trial.facts.noInference === undefined);
  await trial.each(cases, async ({ given, status }) => {
    const wire = await trial.wire();
    wire.send(`${given}${hidden}`);
    const reply = await wire.read();
    // other checks report a wrong status; this rule applies to every early answer
    if (reply.status === status) await expectInStep(trial, wire, reply);
  });
}

/** Expects that the next request gets its own answer, or that the connection closes as announced. */
async function expectInStep(trial: Trial, wire: Wire, before: Reply): Promise<void> {
  wire.send(headOf(trial.target, "GET /v1/models"));
  const next = await wire.readOrEnd();
  if (next === undefined) {
    trial.expect(
      isClosing(before),
      "the connection closed, and the previous answer did not announce it",
      wire,
    );
    return;
  }
  trial.expect(next.status === 200, `${excerpt(next)} for the next request`, wire);
}
