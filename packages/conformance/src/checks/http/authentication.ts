import { excerpt } from "../../client/exchange.ts";
import { at } from "../../client/json.ts";
import { headOf } from "../../client/wire.ts";
import { type Check, defineCheck } from "../../trial/check.ts";
import { OPERATIONS, RANK, SMALL, SMALL_RANK, SYSTEMONE } from "../../trial/operations.ts";
import type { Trial } from "../../trial/trial.ts";

const OPEN_PATHS = ["/health", "/ready", "/v1/models", "/docs", "/redoc", "/openapi.json"];

/** Checks of API keys. Most need the right key, which only the operator can give. */
export const AUTHENTICATION_CHECKS: readonly Check[] = [
  defineCheck({
    id: "auth.missing",
    clause: "If a key is configured, inference without it is refused with 401.",
    source: "interface: Keys",
    expected: "401 from both operations, with and without a body that is valid",
    needsInference: false,
    run: async (trial: Trial) => {
      needsKey(trial);
      await eachOperation(trial, async (path, body) => {
        await expectUnauthorized(trial, path, body, undefined);
      });
    },
  }),
  defineCheck({
    id: "auth.wrong",
    clause: "A wrong key is refused with 401.",
    source: "interface: Keys",
    expected:
      "401 for another key, for near misses of the right one (also in another case), and for another scheme",
    needsInference: false,
    run: async (trial: Trial) => {
      needsKey(trial);
      const key = trial.target.apiKey ?? WRONG;
      const wrong = [
        `Bearer ${WRONG}`,
        "Bearer",
        "Bearer ",
        `Bearer ${key}x`,
        `Basic ${btoa(`user:${WRONG}`)}`,
      ];
      const near = nearMisses(key);
      const given = trial.facts.noInference === undefined ? [...wrong, ...near] : wrong;
      const cases = given.map((authorization, index) => ({ name: `header ${index + 1}`, authorization }));
      await trial.each(cases, async ({ authorization }) => {
        await expectUnauthorized(trial, RANK, SMALL_RANK, authorization);
        await expectUnauthorized(trial, SYSTEMONE, SMALL, authorization);
      });
    },
  }),
  defineCheck({
    id: "auth.elsewhere",
    clause: "Only the header `Authorization` can carry the key.",
    source: "interface: Keys",
    expected: "401 for the right key in the query, in another header or in a cookie",
    needsInference: false,
    run: async (trial: Trial) => {
      needsKey(trial);
      const key = knownKey(trial);
      const inQuery = encodeURIComponent(key);
      const names = [
        "access_token",
        "api_key",
        "apikey",
        "api-key",
        "key",
        "token",
        "authorization",
        "bearer",
      ];
      const query = names.map((name) => `${name}=${inQuery}`).join("&");
      const headers = [
        "x-api-key",
        "api-key",
        "apikey",
        "x-auth-token",
        "x-access-token",
        "token",
        "x-goog-api-key",
      ];
      const ways = [
        { name: "query", query: `?${query}`, headers: {} },
        { name: "query, with its scheme", query: `?authorization=Bearer%20${inQuery}`, headers: {} },
        ...headers.map((name) => ({ name, query: "", headers: { [name]: key } })),
        ...["proxy-authorization", "x-authorization", "x-forwarded-authorization"].map((name) => ({
          name,
          query: "",
          headers: { [name]: `Bearer ${key}` },
        })),
        {
          name: "cookie",
          query: "",
          headers: { cookie: `authorization=Bearer ${key}; token=${key}; api_key=${key}` },
        },
        { name: "beside a wrong one", query: `?${query}`, headers: { authorization: `Bearer ${WRONG}` } },
        {
          name: "a request that says it is from here",
          query: "",
          headers: { "x-forwarded-for": "127.0.0.1", "x-real-ip": "127.0.0.1", forwarded: "for=127.0.0.1" },
        },
      ];
      await trial.each(ways, async ({ query: given, headers: sent }) => {
        for (const { path, body } of OPERATIONS) {
          const reply = await trial.post(`${path}${given}`, body, { headers: sent, hasKey: false });
          trial.expect(reply.status !== 200, excerpt(reply), reply);
        }
      });
    },
  }),
  defineCheck({
    id: "auth.each-request",
    clause: "Every request needs the key, also on a connection where an earlier request had it.",
    source: "interface: Keys",
    expected: "401 without the key after a 200 with it, on the same connection",
    needsInference: false,
    run: checkEachRequest,
  }),
  defineCheck({
    id: "auth.accepted",
    clause: "The configured key in `Authorization: Bearer <key>` is accepted by both operations.",
    source: "interface: Keys",
    expected: "200 with the key that was given to this tool",
    needsInference: false,
    run: async (trial: Trial) => {
      needsKey(trial);
      if (trial.target.apiKey === undefined) trial.skip("no key was given (DECISION_API_KEY)");
      await eachOperation(trial, async (path, body) => {
        const reply = await trial.post(path, body);
        trial.expect(reply.status === 200, `${excerpt(reply)}, with the key`, reply);
      });
    },
  }),
  defineCheck({
    id: "auth.open-routes",
    clause: "/health, /ready, /v1/models, /docs, /redoc and /openapi.json never require a key.",
    source: "interface: Keys",
    expected: "neither 401 nor 403, without a key and with a wrong one",
    needsInference: false,
    run: async (trial: Trial) => {
      const cases = OPEN_PATHS.flatMap((path) =>
        [undefined, `Bearer ${WRONG}`].map((authorization) => ({
          name: `${path} ${authorization === undefined ? "without a key" : "with a wrong one"}`,
          path,
          authorization,
        })),
      );
      await trial.each(cases, async ({ path, authorization }) => {
        const reply = await trial.get(path, { hasKey: false, headers: { authorization } });
        trial.expect(reply.status !== 401 && reply.status !== 403, excerpt(reply), reply);
      });
    },
  }),
  defineCheck({
    id: "auth.none-configured",
    clause: "Without a configured key, any key is accepted.",
    source: "interface: Keys",
    expected: "200 also for a request with a key",
    needsInference: false,
    run: async (trial: Trial) => {
      if (trial.facts.wantsKey) trial.skip("the server has a key");
      await eachOperation(trial, async (path, body) => {
        const reply = await trial.post(path, body, { headers: { authorization: `Bearer ${WRONG}` } });
        trial.expect(reply.status === 200, `${excerpt(reply)}, for a key although none is configured`, reply);
      });
    },
  }),
  defineCheck({
    id: "auth.challenge",
    clause: "A 401 has `WWW-Authenticate: Bearer` and a string `detail`, and does not repeat the key.",
    source: "contract: Errors",
    expected: "the header, a string `detail`, and no part of the key that was sent",
    needsInference: false,
    run: async (trial: Trial) => {
      needsKey(trial);
      for (const authorization of [undefined, `Bearer ${WRONG}`]) {
        const reply = await trial.post(RANK, SMALL_RANK, { hasKey: false, headers: { authorization } });
        if (reply.status !== 401) trial.skip(`${reply.status}, not 401: see auth.missing and auth.wrong`);
        const challenge = reply.headers["www-authenticate"];
        trial.expect(challenge === "Bearer", `www-authenticate is ${JSON.stringify(challenge)}`, reply);
        trial.expect(typeof at(reply.json, "detail") === "string", excerpt(reply), reply);
        trial.expect(!reply.text.includes(WRONG), `the key is repeated: ${excerpt(reply)}`, reply);
      }
    },
  }),
  defineCheck({
    id: "auth.before-body",
    clause: "The key is checked before media type, size and content of the body.",
    source: "contract: Order of checks",
    expected: "401 for a request without a key that also has one of these faults",
    needsInference: false,
    run: async (trial: Trial) => {
      needsKey(trial);
      const cases = [
        { name: "another media type", body: "{}", headers: { "content-type": "text/plain" } },
        { name: "an encoded body", body: "x", headers: { "content-encoding": "gzip" } },
        { name: "broken JSON", body: "{", headers: {} },
        { name: "an empty body", body: "", headers: {} },
        { name: "a wrong shape", body: {}, headers: {} },
      ];
      await trial.each(cases, async ({ body, headers }) => {
        for (const authorization of [undefined, `Bearer ${WRONG}`])
          await trial.refused(SYSTEMONE, body, {
            headers: { ...headers, authorization },
            hasKey: false,
            status: 401,
          });
      });
    },
  }),
  defineCheck({
    id: "auth.before-body-comes",
    clause: "The key is checked before a byte of the body is read.",
    source: "contract: Order of checks",
    expected: "401 after the head alone, after half a body, and before a too large body was sent",
    needsInference: false,
    run: async (trial: Trial) => {
      needsKey(trial);
      await checkBeforeBody(trial);
    },
  }),
];

const TYPE = "Content-Type: application/json";

/** Sends requests with the key, without, with another and with the key again over one kept connection. */
async function checkEachRequest(trial: Trial): Promise<void> {
  needsKey(trial);
  const key = knownKey(trial);
  await trial.each(OPERATIONS, async ({ path, body }) => {
    const text = JSON.stringify(body);
    const wire = await trial.wire();
    for (const [authorization, status] of [
      [key, 200],
      [undefined, 401],
      [key, 200],
      [WRONG, 401],
    ] as const) {
      const lines = [TYPE, `Content-Length: ${text.length}`];
      if (authorization !== undefined) lines.push(`Authorization: Bearer ${authorization}`);
      wire.send(headOf(trial.target, `POST ${path}`, ...lines), text);
      const reply = await wire.readOrEnd();
      if (reply === undefined) return; // a server may close after a refusal
      const isBusy = reply.status === 503 && status === 200;
      trial.expect(reply.status === status || isBusy, `${excerpt(reply)}, not ${status}`, wire);
    }
  });
}

function needsKey(trial: Trial): void {
  if (!trial.facts.wantsKey) trial.skip("the server has no key configured: it answers without one");
}

/** The right key. @throws CannotTell when it was not given or is refused */
function knownKey(trial: Trial): string {
  const { apiKey } = trial.target;
  if (apiKey === undefined) trial.skip("no key was given (DECISION_API_KEY)");
  if (trial.facts.noInference !== undefined) trial.skip(trial.facts.noInference);
  return apiKey;
}

async function eachOperation(
  trial: Trial,
  run: (path: string, body: object) => Promise<void>,
): Promise<void> {
  await trial.each(OPERATIONS, ({ path, body }) => run(path, body));
}

async function expectUnauthorized(
  trial: Trial,
  path: string,
  body: object,
  authorization: string | undefined,
) {
  await trial.refused(path, body, { hasKey: false, headers: { authorization }, status: 401 });
}

/** Time limit for a refusal. The body never comes, so a server that waits for it does not answer. Chosen. */
const REFUSAL_MS = 5000;

/** Sends requests without the right key and with incomplete bodies. @throws Broken if a refusal waits for the body */
async function checkBeforeBody(trial: Trial): Promise<void> {
  const text = JSON.stringify(SMALL_RANK);
  const half = text.slice(0, text.length >> 1);
  const length = `Content-Length: ${text.length}`;
  const chunked = "Transfer-Encoding: chunked";
  const ways = [
    { name: "the head alone", lines: [TYPE, length], sent: "" },
    { name: "half a body", lines: [TYPE, length], sent: half },
    { name: "all but one byte of the body", lines: [TYPE, length], sent: text.slice(0, -1) },
    { name: "no chunk of a chunked body", lines: [TYPE, chunked], sent: "" },
    {
      name: "one chunk of several",
      lines: [TYPE, chunked],
      sent: `${half.length.toString(16)}\r\n${half}\r\n`,
    },
    { name: "a declared length that is too large", lines: [TYPE, "Content-Length: 99999999999"], sent: "{" },
    { name: "half a body of another media type", lines: ["Content-Type: text/plain", length], sent: half },
  ];
  const cases = ways.flatMap((way) =>
    [undefined, `Authorization: Bearer ${WRONG}`].flatMap((key) =>
      OPERATIONS.map(({ path }) => ({
        name: `${way.name}, ${path}, ${key === undefined ? "no key" : "a wrong key"}`,
        line: `POST ${path}`,
        lines: [...way.lines, ...(key === undefined ? [] : [key])],
        sent: way.sent,
      })),
    ),
  );
  await trial.each(
    cases,
    async ({ line, lines, sent }) => {
      const wire = await trial.wire(REFUSAL_MS);
      wire.send(headOf(trial.target, line, ...lines), sent);
      const reply = await wire.read();
      trial.expect(reply.status === 401, `${excerpt(reply)}, not 401`, wire);
    },
    cases.length, // one timeout is enough to show that the server waits
  );
}

/** A wrong key. */
const WRONG = "wrong-key-of-a-check";

/**
 * `Authorization` values that are nearly right. A server that compares only a part of the key, or not byte by byte,
 * accepts some.
 */
function nearMisses(key: string): readonly string[] {
  const middle = key.length >> 1;
  const others = [
    key.toUpperCase(),
    key.toLowerCase(),
    swapCase(key),
    ...[0, middle, key.length - 1].flatMap((at) => [
      replaceAt(key, at, swapCase(key.charAt(at))),
      replaceAt(key, at, key.charAt(at) === "0" ? "1" : "0"),
    ]),
    key.slice(0, -1),
    key.slice(1),
    key.slice(0, middle),
    key.slice(middle),
    `x${key}`,
    `x${key}x`,
    `${key}${key}`,
    `${key},${WRONG}`,
    `${WRONG},${key}`,
    `${key} ${WRONG}`,
    `${WRONG} ${key}`,
    [...key].reverse().join(""),
    `${key.slice(1)}${key.charAt(0)}`,
    "x".repeat(key.length),
    `${key.slice(0, 8)}${"x".repeat(Math.max(1, key.length - 8))}`,
    Buffer.from(key).toString("base64"),
    Buffer.from(key).toString("hex"),
    `"${key}"`,
    ...["*", ".*", "%", "null", "undefined", "true", "[object Object]"],
  ].filter((other) => other !== key);
  return [
    ...others.map((other) => `Bearer ${other}`),
    ...["Basic", "Token", "ApiKey", "Digest", "X"].map((scheme) => `${scheme} ${key}`),
    ...[`user:${key}`, `${key}:`, `:${key}`, key].map((given) => `Basic ${btoa(given)}`),
    key,
    `Bearer${key}`,
    `Bearer:${key}`,
    `Bearer=${key}`,
    `Bearer Bearer ${key}`,
  ];
}

function swapCase(text: string): string {
  return [...text]
    .map((letter) => (letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()))
    .join("");
}

function replaceAt(text: string, at: number, letter: string): string {
  return `${text.slice(0, at)}${letter}${text.slice(at + 1)}`;
}
