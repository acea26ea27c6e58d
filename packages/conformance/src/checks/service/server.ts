import { excerpt } from "../../client/exchange.ts";
import { at, isList, isMap, type Json, leavesOf, namesOf, show } from "../../client/json.ts";
import { type Check, checksOf, keylessChecksOf } from "../../trial/check.ts";
import { RANK, SYSTEMONE } from "../../trial/operations.ts";
import { MARK, type Trial } from "../../trial/trial.ts";
import { choiceOf, NOULS } from "../scored.ts";

/** Checks of `/health`, `/ready` and `/v1/models`. */
export const SERVER_CHECKS: readonly Check[] = [
  ...keylessChecksOf("interface: paths", {
    "health.status": {
      clause: "GET /health is 200 while the server is ready.",
      expected: "200 with a JSON object",
      run: async (trial: Trial) => {
        const reply = await trial.get("/health");
        trial.expect(reply.status === 200 && isMap(reply.json), excerpt(reply), reply);
      },
    },
  }),
  ...keylessChecksOf("interface: Health, ModelList", {
    "health.ready": {
      clause: "GET /ready gives the same body and the same status as GET /health.",
      expected: "the members of /health, and the same values except those that change between reads",
      turn: "alone",
      run: checkReady,
    },
    "health.metadata": {
      clause: "/health describes the model and the backend.",
      expected: "members or values about the model and its backend",
      run: async (trial: Trial) => {
        const reply = await trial.get("/health");
        const leaves = reply.json === undefined ? [] : leavesOf(reply.json);
        const tells = (pattern: RegExp) =>
          leaves.some(
            ({ path, value }) =>
              (pattern.test(path) && !/model_(batches|forwards)$/.test(path)) ||
              (typeof value === "string" && pattern.test(value)),
          );
        for (const [what, pattern] of Object.entries({
          model: /model|@[0-9a-f]{40}/i,
          backend: /backend|runtime|engine|device|provider|onnx|cpu|cuda|torch/i,
        }))
          trial.expect(tells(pattern), `nothing about a ${what}: ${excerpt(reply)}`, reply);
      },
    },
    "health.named-counters": {
      clause: "/health counts `completed_requests` and `model_batches`.",
      expected: "both names with whole numbers from 0",
      run: async (trial: Trial) => {
        const reply = await trial.get("/health");
        for (const name of ["completed_requests", "model_batches"]) {
          const value = counterOf(reply.json, name);
          trial.expect(value !== undefined, `${name} is ${show(anywhere(reply.json, name))}`, reply);
        }
      },
    },
    "models.list": {
      clause: "GET /v1/models gives an object with a list `models`, not a `data` envelope.",
      expected: "200, `models` a non-empty list, no member `data`",
      run: async (trial: Trial) => {
        const reply = await trial.get("/v1/models");
        trial.status(reply, 200);
        const models = at(reply.json, "models");
        trial.expect(isList(models) && models.length > 0, `models is ${show(models)}`, reply);
        trial.expect(!namesOf(reply.json).includes("data"), "a member `data`", reply);
      },
    },
    "models.names-model": {
      clause: "/v1/models names the served model's id and the typed-decisions task.",
      expected: "the id of the answers, and the task, in the list",
      run: async (trial: Trial) => {
        const reply = await trial.get("/v1/models");
        const values = reply.json === undefined ? [] : leavesOf(reply.json).map(({ value }) => value);
        const { modelId } = trial.facts;
        const isId = (value: Json) =>
          modelId === undefined ? /@[0-9a-f]{40}$/.test(String(value)) : value === modelId;
        trial.expect(values.some(isId), `no ${modelId ?? "full id"} in ${excerpt(reply)}`, reply);
        trial.expect(/typed[-_ ]decision/i.test(reply.text), `no task in ${excerpt(reply)}`, reply);
      },
    },
  }),
  ...keylessChecksOf("contract: /livez", {
    "livez.status": {
      clause: "GET /livez is 200 while the process runs, and needs no key.",
      expected: 'the body {"status": "live"}; 405 for another method',
      run: async (trial: Trial) => {
        const reply = await trial.get("/livez", { hasKey: false });
        const isLive =
          reply.status === 200 && at(reply.json, "status") === "live" && namesOf(reply.json).length === 1;
        trial.expect(isLive, excerpt(reply), reply);
        trial.status(await trial.call("POST", "/livez", { body: {}, hasKey: false }), 405);
      },
    },
  }),
  ...checksOf("interface: Health, ModelList", {
    "health.no-request-text": {
      clause: "/health never contains text of requests.",
      expected: "no marker word from requests in /health or /ready",
      turn: "alone",
      run: async (trial: Trial) => {
        const question = choiceOf({ [`${MARK}l`]: `${MARK}d`, b: "c" }, `${MARK}i`);
        await trial.infer(SYSTEMONE, { state: `${MARK}s`, questions: { [`${MARK}n`]: question } });
        const candidates = [`${MARK}c`, "other"];
        await trial.infer(RANK, { state: `${MARK}s`, question: `${MARK}q`, candidates });
        await trial.post(RANK, { state: `${MARK}s`, unknown: `${MARK}u` });
        for (const path of ["/health", "/ready"]) {
          const reply = await trial.get(path);
          trial.expect(!reply.text.includes(MARK), `${path} repeats a request: ${excerpt(reply)}`, reply);
        }
      },
    },
  }),
  ...checksOf("interface: Errors", {
    "server.never-500": {
      clause: "No request causes a 500: that status is for failures of the backend.",
      expected: "no 500 and no undeclared 5xx in the whole run",
      turn: "last",
      run: async (trial: Trial) => {
        await trial.infer(SYSTEMONE, { state: "s", questions: { q: NOULS[0] } });
        const found = trial.seen.find(({ status }) => status >= 500 && status !== 503);
        trial.fits(found && excerpt(found), found);
      },
    },
  }),
];

/** The first value with this name, at any depth. */
function anywhere(json: Json | undefined, name: string): Json | undefined {
  if (json === undefined) return undefined;
  return leavesOf(json).find(({ path }) => path === name || path.endsWith(`.${name}`))?.value;
}

/** A counter of /health, at any depth: the profile `seed` fixes only its name. */
export function counterOf(json: Json | undefined, name: string): number | undefined {
  const value = anywhere(json, name);
  return typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : undefined;
}

/** Compares /ready with /health, leaving out values that change between two reads of /health around it. */
async function checkReady(trial: Trial): Promise<void> {
  const before = await trial.get("/health");
  const ready = await trial.get("/ready");
  const after = await trial.get("/health");
  trial.expect(ready.status === before.status, `/ready is ${ready.status}, /health ${before.status}`, ready);
  if (before.json === undefined || ready.json === undefined || after.json === undefined)
    trial.fail(excerpt(ready), ready);
  const known = new Map(leavesOf(after.json).map(({ path, value }) => [path, value]));
  const own = new Map(leavesOf(ready.json).map(({ path, value }) => [path, value]));
  for (const { path, value } of leavesOf(before.json)) {
    trial.expect(own.has(path), `/ready has no ${path}`, ready);
    if (known.get(path) === value) trial.equal(`${path} of /ready`, own.get(path), value, ready);
  }
  for (const path of own.keys()) trial.expect(known.has(path), `/health has no ${path}`, ready);
}
