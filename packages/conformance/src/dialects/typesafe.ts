import { gzipSync } from "node:zlib";
import { at, isList, isMap, type Json, namesOf, show } from "../client/json.ts";
import type { Check } from "../trial/check.ts";
import type { Inferred, Trial } from "../trial/trial.ts";
import { TYPESAFE_DOCUMENT_CHECKS } from "./typesafe-document.ts";
import {
  answerOf,
  ask,
  CHOICE,
  draft,
  NOUL,
  PATH,
  SCORE,
  STATE,
  TYPESAFE_REQUEST,
} from "./typesafe-requests.ts";

/** Tolerance, since probabilities may be rounded to two decimals. */
const ROUNDING = 0.005 + 1e-9;

function sharesOf(trial: Trial, inferred: Inferred, labels: readonly string[], name = "q"): number[] {
  const shares = at(answerOf(inferred, name), "probabilities");
  const names = namesOf(shares);
  const fits = labels.length === names.length && labels.every((label) => names.includes(label));
  trial.expect(fits, `probabilities of ${names.length} labels, not of the ${labels.length} sent`, inferred);
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

function expectClose(
  trial: Trial,
  about: Inferred,
  what: string,
  given: Json | undefined,
  wanted: number,
  by: number,
) {
  const isClose = typeof given === "number" && Math.abs(given - wanted) <= by;
  trial.expect(isClose, `${what} is ${show(given)}, not ${wanted}`, about);
}

const options = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`option ${index}`, null]));

/** Requests that must be answered. */
const ACCEPTED: readonly { name: string; questions: Readonly<Record<string, object>>; others?: object }[] = [
  { name: "no instructions", questions: { q: { type: "noul", criteria: { true: "It is late" } } } },
  { name: "null instructions", questions: { q: { ...CHOICE, instructions: null } } },
  { name: "null criteria of a noul", questions: { q: { ...NOUL, criteria: null } } },
  { name: "one option", questions: { q: { type: "choice", criteria: { only: null } } } },
  { name: "equal descriptions", questions: { q: { type: "choice", criteria: { a: "same", b: "same" } } } },
  { name: "one level", questions: { q: { type: "score", criteria: ["only"] } } },
  { name: "structured texts", questions: { q: { ...NOUL, instructions: { ask: ["Is it late?"] } } } },
  { name: "an object as state", questions: { q: NOUL }, others: { state: { mail: STATE } } },
  { name: "a list as state", questions: { q: NOUL }, others: { state: [STATE, 1] } },
  {
    name: "unknown fields",
    questions: { q: { ...NOUL, weight: 1 } },
    others: { temperature: 0.5, note: {} },
  },
];

/** Requests that must be refused with 422. */
const REFUSED: readonly { name: string; body: object }[] = [
  { name: "no state", body: { questions: { q: NOUL } } },
  { name: "no questions", body: { state: STATE } },
  { name: "an empty object of questions", body: { state: STATE, questions: {} } },
  { name: "a question without a type", body: { state: STATE, questions: { q: { instructions: "?" } } } },
  { name: "an unknown type", body: { state: STATE, questions: { q: { ...NOUL, type: "boolean" } } } },
  {
    name: "a choice without options",
    body: { state: STATE, questions: { q: { type: "choice", criteria: {} } } },
  },
  {
    name: "levels as an object",
    body: { state: STATE, questions: { q: { type: "score", criteria: { 0: "a" } } } },
  },
  { name: "a question about an image", body: { state: STATE, questions: { q: { type: "box" } } } },
];

/** Checks of the profile `typesafe`: what clients of TypeSafe's hosted API need from a server. */
export const TYPESAFE_CHECKS: readonly Check[] = [
  draft({
    id: "answers.envelope",
    clause:
      "A response has the model's name, usage, and exactly one answer per question, of the question's type.",
    expected: "`model`, `answers` with the requested names and types, `usage` with whole counts",
    run: async (trial: Trial) => {
      const inferred = await ask(trial, { a: NOUL, "b-ü .": CHOICE, c: SCORE });
      const { json } = inferred;
      trial.expect(typeof json.get("model") === "string", `model is ${show(json.get("model"))}`, inferred);
      const types = namesOf(json.get("answers")).map((name) => [name, at(answerOf(inferred, name), "type")]);
      const wanted = { a: "noul", "b-ü .": "choice", c: "score" };
      const isWhole =
        types.length === 3 &&
        Object.entries(wanted).every(([name, type]) => types.some(([n, t]) => n === name && t === type));
      trial.expect(isWhole, `answers are ${show(json.get("answers"))}`, inferred);
      for (const name of ["input_tokens", "output_tokens"]) {
        const count = at(json, "usage", name);
        trial.expect(
          Number.isInteger(count) && Number(count) >= 0,
          `usage.${name} is ${show(count)}`,
          inferred,
        );
      }
    },
  }),
  draft({
    id: "answers.noul",
    clause: "A noul is a probability and has no confidence.",
    expected: "noul from 0 to 1, no member confidence",
    run: async (trial: Trial) => {
      const inferred = await ask(trial, { q: NOUL });
      const answer = answerOf(inferred);
      trial.expect(isShare(at(answer, "noul")), `noul is ${show(at(answer, "noul"))}`, inferred);
      trial.expect(!namesOf(answer).includes("confidence"), "it has a confidence", inferred);
    },
  }),
  draft({
    id: "answers.choice",
    clause: "A choice is the most likely option; its confidence is (m - 1/n) / (1 - 1/n).",
    expected: "the option with the largest probability m of n, and that confidence, rounded or not",
    run: async (trial: Trial) => {
      const inferred = await ask(trial, { q: CHOICE });
      const labels = Object.keys(CHOICE.criteria);
      const shares = sharesOf(trial, inferred, labels);
      const most = Math.max(...shares);
      const chosen = shares[labels.indexOf(String(at(answerOf(inferred), "choice")))] ?? -1;
      trial.expect(
        chosen >= most - ROUNDING,
        `choice is ${show(at(answerOf(inferred), "choice"))}`,
        inferred,
      );
      const wanted = (most - 1 / 3) / (1 - 1 / 3);
      expectClose(trial, inferred, "confidence", at(answerOf(inferred), "confidence"), wanted, 0.02);
    },
  }),
  draft({
    id: "answers.score",
    clause: "A score is the expected level; confidence falls with the distance from the most likely level.",
    expected: "the sum of level times probability, and max(0, 1 - sum(p |i - k|) / D), rounded or not",
    run: async (trial: Trial) => {
      const inferred = await ask(trial, { q: SCORE });
      const shares = sharesOf(trial, inferred, ["0", "1", "2"]);
      const mean = shares.reduce((sum, share, level) => sum + level * share, 0);
      expectClose(trial, inferred, "score", at(answerOf(inferred), "score"), mean, 0.02);
      const ways = shares.flatMap((share, mode) => {
        if (share < Math.max(...shares) - ROUNDING) return [];
        const spread = shares.reduce((sum, one, level) => sum + one * Math.abs(level - mode), 0);
        return [Math.max(0, 1 - spread / (2 / 3))];
      });
      const given = at(answerOf(inferred), "confidence");
      const isOne = ways.some((way) => typeof given === "number" && Math.abs(given - way) <= 0.03);
      trial.expect(isOne, `confidence is ${show(given)}, not ${ways.join(" or ")}`, inferred);
    },
  }),
  draft({
    id: "answers.legend",
    clause: "The legend has the levels under their numbers, as sent.",
    expected: "strings and objects unchanged; a null level as a string",
    run: async (trial: Trial) => {
      const inferred = await ask(trial, { q: { ...SCORE, criteria: ["low", { is: "middle" }, null] } });
      const legend = at(answerOf(inferred), "legend");
      trial.expect(at(legend, "0") === "low", `legend is ${show(legend)}`, inferred);
      trial.expect(at(legend, "1", "is") === "middle", `legend is ${show(legend)}`, inferred);
      trial.expect(typeof at(legend, "2") === "string", `legend is ${show(legend)}`, inferred);
    },
  }),
  draft({
    id: "answers.equal",
    clause: "Options with the same description have the same probability.",
    expected: "equal probabilities",
    run: async (trial: Trial) => {
      const inferred = await ask(trial, { q: { ...CHOICE, criteria: { a: "same", b: "other", c: "same" } } });
      const [first, , last] = sharesOf(trial, inferred, ["a", "b", "c"]);
      trial.expect(first === last, `${first} and ${last}`, inferred);
    },
  }),
  draft({
    id: "answers.certain",
    clause: "A single option or level has probability 1.",
    expected: "probability 1 and confidence 1",
    run: async (trial: Trial) => {
      const inferred = await ask(trial, {
        q: { type: "choice", criteria: { only: null } },
        s: { type: "score", criteria: ["only"] },
      });
      for (const [name, label] of [
        ["q", "only"],
        ["s", "0"],
      ] as const) {
        trial.expect(sharesOf(trial, inferred, [label], name)[0] === 1, "its probability is not 1", inferred);
        trial.expect(at(answerOf(inferred, name), "confidence") === 1, "confidence is not 1", inferred);
      }
    },
  }),
  draft({
    id: "requests.accepted",
    clause: "Every request that the SDKs may send is answered.",
    expected: "200 for each",
    run: (trial: Trial) =>
      trial.each(ACCEPTED, async ({ questions, others }) => {
        await ask(trial, questions, others);
      }),
  }),
  draft({
    id: "requests.parts",
    clause: "A state of AI SDK parts is read as the parts' content.",
    expected: "the same answer as for the plain text",
    run: async (trial: Trial) => {
      const plain = await ask(trial, { q: NOUL });
      const wrapped = await ask(trial, { q: NOUL }, { state: [{ type: "text", text: STATE }] });
      const [one, other] = [plain, wrapped].map((inferred) => at(answerOf(inferred), "noul"));
      trial.expect(one === other, `${show(other)}, not ${show(one)}`, wrapped);
    },
  }),
  draft({
    id: "requests.wide",
    clause: "A choice may have 255 options.",
    expected: "probabilities of all of them, and one of them as the choice",
    isGentle: false,
    run: async (trial: Trial) => {
      const inferred = await ask(trial, { q: { ...CHOICE, criteria: options(255) } });
      sharesOf(trial, inferred, Object.keys(options(255)));
    },
  }),
  draft({
    id: "requests.many",
    clause: "A request may have 100 questions, and each gets the same answer as alone.",
    expected: "100 answers; the same answer for one asked alone",
    isGentle: false,
    run: async (trial: Trial) => {
      const noul = (index: number) => ({ type: "noul", instructions: `Is it order ${index}?` });
      const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`q${index}`, noul(index)]));
      const together = await ask(trial, many);
      const alone = await ask(trial, { q: noul(77) });
      const [one, other] = [at(answerOf(together, "q77"), "noul"), at(answerOf(alone), "noul")];
      trial.expect(one === other, `${show(one)}, not ${show(other)}`, together);
    },
  }),
  draft({
    id: "requests.gzip",
    clause: "A body may be compressed with gzip.",
    expected: "the answer to the uncompressed body",
    run: async (trial: Trial) => {
      const body = gzipSync(JSON.stringify(TYPESAFE_REQUEST.body));
      await trial.infer(PATH, body, {
        headers: { "content-encoding": "gzip", "content-type": "application/json" },
      });
    },
  }),
  draft({
    id: "requests.refused",
    clause: "An invalid request is refused with a list of issues.",
    expected: "422 and a `detail` that is a list of {loc, msg, type}, with loc beginning with body",
    run: (trial: Trial) =>
      trial.each(REFUSED, async ({ body }) => {
        const reply = await trial.refused(PATH, body);
        const detail = at(reply.json, "detail");
        const isIssue = (one: Json) =>
          at(one, "loc", 0) === "body" &&
          typeof at(one, "msg") === "string" &&
          typeof at(one, "type") === "string";
        const fits = isList(detail) && detail.length > 0 && detail.every(isIssue);
        trial.expect(fits, `detail is ${show(detail)}`, reply);
      }),
  }),
  draft({
    id: "requests.model",
    clause: "An unknown model is refused.",
    expected: "400 or 422",
    run: async (trial: Trial) => {
      const reply = await trial.post(PATH, { ...TYPESAFE_REQUEST.body, model: "no-such-model-0" });
      trial.expect(reply.status === 400 || reply.status === 422, `${reply.status}`, reply);
    },
  }),
  draft({
    id: "keys",
    clause:
      "A request without a key gets 403 or 401, one with a wrong key 401, with an error that names its type.",
    expected: "the status, and detail with error_type and message",
    needsInference: false,
    run: async (trial: Trial) => {
      if (!trial.facts.wantsKey) trial.skip("the server requires no key");
      for (const { statuses, headers } of [
        { statuses: [401, 403], headers: {} },
        { statuses: [401], headers: { authorization: "Bearer wrong" } },
      ]) {
        const reply = await trial.post(PATH, TYPESAFE_REQUEST.body, { hasKey: false, headers });
        trial.expect(statuses.includes(reply.status), `${reply.status}`, reply);
        const detail = at(reply.json, "detail");
        const fits =
          typeof at(detail, "error_type") === "string" && typeof at(detail, "message") === "string";
        trial.expect(fits, `detail is ${show(detail)}`, reply);
      }
    },
  }),
  draft({
    id: "models",
    clause: "GET /v1/models lists the names that requests may use, each with a description and a date.",
    expected: "models with name, description and release_date, including jev-latest",
    run: async (trial: Trial) => {
      const key = trial.target.apiKey;
      const reply = await trial.get("/v1/models", {
        headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
      });
      const models = at(reply.json, "models");
      trial.expect(reply.status === 200 && isList(models) && models.length > 0, `${reply.status}`, reply);
      for (const model of models) {
        const texts = ["name", "description", "release_date"].map((name) => at(model, name));
        trial.expect(isMap(model) && texts.every((text) => typeof text === "string"), show(model), reply);
        trial.expect(/^\d{4}-\d\d-\d\d$/.test(String(texts[2])), `release_date is ${show(texts[2])}`, reply);
      }
      trial.expect(
        models.some((model) => at(model, "name") === "jev-latest"),
        "no jev-latest",
        reply,
      );
    },
  }),
  draft({
    id: "request-id",
    clause: "Every answer has x-typesafe-request-id.",
    expected: "the header, with 200 and with 422",
    run: async (trial: Trial) => {
      for (const body of [TYPESAFE_REQUEST.body, {}]) {
        const reply = await trial.post(PATH, body);
        trial.expect(Boolean(reply.headers["x-typesafe-request-id"]), "no such header", reply);
      }
    },
  }),
  ...TYPESAFE_DOCUMENT_CHECKS,
];
