import { excerpt } from "../../client/exchange.ts";
import { at } from "../../client/json.ts";
import { type Check, keylessChecksOf } from "../../trial/check.ts";
import { OPERATIONS, RANK, SMALL_RANK, SYSTEMONE } from "../../trial/operations.ts";
import type { Trial } from "../../trial/trial.ts";

const OPEN_PATHS = ["/health", "/ready", "/v1/models", "/docs", "/redoc", "/openapi.json"];
/** A wrong key. */
const WRONG = "wrong-key-of-a-check";

/** Checks of API keys. Most need the right key, which only the operator can give. */
export const AUTHENTICATION_CHECKS: readonly Check[] = [
  ...keylessChecksOf("interface: Keys", {
    "auth.missing": {
      clause: "If a key is configured, inference without it is refused with 401.",
      expected: "401 from both operations, with and without a body that is valid",
      run: (trial) => {
        needsKey(trial);
        return trial.each(OPERATIONS, ({ path, body }) => refusedWith(trial, undefined, path, body));
      },
    },
    "auth.wrong": {
      clause: "A wrong key is refused with 401.",
      expected:
        "401 for another key, for near misses of the right one (also in another case), and for another scheme",
      run: (trial) => {
        needsKey(trial);
        const key = trial.target.apiKey ?? WRONG;
        const wrong = ["Bearer", "Bearer ", ...[WRONG, `${key}x`].map((one) => `Bearer ${one}`)];
        const near = trial.facts.noInference === undefined ? nearMisses(key) : [];
        const given = [...wrong, `Basic ${btoa(`user:${WRONG}`)}`, ...near];
        const cases = given.map((authorization, index) => ({ name: `header ${index + 1}`, authorization }));
        return trial.each(cases, async ({ authorization }) => {
          for (const { path, body } of OPERATIONS) await refusedWith(trial, authorization, path, body);
        });
      },
    },
    "auth.elsewhere": {
      clause: "Only the header `Authorization` can carry the key.",
      expected: "401 for the right key in the query, in another header or in a cookie",
      run: (trial: Trial) => {
        needsKey(trial);
        return trial.each(otherPlaces(knownKey(trial)), async ({ query = "", headers = {} }) => {
          for (const { path, body } of OPERATIONS) {
            const reply = await trial.post(`${path}${query}`, body, { headers, hasKey: false });
            trial.expect(reply.status !== 200, excerpt(reply), reply);
          }
        });
      },
    },
    "auth.each-request": {
      clause: "Every request needs the key, also on a connection where an earlier request had it.",
      expected: "401 without the key after a 200 with it, on the same connection",
      run: checkEachRequest,
    },
    "auth.accepted": {
      clause: "The configured key in `Authorization: Bearer <key>` is accepted by both operations.",
      expected: "200 with the key that was given to this tool",
      run: (trial) => {
        needsKey(trial);
        if (trial.target.apiKey === undefined) trial.skip("no key was given (DECISION_API_KEY)");
        return trial.each(OPERATIONS, async ({ path, body }) =>
          trial.status(await trial.post(path, body), 200),
        );
      },
    },
    "auth.open-routes": {
      clause: "/health, /ready, /v1/models, /docs, /redoc and /openapi.json never require a key.",
      expected: "neither 401 nor 403, without a key and with a wrong one",
      run: (trial: Trial) =>
        trial.each(OPEN_PATHS, async (path) => {
          for (const authorization of [undefined, `Bearer ${WRONG}`]) {
            const reply = await trial.get(path, { headers: { authorization } });
            trial.expect(reply.status !== 401 && reply.status !== 403, excerpt(reply), reply);
          }
        }),
    },
    "auth.none-configured": {
      clause: "Without a configured key, any key is accepted.",
      expected: "200 also for a request with a key",
      run: (trial) => {
        if (trial.facts.wantsKey) trial.skip("the server has a key");
        const headers = { authorization: `Bearer ${WRONG}` };
        return trial.each(OPERATIONS, async ({ path, body }) =>
          trial.status(await trial.post(path, body, { headers }), 200),
        );
      },
    },
  }),
  ...keylessChecksOf("contract: Errors", {
    "auth.challenge": {
      clause: "A 401 has `WWW-Authenticate: Bearer` and a string `detail`, and does not repeat the key.",
      expected: "the header, a string `detail`, and no part of the key that was sent",
      run: async (trial: Trial) => {
        needsKey(trial);
        for (const authorization of [undefined, `Bearer ${WRONG}`]) {
          const reply = await trial.post(RANK, SMALL_RANK, { hasKey: false, headers: { authorization } });
          if (reply.status !== 401) trial.skip(`${reply.status}, not 401: see auth.missing and auth.wrong`);
          trial.equal("www-authenticate", reply.headers["www-authenticate"], "Bearer", reply);
          trial.expect(typeof at(reply.json, "detail") === "string", excerpt(reply), reply);
          trial.expect(!reply.text.includes(WRONG), `the key is repeated: ${excerpt(reply)}`, reply);
        }
      },
    },
  }),
  ...keylessChecksOf("contract: Order of checks", {
    "auth.before-body": {
      clause: "The key is checked before media type, size and content of the body.",
      expected: "401 for a request without a key that also has one of these faults",
      run: (trial) => {
        needsKey(trial);
        const cases: Readonly<Record<string, { body: unknown; headers?: object }>> = {
          "another media type": { body: "{}", headers: { "content-type": "text/plain" } },
          "an encoded body": { body: "x", headers: { "content-encoding": "gzip" } },
          "broken JSON": { body: "{" },
          "an empty body": { body: "" },
          "a wrong shape": { body: {} },
        };
        return trial.eachOf(cases, async ({ body, headers }) => {
          for (const authorization of [undefined, `Bearer ${WRONG}`])
            await refusedWith(trial, authorization, SYSTEMONE, body, headers);
        });
      },
    },
    "auth.before-body-comes": {
      clause: "The key is checked before a byte of the body is read.",
      expected: "401 after the head alone, after half a body, and before a too large body was sent",
      run: checkBeforeBody,
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
      const keyLine = authorization === undefined ? [] : [`Authorization: Bearer ${authorization}`];
      wire.send(trial.head(`POST ${path}`, TYPE, `Content-Length: ${text.length}`, ...keyLine), text);
      const reply = await wire.readOrEnd();
      if (reply === undefined) return; // a server may close after a refusal
      trial.status(reply, status === 200 ? [200, 503] : status, wire); // it may be busy
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

function refusedWith(
  trial: Trial,
  authorization: string | undefined,
  path: string,
  body: unknown,
  headers: object = {},
) {
  return trial.refused(path, body, { hasKey: false, headers: { ...headers, authorization }, status: 401 });
}

/** Sends requests without the right key and with incomplete bodies. @throws Broken if a refusal waits for the body */
async function checkBeforeBody(trial: Trial): Promise<void> {
  needsKey(trial);
  const text = JSON.stringify(SMALL_RANK);
  const half = text.slice(0, text.length >> 1);
  const length = `Content-Length: ${text.length}`;
  const chunked = "Transfer-Encoding: chunked";
  const ways: Readonly<Record<string, readonly [sent: string, ...lines: string[]]>> = {
    "the head alone": ["", TYPE, length],
    "half a body": [half, TYPE, length],
    "all but one byte of the body": [text.slice(0, -1), TYPE, length],
    "no chunk of a chunked body": ["", TYPE, chunked],
    "one chunk of several": [`${half.length.toString(16)}\r\n${half}\r\n`, TYPE, chunked],
    "a declared length that is too large": ["{", TYPE, "Content-Length: 99999999999"],
    "half a body of another media type": [half, "Content-Type: text/plain", length],
  };
  const cases = Object.entries(ways).flatMap(([way, [sent, ...lines]]) =>
    OPERATIONS.flatMap(({ path }) =>
      [[], [`Authorization: Bearer ${WRONG}`]].map((key) => {
        return { name: `${way}, ${path}, ${key[0] ?? "no key"}`, path, lines: [...lines, ...key], sent };
      }),
    ),
  );
  await trial.each(
    cases,
    async ({ path, lines, sent }) => {
      const wire = await trial.wire();
      wire.send(trial.head(`POST ${path}`, ...lines), sent);
      trial.status(await wire.read(), 401, wire);
    },
    cases.length, // one timeout is enough to show that the server waits
  );
}

interface Way {
  readonly name: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const QUERY_NAMES = "access_token api_key apikey api-key key token authorization bearer".split(" ");
const HEADERS = "x-api-key api-key apikey x-auth-token x-access-token token x-goog-api-key".split(" ");
const BEARER_HEADERS = ["proxy-authorization", "x-authorization", "x-forwarded-authorization"];
const FROM_HERE = { "x-forwarded-for": "127.0.0.1", "x-real-ip": "127.0.0.1", forwarded: "for=127.0.0.1" };

/** Ways to send the key elsewhere than in `Authorization`. */
function otherPlaces(key: string): readonly Way[] {
  const inQuery = encodeURIComponent(key);
  const query = `?${QUERY_NAMES.map((name) => `${name}=${inQuery}`).join("&")}`;
  const cookie = `authorization=Bearer ${key}; token=${key}; api_key=${key}`;
  return [
    { name: "query", query },
    { name: "query, with its scheme", query: `?authorization=Bearer%20${inQuery}` },
    ...HEADERS.map((name) => ({ name, headers: { [name]: key } })),
    ...BEARER_HEADERS.map((name) => ({ name, headers: { [name]: `Bearer ${key}` } })),
    { name: "cookie", headers: { cookie } },
    { name: "beside a wrong one", query, headers: { authorization: `Bearer ${WRONG}` } },
    { name: "a request that says it is from here", headers: FROM_HERE },
  ];
}

/**
 * `Authorization` values that are nearly right. A server that compares only a part of the key, or not byte by byte,
 * accepts some.
 */
function nearMisses(key: string): readonly string[] {
  const middle = key.length >> 1;
  const replaced = (at: number, letter: string) => `${key.slice(0, at)}${letter}${key.slice(at + 1)}`;
  const others = [
    ...[key.toUpperCase(), key.toLowerCase(), swapCase(key)],
    ...[0, middle, key.length - 1].flatMap((at) => [
      replaced(at, swapCase(key.charAt(at))),
      replaced(at, key.charAt(at) === "0" ? "1" : "0"),
    ]),
    ...[key.slice(0, -1), key.slice(1), key.slice(0, middle), key.slice(middle)],
    ...[`x${key}`, `x${key}x`, `${key}${key}`],
    ...[`${key},${WRONG}`, `${WRONG},${key}`, `${key} ${WRONG}`, `${WRONG} ${key}`],
    ...[[...key].reverse().join(""), `${key.slice(1)}${key.charAt(0)}`, "x".repeat(key.length)],
    `${key.slice(0, 8)}${"x".repeat(Math.max(1, key.length - 8))}`,
    ...[Buffer.from(key).toString("base64"), Buffer.from(key).toString("hex"), `"${key}"`],
    ...["*", ".*", "%", "null", "undefined", "true", "[object Object]"],
  ].filter((other) => other !== key);
  return [
    ...others.map((other) => `Bearer ${other}`),
    ...["Basic", "Token", "ApiKey", "Digest", "X"].map((scheme) => `${scheme} ${key}`),
    ...[`user:${key}`, `${key}:`, `:${key}`, key].map((given) => `Basic ${btoa(given)}`),
    ...[key, `Bearer${key}`, `Bearer:${key}`, `Bearer=${key}`, `Bearer Bearer ${key}`],
  ];
}

function swapCase(text: string): string {
  const swapped = (letter: string) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();
  return [...text].map(swapped).join("");
}
