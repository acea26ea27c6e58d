import { type Check, defineCheck } from "../check.ts";
import { excerpt } from "../exchange.ts";
import { at } from "../json.ts";
import { OPERATIONS, RANK, SMALL, SMALL_RANK, SYSTEMONE } from "../operations.ts";
import type { Trial } from "../trial.ts";

const OPEN_PATHS = ["/health", "/ready", "/v1/models", "/docs", "/redoc", "/openapi.json"];
const WRONG = "wrong-key-of-a-check";

/** Keys. Each check that needs one says so, since only the operator can configure it. */
export const AUTHENTICATION_CHECKS: readonly Check[] = [
  defineCheck({
    id: "auth.missing",
    clause: "With a key configured, an inference without it is 401.",
    source: "SPEC.md 5",
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
    clause: "An incorrect key is 401.",
    source: "SPEC.md 5",
    expected: "401 for another key, for parts of the right one, and for another scheme",
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
      const near = [
        `Bearer ${key.slice(0, -1)}`,
        `Bearer ${key.slice(1)}`,
        `Basic ${key}`,
        key,
        `Bearer${key}`,
      ];
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
    clause: "The key counts in the header `Authorization` alone.",
    source: "SPEC.md 5",
    expected: "no answer for the right key in the query, in another header or in a cookie",
    needsInference: false,
    run: async (trial: Trial) => {
      needsKey(trial);
      const key = knownKey(trial);
      const inQuery = encodeURIComponent(key);
      const query = `access_token=${inQuery}&api_key=${inQuery}&key=${inQuery}`;
      const ways = [
        { name: "query", path: `${RANK}?${query}`, headers: {} },
        { name: "x-api-key", path: RANK, headers: { "x-api-key": key } },
        { name: "cookie", path: RANK, headers: { cookie: `authorization=Bearer ${key}` } },
        { name: "proxy-authorization", path: RANK, headers: { "proxy-authorization": `Bearer ${key}` } },
      ];
      await trial.each(ways, async ({ path, headers }) => {
        const reply = await trial.post(path, SMALL_RANK, { headers, hasKey: false });
        trial.expect(reply.status !== 200, excerpt(reply), reply);
      });
    },
  }),
  defineCheck({
    id: "auth.accepted",
    clause: "The configured key in `Authorization: Bearer <key>` opens both operations.",
    source: "SPEC.md 5",
    expected: "200 with the key that was given to this tool",
    needsInference: false,
    run: async (trial: Trial) => {
      needsKey(trial);
      if (trial.target.apiKey === undefined) trial.skip("no key was given (--api-key or DECISION_API_KEY)");
      await eachOperation(trial, async (path, body) => {
        const reply = await trial.post(path, body);
        trial.expect(reply.status === 200, `${excerpt(reply)}, with the key`, reply);
      });
    },
  }),
  defineCheck({
    id: "auth.open-routes",
    clause: "/health, /ready, /v1/models, /docs, /redoc and /openapi.json never require a key.",
    source: "SPEC.md 5",
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
    clause: "Without a configured key nothing is checked.",
    source: "SPEC.md 5",
    expected: "200 also where a request brings some key",
    needsInference: false,
    run: async (trial: Trial) => {
      if (trial.facts.wantsKey) trial.skip("the server has a key");
      await eachOperation(trial, async (path, body) => {
        const reply = await trial.post(path, body, { headers: { authorization: `Bearer ${WRONG}` } });
        trial.expect(reply.status === 200, `${excerpt(reply)}, for a key that nobody asked for`, reply);
      });
    },
  }),
  defineCheck({
    id: "auth.challenge",
    clause: "401 carries `WWW-Authenticate: Bearer` and a sentence as `detail`, and does not repeat the key.",
    source: "notes 18",
    expected: "the header, a string `detail`, nothing of the key that was sent",
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
    source: "notes 9",
    expected: "401 for a request that is wrong in each of these ways too",
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
        await trial.refused(SYSTEMONE, body, { headers, hasKey: false, status: 401 });
      });
    },
  }),
];

function needsKey(trial: Trial): void {
  if (!trial.facts.wantsKey) trial.skip("the server has no key configured: it answers without one");
}

/** The right key. @throws CannotTell when it was not given or is refused */
function knownKey(trial: Trial): string {
  const { apiKey } = trial.target;
  if (apiKey === undefined) trial.skip("no key was given (--api-key or DECISION_API_KEY)");
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
