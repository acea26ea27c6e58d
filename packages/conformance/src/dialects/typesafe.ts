import { gzipSync } from "node:zlib";
import { at, isList, isMap, type Json, namesOf, show } from "../client/json.ts";
import type { Check } from "../trial/check.ts";
import type { Inferred, Trial } from "../trial/trial.ts";
import { TYPESAFE_DOCUMENT_CHECKS } from "./typesafe-document.ts";
import {
  answerOf,
  ask,
  CHOICE,
  keyRefusals,
  NOUL,
  PATH,
  SCORE,
  STATE,
  TYPESAFE_REQUEST,
  typesafeChecks,
} from "./typesafe-requests.ts";

/** Tolerance, since probabilities may be rounded to two decimals. */
const ROUNDING = 0.005 + 1e-9;

function sharesOf(trial: Trial, inferred: Inferred, labels: readonly string[], name = "q"): number[] {
  const shares = at(answerOf(inferred, name), "probabilities");
  trial.equal("the labels", namesOf(shares).toSorted().join(), labels.toSorted().join(), inferred);
  const numbers = labels.map((label) => at(shares, label));
  trial.expect(numbers.every(isShare), `probabilities are ${show(shares)}`, inferred);
  const values = numbers.filter(isShare);
  const sum = values.reduce((total, value) => total + value, 0);
  trial.expect(Math.abs(sum - 1) <= 1e-6 + labels.length * ROUNDING, `they sum to ${sum}`, inferred);
  return values;
}

function isShare(value: Json | undefined): value is number {
  return typeof value === "number" && value >= 0 && value <= 1;
}

/** Expects a number of the answer to be one of these, rounded or not. */
function expectClose(trial: Trial, inferred: Inferred, name: string, wanted: readonly number[], by: number) {
  const given = at(answerOf(inferred), name);
  const isClose = wanted.some((one) => typeof given === "number" && Math.abs(given - one) <= by);
  trial.expect(isClose, `${name} is ${show(given)}, not ${wanted.join(" or ")}`, inferred);
}

const options = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`option ${index}`, null]));
const only = { type: "choice", criteria: { only: null } };

/** Requests that must be answered. */
const ACCEPTED: Readonly<Record<string, { question?: object; others?: object }>> = {
  "no instructions": { question: { type: "noul", criteria: { true: "It is late" } } },
  "null instructions": { question: { ...CHOICE, instructions: null } },
  "null criteria of a noul": { question: { ...NOUL, criteria: null } },
  "one option": { question: only },
  "equal descriptions": { question: { type: "choice", criteria: { a: "same", b: "same" } } },
  "one level": { question: { type: "score", criteria: ["only"] } },
  "structured texts": { question: { ...NOUL, instructions: { ask: ["Is it late?"] } } },
  "an object as state": { others: { state: { mail: STATE } } },
  "a list as state": { others: { state: [STATE, 1] } },
  "unknown fields": { question: { ...NOUL, weight: 1 }, others: { temperature: 0.5, note: {} } },
};

const about = (question: object) => ({ state: STATE, questions: { q: question } });
/** Requests that must be refused with 422. */
const REFUSED: Readonly<Record<string, object>> = {
  "no state": { questions: { q: NOUL } },
  "no questions": { state: STATE },
  "an empty object of questions": { state: STATE, questions: {} },
  "a question without a type": about({ instructions: "?" }),
  "an unknown type": about({ ...NOUL, type: "boolean" }),
  "a choice without options": about({ type: "choice", criteria: {} }),
  "levels as an object": about({ type: "score", criteria: { 0: "a" } }),
  "a question about an image": about({ type: "box" }),
};

/** Checks of the profile `typesafe`: what clients of TypeSafe's hosted API need from a server. */
export const TYPESAFE_CHECKS: readonly Check[] = [
  ...typesafeChecks({
    "answers.envelope": {
      clause:
        "A response has the model's name, usage, and exactly one answer per question, of the question's type.",
      expected: "`model`, `answers` with the requested names and types, `usage` with whole counts",
      run: async (trial: Trial) => {
        const inferred = await ask(trial, { a: NOUL, "b-ü .": CHOICE, c: SCORE });
        const { json } = inferred;
        trial.expect(typeof json.get("model") === "string", `model is ${show(json.get("model"))}`, inferred);
        const names = namesOf(json.get("answers")).toSorted();
        const types = names.map((name) => `${name}: ${show(at(answerOf(inferred, name), "type"))}`);
        trial.equal("the list of answers", types.join(), 'a: "noul",b-ü .: "choice",c: "score"', inferred);
        for (const name of ["input_tokens", "output_tokens"]) {
          const count = at(json, "usage", name);
          const isCount = Number.isInteger(count) && Number(count) >= 0;
          trial.expect(isCount, `usage.${name} is ${show(count)}`, inferred);
        }
      },
    },
    "answers.noul": {
      clause: "A noul is a probability and has no confidence.",
      expected: "noul from 0 to 1, no member confidence",
      run: async (trial: Trial) => {
        const inferred = await ask(trial, { q: NOUL });
        const answer = answerOf(inferred);
        trial.expect(isShare(at(answer, "noul")), `noul is ${show(at(answer, "noul"))}`, inferred);
        trial.equal("its confidence", at(answer, "confidence"), undefined, inferred);
      },
    },
    "answers.choice": {
      clause: "A choice is the most likely option; its confidence is (m - 1/n) / (1 - 1/n).",
      expected: "the option with the largest probability m of n, and that confidence, rounded or not",
      run: async (trial: Trial) => {
        const inferred = await ask(trial, { q: CHOICE });
        const labels = Object.keys(CHOICE.criteria);
        const shares = sharesOf(trial, inferred, labels);
        const most = Math.max(...shares);
        const choice = at(answerOf(inferred), "choice");
        const chosen = shares[labels.indexOf(String(choice))] ?? -1;
        trial.expect(chosen >= most - ROUNDING, `choice is ${show(choice)}`, inferred);
        expectClose(trial, inferred, "confidence", [(most - 1 / 3) / (1 - 1 / 3)], 0.02);
      },
    },
    "answers.score": {
      clause: "A score is the expected level; confidence falls with the distance from the most likely level.",
      expected: "the sum of level times probability, and max(0, 1 - sum(p |i - k|) / D), rounded or not",
      run: async (trial: Trial) => {
        const inferred = await ask(trial, { q: SCORE });
        const shares = sharesOf(trial, inferred, ["0", "1", "2"]);
        const mean = shares.reduce((sum, share, level) => sum + level * share, 0);
        expectClose(trial, inferred, "score", [mean], 0.02);
        const ways = shares.flatMap((share, mode) => {
          if (share < Math.max(...shares) - ROUNDING) return [];
          const spread = shares.reduce((sum, one, level) => sum + one * Math.abs(level - mode), 0);
          return [Math.max(0, 1 - spread / (2 / 3))];
        });
        expectClose(trial, inferred, "confidence", ways, 0.03);
      },
    },
    "answers.legend": {
      clause: "The legend has the levels under their numbers, as sent.",
      expected: "strings and objects unchanged; a null level as a string",
      run: async (trial: Trial) => {
        const inferred = await ask(trial, { q: { ...SCORE, criteria: ["low", { is: "middle" }, null] } });
        const legend = at(answerOf(inferred), "legend");
        const isSent = at(legend, "0") === "low" && at(legend, "1", "is") === "middle";
        trial.expect(isSent && typeof at(legend, "2") === "string", `legend is ${show(legend)}`, inferred);
      },
    },
    "answers.equal": {
      clause: "Options with the same description have the same probability.",
      expected: "equal probabilities",
      run: async (trial) => {
        const inferred = await ask(trial, {
          q: { ...CHOICE, criteria: { a: "same", b: "other", c: "same" } },
        });
        const [first, , last] = sharesOf(trial, inferred, ["a", "b", "c"]);
        trial.equal("the last probability", last, first, inferred);
      },
    },
    "answers.certain": {
      clause: "A single option or level has probability 1.",
      expected: "probability 1 and confidence 1",
      run: async (trial) => {
        const inferred = await ask(trial, { only, 0: { type: "score", criteria: ["only"] } });
        for (const label of ["only", "0"]) {
          trial.equal("its probability", sharesOf(trial, inferred, [label], label)[0], 1, inferred);
          trial.equal("its confidence", at(answerOf(inferred, label), "confidence"), 1, inferred);
        }
      },
    },
    "requests.accepted": {
      clause: "Every request that the SDKs may send is answered.",
      expected: "200 for each",
      run: (trial) =>
        trial.eachOf(ACCEPTED, ({ question = NOUL, others = {} }) => ask(trial, { q: question }, others)),
    },
    "requests.parts": {
      clause: "A state of AI SDK parts is read as the parts' content.",
      expected: "the same answer as for the plain text",
      run: async (trial) => {
        const plain = await ask(trial, { q: NOUL });
        const wrapped = await ask(trial, { q: NOUL }, { state: [{ type: "text", text: STATE }] });
        trial.equal("noul", at(answerOf(wrapped), "noul"), at(answerOf(plain), "noul"), wrapped);
      },
    },
    "requests.wide": {
      clause: "A choice may have 255 options.",
      expected: "probabilities of all of them, and one of them as the choice",
      isGentle: false,
      run: async (trial) => {
        const inferred = await ask(trial, { q: { ...CHOICE, criteria: options(255) } });
        sharesOf(trial, inferred, Object.keys(options(255)));
      },
    },
    "requests.many": {
      clause: "A request may have 100 questions, and each gets the same answer as alone.",
      expected: "100 answers; the same answer for one asked alone",
      isGentle: false,
      run: async (trial) => {
        const noul = (index: number) => ({ type: "noul", instructions: `Is it order ${index}?` });
        const many = Object.fromEntries(
          Array.from({ length: 100 }, (_, index) => [`q${index}`, noul(index)]),
        );
        const together = await ask(trial, many);
        const alone = await ask(trial, { q: noul(77) });
        trial.equal("noul", at(answerOf(together, "q77"), "noul"), at(answerOf(alone), "noul"), together);
      },
    },
    "requests.gzip": {
      clause: "A body may be compressed with gzip.",
      expected: "the answer to the uncompressed body",
      run: async (trial) => {
        const headers = { "content-encoding": "gzip", "content-type": "application/json" };
        await trial.infer(PATH, gzipSync(JSON.stringify(TYPESAFE_REQUEST.body)), { headers });
      },
    },
    "requests.refused": {
      clause: "An invalid request is refused with a list of issues.",
      expected: "422 and a `detail` that is a list of {loc, msg, type}, with loc beginning with body",
      run: (trial: Trial) =>
        trial.eachOf(REFUSED, async (body) => {
          const reply = await trial.refused(PATH, body);
          const detail = at(reply.json, "detail");
          const isText = (one: Json, name: string) => typeof at(one, name) === "string";
          const isIssue = (one: Json) =>
            at(one, "loc", 0) === "body" && isText(one, "msg") && isText(one, "type");
          const fits = isList(detail) && detail.length > 0 && detail.every(isIssue);
          trial.expect(fits, `detail is ${show(detail)}`, reply);
        }),
    },
    "requests.model": {
      clause: "An unknown model is refused.",
      expected: "400 or 422",
      run: async (trial) => {
        const reply = await trial.post(PATH, { ...TYPESAFE_REQUEST.body, model: "no-such-model-0" });
        trial.status(reply, [400, 422]);
      },
    },
    keys: {
      clause:
        "A request without a key gets 403 or 401, one with a wrong key 401, with an error that names its type.",
      expected: "the status, and detail with error_type and message",
      needsInference: false,
      run: async (trial: Trial) => {
        const { missing, wrong } = await keyRefusals(trial);
        trial.status(missing, [401, 403]);
        trial.status(wrong, 401);
        for (const reply of [missing, wrong])
          for (const name of ["error_type", "message"]) {
            const detail = at(reply.json, "detail");
            trial.expect(typeof at(detail, name) === "string", `detail is ${show(detail)}`, reply);
          }
      },
    },
    models: {
      clause: "GET /v1/models lists the names that requests may use, each with a description and a date.",
      expected: "models with name, description and release_date, including jev-latest",
      run: async (trial: Trial) => {
        const key = trial.target.apiKey;
        const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
        const reply = await trial.get("/v1/models", { headers });
        const models = at(reply.json, "models");
        trial.expect(reply.status === 200 && isList(models) && models.length > 0, `${reply.status}`, reply);
        for (const model of models) {
          const texts = ["name", "description", "release_date"].map((name) => at(model, name));
          trial.expect(isMap(model) && texts.every((text) => typeof text === "string"), show(model), reply);
          trial.expect(
            /^\d{4}-\d\d-\d\d$/.test(String(texts[2])),
            `release_date is ${show(texts[2])}`,
            reply,
          );
        }
        const names = models.map((model) => at(model, "name"));
        trial.expect(names.includes("jev-latest"), "no jev-latest", reply);
      },
    },
    "request-id": {
      clause: "Every answer has x-typesafe-request-id.",
      expected: "the header, with 200 and with 422",
      run: async (trial: Trial) => {
        for (const body of [TYPESAFE_REQUEST.body, {}]) {
          const reply = await trial.post(PATH, body);
          trial.expect(Boolean(reply.headers["x-typesafe-request-id"]), "no such header", reply);
        }
      },
    },
  }),
  ...TYPESAFE_DOCUMENT_CHECKS,
];
