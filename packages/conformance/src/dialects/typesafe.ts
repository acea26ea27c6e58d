import { gzipSync } from "node:zlib";
import type { Reply } from "../client/exchange.ts";
import { at, isList, isMap, type Json, leavesOf, namesOf, show } from "../client/json.ts";
import { type Check, dialectChecks } from "../trial/check.ts";
import { FULL_ID } from "../trial/facts.ts";
import { nonce } from "../trial/salts.ts";
import type { Inferred, Trial } from "../trial/trial.ts";
import { documentCheck } from "./document-checks.ts";

const PATH = "/v1/systemone";
const STATE = "I was charged twice for one order. Give me my money back today!";
const NOUL = { type: "noul", instructions: "The customer is angry." };
const CHOICE = {
  type: "choice",
  instructions: "What does the customer want?",
  criteria: { refund: "Wants money back", cancel: null, other: "Anything else" },
};
const LEVELS = ["can wait", "this week", "today"];
const SCORE = { type: "score", instructions: "How urgent is this?", criteria: LEVELS };

/** The smallest request. It shows whether a server requires a key. */
export const TYPESAFE_REQUEST = {
  path: PATH,
  body: { state: STATE, model: "jev-latest", questions: { q: NOUL } },
};

async function ask(trial: Trial, questions: object, others: object = {}): Promise<Inferred> {
  return await trial.infer(PATH, { state: STATE, model: "jev-latest", questions, ...others });
}

const answerOf = ({ json }: Inferred, name = "q") => at(json, "answers", name);

/** Refusals of a missing and of a wrong key, with the statuses that each may have. @throws CannotTell without a key */
async function keyRefusals(trial: Trial) {
  if (!trial.facts.wantsKey) trial.skip("the server requires no key");
  const send = (headers: Readonly<Record<string, string>>) =>
    trial.post(PATH, TYPESAFE_REQUEST.body, { hasKey: false, headers });
  return { missing: await send({}), wrong: await send({ authorization: "Bearer wrong" }) };
}

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

const MAX_BODY_BYTES = 2_097_152;
/** Rubrics whose score is compared with the sum over the rounded probabilities. Chosen. */
const ROUNDED_RUBRICS = 8;
const ROUNDED_LEVELS = 20;

/** Checks of the profile `typesafe`: what clients of TypeSafe's hosted API need from a server, and its document. */
export const TYPESAFE_CHECKS: readonly Check[] = [
  ...dialectChecks("typesafe", "/v1/systemone", {
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
    "answers.rounded": {
      clause: "Probabilities, scores and confidences are rounded to two decimals.",
      expected: "no number of an answer with a third decimal",
      run: async (trial) => {
        for (const state of [STATE, "The parcel is here.", "We are closed today."]) {
          const inferred = await ask(trial, { n: NOUL, c: CHOICE, s: SCORE }, { state });
          for (const { path, value } of leavesOf(inferred.json.get("answers") ?? null))
            if (typeof value === "number") trial.equal(path, value, Number(value.toFixed(2)), inferred);
        }
      },
    },
    "answers.exact": {
      clause: "A score is rounded from its exact value, not computed from rounded probabilities.",
      expected: "sometimes a score other than the sum over the rounded probabilities",
      run: checkExact,
    },
    "answers.order": {
      clause: "Answers have the order and names of the questions, probabilities those of the criteria.",
      expected: "names and labels in order, including white space around them",
      run: async (trial) => {
        const criteria = '{"y":"late"," b ":"lost","10":"paid","2":"here"}'; // JSON text, because an object would move 2 to the front
        const noul = JSON.stringify(NOUL);
        const questions = `{"z":${noul}," b ":${noul},"a":{"type":"choice","criteria":${criteria}}}`;
        const inferred = await trial.infer(
          PATH,
          `{"state":${JSON.stringify(STATE)},"questions":${questions}}`,
        );
        const labels = namesOf(at(answerOf(inferred, "a"), "probabilities"));
        trial.equal(
          "the order of answers",
          namesOf(inferred.json.get("answers")).join(),
          "z, b ,a",
          inferred,
        );
        trial.equal("the order of probabilities", labels.join(), "y, b ,10,2", inferred);
      },
    },
    "answers.ties": {
      clause: "Among options with equal scores, the first is the choice.",
      expected: "the first of two options with the same description, in either order",
      run: async (trial) => {
        for (const names of [
          ["a", "b"],
          ["b", "a"],
        ]) {
          const criteria = Object.fromEntries(names.map((name) => [name, "the same"]));
          const inferred = await ask(trial, { q: { type: "choice", instructions: "Which one?", criteria } });
          trial.equal("choice", at(answerOf(inferred), "choice"), names[0], inferred);
        }
      },
    },
    "answers.model": {
      clause: "`model` is the full id of the served model, whichever name the request uses.",
      expected: "`<namespace>/<name>@<revision>`, the same for jev-latest, for null and without a name",
      run: async (trial: Trial) => {
        for (const model of ["jev-latest", null, undefined]) {
          const inferred = await ask(trial, { q: NOUL }, { model });
          const told = inferred.json.get("model");
          trial.expect(FULL_ID.test(String(told)), `model is ${show(told)}`, inferred);
        }
      },
    },
    "answers.sides": {
      clause: "A noul is the probability of `true`, with the texts of the plain contract.",
      expected: "the probability of the second of two levels with the texts of false and true",
      run: async (trial) => {
        for (const instructions of ["The customer is angry", "The parcel is late", "It is about money"]) {
          const texts = [
            `false: No. This is false: ${instructions}`,
            `true: Yes. This is true: ${instructions}`,
          ];
          const inferred = await ask(trial, {
            n: { type: "noul", instructions },
            s: { type: "score", instructions, criteria: texts },
          });
          const share = at(answerOf(inferred, "s"), "probabilities", "1");
          trial.equal("noul", at(answerOf(inferred, "n"), "noul"), share, inferred);
        }
      },
    },
    "answers.blank": {
      clause: "An option without a description is shown as its name, a blank level as its number.",
      expected: "the probabilities of the name, or the number, as a description",
      run: async (trial) => {
        const level = (text: unknown, last: string) => ({ ...SCORE, criteria: ["low", text, "high", last] });
        const option = (text: unknown) => ({ ...CHOICE, criteria: { refund: "Money back", cancel: text } });
        const inferred = await ask(trial, {
          level: level(null, ""),
          likeLevel: level("1", "3"),
          option: option(null),
          likeOption: option("cancel"),
        });
        const told = (name: string) => show(at(answerOf(inferred, name), "probabilities"));
        trial.equal("the blank level", told("level"), told("likeLevel"), inferred);
        trial.equal("the blank option", told("option"), told("likeOption"), inferred);
      },
    },
    "answers.legend-exact": {
      clause: "The legend has strings, objects and arrays exactly as sent.",
      expected: "the same values, including white space around a level",
      run: async (trial) => {
        const inferred = await ask(trial, {
          q: { ...SCORE, criteria: [" low\n", { is: [" b "] }, [1, "c "]] },
        });
        const legend = at(answerOf(inferred), "legend");
        trial.equal("legend", show(legend), '{"0":" low\\n","1":{"is":[" b "]},"2":[1,"c "]}', inferred);
      },
    },
    usage: {
      clause: "`input_tokens` counts the scored pairs; `output_tokens` is 0.",
      expected: "a count above 0, more for a longer state; 0 if the model is not needed",
      run: async (trial: Trial) => {
        const salt = nonce(); // a fresh text: an equal pair in the same batch would count no tokens
        const tokens = async (question: object, state: string) => {
          const inferred = await ask(trial, { q: question }, { state: `${salt} ${state}` });
          trial.equal("output_tokens", at(inferred.json, "usage", "output_tokens"), 0, inferred);
          return Number(at(inferred.json, "usage", "input_tokens"));
        };
        const [short, long] = [await tokens(NOUL, STATE), await tokens(NOUL, `${STATE} ${STATE}`)];
        trial.expect(short > 0 && long > short, `${short} tokens, and ${long} for twice the state`);
        const certain = await tokens({ type: "choice", criteria: { only: null } }, STATE);
        trial.equal("the count of a certain answer", certain, 0);
      },
    },
    "requests.total": {
      clause: "All questions of a request may have up to 4,096 options and levels in total.",
      expected: "200 for 360, 422 for 4,097",
      isGentle: false,
      run: async (trial) => {
        const question = (count: number) => ({ ...SCORE, criteria: list(count) });
        await ask(trial, { a: question(120), b: question(120), c: question(120) });
        await trial.refused(PATH, { state: STATE, questions: named(17, question(241)) });
      },
    },
    "requests.bounds": {
      clause:
        "A choice has at most 255 options, a score at most 255 levels, a request at most 1,024 questions; images are refused.",
      expected: "422 for one more of each, for `assets`, and for parts with files",
      run: (trial) => {
        const file = { type: "file", mediaType: "image/png", data: "iVBORw0KGgo=" };
        const questions = { q: NOUL };
        return trial.eachOf(
          {
            "256 options": { questions: { q: { ...CHOICE, criteria: named(256, null) } } },
            "256 levels": { questions: { q: { ...SCORE, criteria: list(256) } } },
            "1,025 questions": { questions: named(1025, { type: "choice", criteria: { only: null } }) },
            assets: { questions, assets: { image: "iVBORw0KGgo=" } },
            "a part with a file": { questions, state: [{ type: "text", text: STATE }, file] },
          },
          (body) => trial.refused(PATH, { state: STATE, ...body }),
        );
      },
    },
    "requests.optional": {
      clause: "`model` may be null, `assets` null or an empty object.",
      expected: "200 for each",
      run: async (trial) => {
        for (const others of [{ model: null }, { assets: null }, { assets: {} }])
          await ask(trial, { q: NOUL }, others);
      },
    },
    "requests.zstd": {
      clause: "A body may be compressed with zstd.",
      expected: "the answer to the uncompressed body",
      run: (trial) => {
        const headers = { "content-encoding": "zstd", "content-type": "application/json" };
        return trial.infer(PATH, zstdFrame(JSON.stringify(TYPESAFE_REQUEST.body)), { headers });
      },
    },
    "requests.decoded-size": {
      clause: "The limit of 2,097,152 bytes applies to the decoded body.",
      expected: "413 for a small body that is too large when decoded",
      run: async (trial) => {
        const body = JSON.stringify({ ...TYPESAFE_REQUEST.body, state: " ".repeat(MAX_BODY_BYTES) });
        const headers = { "content-encoding": "gzip", "content-type": "application/json" };
        const reply = await trial.refused(PATH, gzipSync(body), { headers, status: 413 });
        expectErrorType(trial, reply, "request_too_large");
      },
    },
    "errors.model": {
      clause: "An unknown model is refused with 400 and the type `api_usage_error`.",
      expected: "400, and detail with that error_type and a message",
      run: async (trial) => {
        const body = { ...TYPESAFE_REQUEST.body, model: "no-such-model-0" };
        expectErrorType(trial, await trial.refused(PATH, body, { status: 400 }), "api_usage_error");
      },
    },
    "errors.keys": {
      clause:
        "A missing key is refused with 403, a wrong one with 401 and `WWW-Authenticate: Bearer`; both are an `authentication_error`.",
      expected: "the status, and detail with that error_type",
      needsInference: false,
      run: async (trial) => {
        const { missing, wrong } = await keyRefusals(trial);
        trial.status(missing, 403);
        trial.status(wrong, 401);
        for (const reply of [missing, wrong]) expectErrorType(trial, reply, "authentication_error");
        trial.equal("www-authenticate", wrong.headers["www-authenticate"], "Bearer", wrong);
      },
    },
    "models.open": {
      clause: "GET /v1/models needs no key.",
      expected: "200 without a key",
      needsInference: false,
      run: async (trial) => trial.status(await trial.get("/v1/models", { hasKey: false }), 200),
    },
    "request-id.same": {
      clause: "`x-typesafe-request-id` equals `x-request-id`: the caller's id if it is valid.",
      expected: "the id that was sent in both headers, with 200, 422 and 403",
      needsInference: false,
      run: async (trial) => {
        const headers = { "x-request-id": "Check-1_a.b" };
        const replies = [
          await trial.get("/v1/models", { headers }),
          await trial.post(PATH, TYPESAFE_REQUEST.body, { headers }),
          await trial.post(PATH, {}, { headers }),
          await trial.post(PATH, {}, { headers, hasKey: false }),
        ];
        for (const reply of replies)
          for (const name of ["x-request-id", "x-typesafe-request-id"])
            trial.equal(`${name} with ${reply.status}`, reply.headers[name], headers["x-request-id"], reply);
      },
    },
  }),
  ...documentCheck("typesafe", "TypesafeAnswers, TypesafeError", async (trial) => {
    await trial.get("/v1/models");
    await trial.post(PATH, { state: STATE, questions: { n: NOUL, c: CHOICE, s: SCORE } });
  }),
];

function expectErrorType(trial: Trial, reply: Reply, type: string): void {
  trial.equal("error_type", at(reply.json, "detail", "error_type"), type, reply);
}

/** Uses rubrics of many levels: the rounding errors of their probabilities add up to more than 0.01. */
async function checkExact(trial: Trial): Promise<void> {
  const criteria = Array.from({ length: ROUNDED_LEVELS }, (_, level) => `about ${level * 5} per cent`);
  const names = Array.from({ length: ROUNDED_RUBRICS }, (_, index) => `q${index}`);
  const rubric = (index: number) => ({
    type: "score",
    instructions: `How much of part ${index} is done?`,
    criteria,
  });
  const inferred = await ask(trial, Object.fromEntries(names.map((name, index) => [name, rubric(index)])));
  const rounded = names.flatMap((name) => {
    const answer = answerOf(inferred, name);
    const shares = criteria.map((_, level) => Number(at(answer, "probabilities", String(level))));
    const sum = shares.reduce((all, share) => all + share, 0);
    const mean = shares.reduce((all, share, level) => all + level * share, 0);
    return Math.abs(sum - 1) > 0.005 ? [Math.abs(Number(at(answer, "score")) - mean)] : [];
  });
  if (rounded.length < 4)
    trial.skip("rounding is invisible: the model's probabilities are too close to 0 and 1");
  trial.expect(
    rounded.some((distance) => distance >= 0.0051),
    `each of ${rounded.length} scores is the sum of its rounded probabilities`,
    inferred,
  );
}

const list = (length: number) => Array.from({ length }, (_, index) => `option ${index}`);
const named = (length: number, value: unknown) =>
  Object.fromEntries(list(length).map((name) => [name, value]));

/**
 * A zstd frame with uncompressed content, since Node.js 20 has no zstd.
 *
 * @param text of at most 128 KiB, the maximum size of a block
 * @see RFC 8878, 3.1.1
 */
function zstdFrame(text: string): Buffer {
  const bytes = Buffer.from(text);
  const head = Buffer.alloc(12);
  head.writeUInt32LE(0xfd2fb528, 0);
  head.writeUInt8(0b1010_0000, 4); // content size in four bytes, single segment
  head.writeUInt32LE(bytes.byteLength, 5);
  head.writeUIntLE(1 | (bytes.byteLength << 3), 9, 3); // last block, raw
  return Buffer.concat([head, bytes]);
}
