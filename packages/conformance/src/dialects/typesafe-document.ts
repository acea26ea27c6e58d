import { gzipSync } from "node:zlib";
import { at, isMap, type Json, leavesOf, namesOf, show } from "../client/json.ts";
import type { Check } from "../trial/check.ts";
import { FULL_ID } from "../trial/facts.ts";
import { nonce } from "../trial/salts.ts";
import type { Trial } from "../trial/trial.ts";
import { documentCheck } from "./document-checks.ts";
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

const MAX_BODY_BYTES = 2_097_152;
/** Rubrics whose score is compared with the sum over the rounded probabilities. Chosen. */
const ROUNDED_RUBRICS = 8;
const ROUNDED_LEVELS = 20;

/** Checks of the dialect's document beyond what every client needs. */
export const TYPESAFE_DOCUMENT_CHECKS: readonly Check[] = [
  draft({
    id: "answers.rounded",
    clause: "Probabilities, scores and confidences are rounded to two decimals.",
    expected: "no number of an answer with a third decimal",
    run: async (trial: Trial) => {
      for (const state of [STATE, "The parcel is here.", "We are closed today."]) {
        const inferred = await ask(trial, { n: NOUL, c: CHOICE, s: SCORE }, { state });
        for (const { value } of leavesOf(inferred.json.get("answers") ?? null))
          trial.expect(
            typeof value !== "number" || value === Number(value.toFixed(2)),
            `${show(value)} has more than two decimals`,
            inferred,
          );
      }
    },
  }),
  draft({
    id: "answers.exact",
    clause: "A score is rounded from its exact value, not computed from rounded probabilities.",
    expected: "sometimes a score other than the sum over the rounded probabilities",
    run: checkExact,
  }),
  draft({
    id: "answers.order",
    clause: "Answers have the order and names of the questions, probabilities those of the criteria.",
    expected: "names and labels in order, including white space around them",
    run: async (trial: Trial) => {
      const criteria = '{"y":"late"," b ":"lost","10":"paid","2":"here"}'; // JSON text, because an object would move 2 to the front
      const questions = `{"z":${JSON.stringify(NOUL)}," b ":${JSON.stringify(NOUL)},"a":{"type":"choice","criteria":${criteria}}}`;
      const body = `{"state":${JSON.stringify(STATE)},"questions":${questions}}`;
      const inferred = await trial.infer(PATH, body);
      const names = namesOf(inferred.json.get("answers"));
      trial.expect(names.join() === "z, b ,a", `answers to ${show(names)}`, inferred);
      const labels = namesOf(at(answerOf(inferred, "a"), "probabilities"));
      trial.expect(labels.join() === "y, b ,10,2", `probabilities of ${show(labels)}`, inferred);
    },
  }),
  draft({
    id: "answers.ties",
    clause: "Among options with equal scores, the first is the choice.",
    expected: "the first of two options with the same description, in either order",
    run: async (trial: Trial) => {
      for (const [first, second] of [
        ["a", "b"],
        ["b", "a"],
      ] as const) {
        const criteria = { [first]: "the same", [second]: "the same" };
        const inferred = await ask(trial, { q: { type: "choice", instructions: "Which one?", criteria } });
        const choice = at(answerOf(inferred), "choice");
        trial.expect(choice === first, `choice is ${show(choice)}, not ${show(first)}`, inferred);
      }
    },
  }),
  draft({
    id: "answers.model",
    clause: "`model` is the full id of the served model, whichever name the request uses.",
    expected: "`<namespace>/<name>@<revision>`, the same for jev-latest, for null and without a name",
    run: async (trial: Trial) => {
      for (const model of ["jev-latest", null, undefined]) {
        const inferred = await ask(trial, { q: NOUL }, { model });
        const told = inferred.json.get("model");
        trial.expect(FULL_ID.test(String(told)), `model is ${show(told)}`, inferred);
      }
    },
  }),
  draft({
    id: "answers.sides",
    clause: "A noul is the probability of `true`, with the texts of the plain contract.",
    expected: "the probability of the second of two levels with the texts of false and true",
    run: async (trial: Trial) => {
      for (const instructions of ["The customer is angry", "The parcel is late", "It is about money"]) {
        const criteria = [
          `false: No. This is false: ${instructions}`,
          `true: Yes. This is true: ${instructions}`,
        ];
        const inferred = await ask(trial, {
          n: { type: "noul", instructions },
          s: { type: "score", instructions, criteria },
        });
        const [noul, share] = [
          at(answerOf(inferred, "n"), "noul"),
          at(answerOf(inferred, "s"), "probabilities", "1"),
        ];
        trial.expect(
          noul === share,
          `noul is ${show(noul)}, the level's probability ${show(share)}`,
          inferred,
        );
      }
    },
  }),
  draft({
    id: "answers.blank",
    clause: "An option without a description is shown as its name, a blank level as its number.",
    expected: "the probabilities of the name, or the number, as a description",
    run: async (trial: Trial) => {
      const level = (text: unknown) => ({
        ...SCORE,
        criteria: ["low", text, "high", text === null ? "" : "3"],
      });
      const option = (text: unknown) => ({
        ...CHOICE,
        criteria: { refund: "Wants money back", cancel: text },
      });
      const inferred = await ask(trial, {
        a: level(null),
        b: level("1"),
        c: option(null),
        d: option("cancel"),
      });
      for (const [blank, written] of [
        ["a", "b"],
        ["c", "d"],
      ] as const) {
        const [one, other] = [blank, written].map((name) =>
          show(at(answerOf(inferred, name), "probabilities")),
        );
        trial.expect(one === other, `${one}, and ${other} with the text as a description`, inferred);
      }
    },
  }),
  draft({
    id: "answers.legend-exact",
    clause: "The legend has strings, objects and arrays exactly as sent.",
    expected: "the same values, including white space around a level",
    run: async (trial: Trial) => {
      const inferred = await ask(trial, {
        q: { ...SCORE, criteria: [" low\n", { is: [" b "] }, [1, "c "]] },
      });
      const legend = at(answerOf(inferred), "legend");
      const wanted = '{"0":" low\\n","1":{"is":[" b "]},"2":[1,"c "]}';
      trial.expect(JSON.stringify(plain(legend)) === wanted, `legend is ${show(legend)}`, inferred);
    },
  }),
  draft({
    id: "usage",
    clause: "`input_tokens` counts the scored pairs; `output_tokens` is 0.",
    expected: "a count above 0, more for a longer state; 0 if the model is not needed",
    run: async (trial: Trial) => {
      const salt = nonce(); // a fresh text: an equal pair in the same batch would count no tokens
      const tokens = async (questions: object, state: string) => {
        const inferred = await ask(trial, questions, { state: `${salt} ${state}` });
        trial.expect(at(inferred.json, "usage", "output_tokens") === 0, "output_tokens is not 0", inferred);
        return { inferred, input: Number(at(inferred.json, "usage", "input_tokens")) };
      };
      const [short, long] = [
        await tokens({ q: NOUL }, STATE),
        await tokens({ q: NOUL }, `${STATE} ${STATE}`),
      ];
      trial.expect(
        short.input > 0 && long.input > short.input,
        `${short.input} tokens, and ${long.input} for twice the state`,
        long.inferred,
      );
      const certain = await tokens({ q: { type: "choice", criteria: { only: null } } }, STATE);
      trial.expect(certain.input === 0, `${certain.input} tokens for a certain answer`, certain.inferred);
    },
  }),
  draft({
    id: "requests.total",
    clause: "All questions of a request may have up to 4,096 options and levels in total.",
    expected: "200 for 360, 422 for 4,097",
    isGentle: false,
    run: async (trial: Trial) => {
      const question = (count: number) => ({
        ...SCORE,
        criteria: Array.from({ length: count }, (_, level) => `level ${level}`),
      });
      await ask(trial, { a: question(120), b: question(120), c: question(120) });
      const many = Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`q${at}`, question(241)]));
      await trial.refused(PATH, { state: STATE, questions: many });
    },
  }),
  draft({
    id: "requests.bounds",
    clause:
      "A choice has at most 255 options, a score at most 255 levels, a request at most 1,024 questions; images are refused.",
    expected: "422 for one more of each, for `assets`, and for parts with files",
    run: (trial: Trial) =>
      trial.each(beyondBounds(), async ({ body }) => {
        await trial.refused(PATH, body);
      }),
  }),
  draft({
    id: "requests.optional",
    clause: "`model` may be null, `assets` null or an empty object.",
    expected: "200 for each",
    run: async (trial: Trial) => {
      for (const others of [{ model: null }, { assets: null }, { assets: {} }])
        await ask(trial, { q: NOUL }, others);
    },
  }),
  draft({
    id: "requests.zstd",
    clause: "A body may be compressed with zstd.",
    expected: "the answer to the uncompressed body",
    run: async (trial: Trial) => {
      const headers = { "content-encoding": "zstd", "content-type": "application/json" };
      await trial.infer(PATH, zstdFrame(Buffer.from(JSON.stringify(TYPESAFE_REQUEST.body))), { headers });
    },
  }),
  draft({
    id: "requests.decoded-size",
    clause: "The limit of 2,097,152 bytes applies to the decoded body.",
    expected: "413 for a small body that is too large when decoded",
    run: async (trial: Trial) => {
      const body = JSON.stringify({ ...TYPESAFE_REQUEST.body, state: " ".repeat(MAX_BODY_BYTES) });
      const headers = { "content-encoding": "gzip", "content-type": "application/json" };
      const reply = await trial.refused(PATH, gzipSync(body), { headers, status: 413 });
      trial.expect(at(reply.json, "detail", "error_type") === "request_too_large", show(reply.json), reply);
    },
  }),
  draft({
    id: "errors.model",
    clause: "An unknown model is refused with 400 and the type `api_usage_error`.",
    expected: "400, and detail with that error_type and a message",
    run: async (trial: Trial) => {
      const body = { ...TYPESAFE_REQUEST.body, model: "no-such-model-0" };
      const reply = await trial.refused(PATH, body, { status: 400 });
      trial.expect(at(reply.json, "detail", "error_type") === "api_usage_error", show(reply.json), reply);
    },
  }),
  draft({
    id: "errors.keys",
    clause:
      "A missing key is refused with 403, a wrong one with 401 and `WWW-Authenticate: Bearer`; both are an `authentication_error`.",
    expected: "the status, and detail with that error_type",
    needsInference: false,
    run: async (trial: Trial) => {
      if (!trial.facts.wantsKey) trial.skip("the server requires no key");
      for (const { status, headers } of [
        { status: 403, headers: {} },
        { status: 401, headers: { authorization: "Bearer wrong" } },
      ]) {
        const reply = await trial.refused(PATH, TYPESAFE_REQUEST.body, { hasKey: false, headers, status });
        trial.expect(
          at(reply.json, "detail", "error_type") === "authentication_error",
          show(reply.json),
          reply,
        );
        const challenge = reply.headers["www-authenticate"];
        trial.expect(
          status === 403 || challenge === "Bearer",
          `www-authenticate is ${show(challenge ?? null)}`,
          reply,
        );
      }
    },
  }),
  draft({
    id: "models.open",
    clause: "GET /v1/models needs no key.",
    expected: "200 without a key",
    needsInference: false,
    run: async (trial: Trial) => {
      const reply = await trial.get("/v1/models", { hasKey: false });
      trial.expect(reply.status === 200, `${reply.status}`, reply);
    },
  }),
  draft({
    id: "request-id.same",
    clause: "`x-typesafe-request-id` equals `x-request-id`: the caller's id if it is valid.",
    expected: "the id that was sent in both headers, with 200, 422 and 403",
    needsInference: false,
    run: async (trial: Trial) => {
      const headers = { "x-request-id": "Check-1_a.b" };
      const replies = [
        await trial.get("/v1/models", { headers }),
        await trial.post(PATH, TYPESAFE_REQUEST.body, { headers }),
        await trial.post(PATH, {}, { headers }),
        await trial.post(PATH, {}, { headers, hasKey: false }),
      ];
      for (const reply of replies)
        for (const name of ["x-request-id", "x-typesafe-request-id"]) {
          const id = reply.headers[name];
          trial.expect(
            id === headers["x-request-id"],
            `${name} is ${show(id ?? null)} with ${reply.status}`,
            reply,
          );
        }
    },
  }),
  documentCheck("typesafe", "typesafe: TypesafeAnswers, TypesafeError", async (trial: Trial) => {
    await trial.get("/v1/models");
    await trial.post(PATH, { state: STATE, questions: { n: NOUL, c: CHOICE, s: SCORE } });
  }),
];

/** Uses rubrics of many levels: the rounding errors of their probabilities add up to more than 0.01. */
async function checkExact(trial: Trial): Promise<void> {
  const criteria = Array.from({ length: ROUNDED_LEVELS }, (_, level) => `about ${level * 5} per cent`);
  const names = Array.from({ length: ROUNDED_RUBRICS }, (_, at) => `q${at}`);
  const questions = Object.fromEntries(
    names.map((name, at) => [
      name,
      { type: "score", instructions: `How much of part ${at} is done?`, criteria },
    ]),
  );
  const inferred = await ask(trial, questions);
  const rubrics = names.map((name) => {
    const answer = answerOf(inferred, name);
    const shares = criteria.map((_, level) => Number(at(answer, "probabilities", String(level))));
    const sum = shares.reduce((all, share) => all + share, 0);
    const mean = shares.reduce((all, share, level) => all + level * share, 0);
    return {
      isRounded: Math.abs(sum - 1) > 0.005,
      isSum: Math.abs(Number(at(answer, "score")) - mean) < 0.0051,
    };
  });
  const rounded = rubrics.filter(({ isRounded }) => isRounded);
  if (rounded.length < 4)
    trial.skip("rounding is invisible: the model's probabilities are too close to 0 and 1");
  trial.expect(
    rounded.some(({ isSum }) => !isSum),
    `each of ${rounded.length} scores is the sum of its rounded probabilities`,
    inferred,
  );
}

function beyondBounds(): readonly { readonly name: string; readonly body: object }[] {
  const list = (length: number) => Array.from({ length }, (_, index) => `option ${index}`);
  const named = (length: number, value: unknown) =>
    Object.fromEntries(list(length).map((name) => [name, value]));
  const only = (question: object, others: object = {}) => ({
    state: STATE,
    questions: { q: question },
    ...others,
  });
  const file = { type: "file", mediaType: "image/png", data: "iVBORw0KGgo=" };
  return [
    { name: "256 options", body: only({ ...CHOICE, criteria: named(256, null) }) },
    { name: "256 levels", body: only({ ...SCORE, criteria: list(256) }) },
    {
      name: "1,025 questions",
      body: { state: STATE, questions: named(1025, { type: "choice", criteria: { only: null } }) },
    },
    { name: "assets", body: only(NOUL, { assets: { image: "iVBORw0KGgo=" } }) },
    { name: "a part with a file", body: only(NOUL, { state: [{ type: "text", text: STATE }, file] }) },
  ];
}

function plain(value: Json | undefined): unknown {
  if (Array.isArray(value)) return value.map(plain);
  return isMap(value) ? Object.fromEntries([...value].map(([name, member]) => [name, plain(member)])) : value;
}

/**
 * A zstd frame with uncompressed content, since Node.js 20 has no zstd.
 *
 * @param bytes at most 128 KiB, the maximum size of a block
 * @see RFC 8878, 3.1.1
 */
function zstdFrame(bytes: Buffer): Buffer {
  const head = Buffer.alloc(12);
  head.writeUInt32LE(0xfd2fb528, 0);
  head.writeUInt8(0b1010_0000, 4); // content size in four bytes, single segment
  head.writeUInt32LE(bytes.byteLength, 5);
  head.writeUIntLE(1 | (bytes.byteLength << 3), 9, 3); // last block, raw
  return Buffer.concat([head, bytes]);
}
