import { excerpt } from "../../client/exchange.ts";
import { headOf } from "../../client/wire.ts";
import { type Check, defineCheck } from "../../trial/check.ts";
import { CONTRACT_LIMITS, type Limits } from "../../trial/limits.ts";
import { NOUL, OPERATIONS, RANK, SMALL, SMALL_RANK, SYSTEMONE } from "../../trial/operations.ts";
import { MARK, type Trial } from "../../trial/trial.ts";
import { asked, type Case, checkRefused, checkTaken } from "../cases.ts";
import { choiceOf, labelled, numbered, scoreOf, sizesOf, texts } from "../scored.ts";

function rankOf(count: number): readonly Case[] {
  return [
    { name: `${count} in a list`, path: RANK, body: { state: "s", candidates: texts(count) } },
    { name: `${count} in a mapping`, path: RANK, body: { state: "s", candidates: labelled(texts(count)) } },
  ];
}
function questions(given: unknown, name: string): Case {
  return { name, body: { state: "s", questions: given } };
}
const levels = (count: number) => scoreOf(texts(count));
const labels = (count: number) => choiceOf(labelled(texts(count)));
const labelsOf = (count: number): readonly Case[] => [
  { name: `${count} labels`, body: asked(labels(count)) },
];
const levelsOf = (count: number): readonly Case[] => [
  { name: `${count} levels`, body: asked(levels(count)) },
];
const questionsOf = (count: number): readonly Case[] => [
  questions(numbered(count, NOUL), `${count} yes/no questions`),
];

const { minCandidates, maxCandidates, maxQuestions, maxPairs, maxNesting } = CONTRACT_LIMITS;
const MOST_BYTES = CONTRACT_LIMITS.maxBodyBytes.toLocaleString("en-US");
const ofCandidates = (limits: Limits): Bounds => [limits.minCandidates, limits.maxCandidates];

/**
 * Checks of limits on counts and bytes, at the limit and one past it. Clause texts state the contract's limits; the
 * limits that the server reports are tested.
 */
export const LIMIT_CHECKS: readonly Check[] = [
  bound(
    "limits.questions",
    `A request has 1 to ${maxQuestions} questions.`,
    (limits) => [1, limits.maxQuestions],
    questionsOf,
  ),
  bound("limits.labels", `A choice has ${minCandidates} to ${maxCandidates} labels.`, ofCandidates, labelsOf),
  bound("limits.levels", `A score has ${minCandidates} to ${maxCandidates} levels.`, ofCandidates, levelsOf),
  bound(
    "limits.candidates",
    `A ranking has ${minCandidates} to ${maxCandidates} candidates.`,
    ofCandidates,
    rankOf,
  ),
  defineCheck({
    id: "limits.pairs",
    clause: `The questions of a request have at most ${maxPairs} candidates in total.`,
    source: "interface: Errors",
    expected: `200 for ${maxPairs} pairs, also of mixed types; 422 for ${maxPairs + 1} and more`,
    isGentle: false,
    run: async (trial: Trial) => {
      const { limits } = trial.facts;
      await checkTaken(trial, [rubrics(limits.maxPairs, limits), mixed(limits.maxPairs, limits)]);
      await checkRefused(trial, [
        mixed(limits.maxPairs + 1, limits),
        rubrics(limits.maxPairs + 2, limits),
        rubrics(limits.maxQuestions * limits.maxCandidates, limits),
      ]);
    },
  }),
  defineCheck({
    id: "limits.pairs-refused",
    clause: `More than ${maxPairs} candidates in total are refused.`,
    source: "interface: Errors",
    expected: `422 for ${maxPairs + 1} pairs and for ${maxPairs + maxCandidates}`,
    run: (trial: Trial) => {
      const { limits } = trial.facts;
      return checkRefused(trial, [
        mixed(limits.maxPairs + 1, limits),
        rubrics(limits.maxPairs + limits.maxCandidates, limits),
      ]);
    },
  }),
  defineCheck({
    id: "limits.body",
    clause: `A POST body has at most ${MOST_BYTES} bytes; a larger one is refused with 413.`,
    source: "interface: ServiceLimits",
    expected: "200 for a valid body of exactly that size, 413 for one byte more, from both operations",
    isGentle: false,
    run: async (trial: Trial) => {
      const { maxBodyBytes } = trial.facts.limits;
      for (const { path, body } of OPERATIONS) {
        const text = JSON.stringify(body);
        await trial.infer(path, text.padEnd(maxBodyBytes));
        await trial.refused(path, text.padEnd(maxBodyBytes + 1), { status: 413 });
        await trial.infer(path, text.padStart(maxBodyBytes));
      }
    },
  }),
  defineCheck({
    id: "limits.body-bytes",
    clause: "The size limit of a body counts bytes, not characters.",
    source: "interface: ServiceLimits",
    expected: `413 for a body of fewer than ${MOST_BYTES} characters but more bytes`,
    isGentle: false,
    run: async (trial: Trial) => {
      const state = "é".repeat(trial.facts.limits.maxBodyBytes / 2);
      await trial.refused(SYSTEMONE, { ...SMALL, state }, { status: 413 });
    },
  }),
  defineCheck({
    id: "limits.body-chunked",
    clause: "The size limit also holds for a chunked body without a declared length.",
    source: "interface: ServiceLimits",
    expected: "200 at the limit, 413 one byte past it",
    isGentle: false,
    run: async (trial: Trial) => {
      const { maxBodyBytes } = trial.facts.limits;
      for (const [more, status] of [
        [0, 200],
        [1, 413],
      ] as const) {
        const half = maxBodyBytes / 2;
        const body = JSON.stringify(SMALL_RANK).padEnd(maxBodyBytes + more);
        const chunks = [body.slice(0, half), body.slice(half, 2 * half), body.slice(2 * half)];
        const { reply, wire } = await trial.unlessBusy(() => sendChunks(trial, chunks));
        trial.expect(reply.status === status, `${excerpt(reply)} for ${body.length} bytes`, wire);
      }
    },
  }),
  defineCheck({
    id: "limits.body-announced",
    clause: "A body with a too large declared length is refused without waiting for it.",
    source: "contract: Order of checks",
    expected: "413 after the head alone",
    run: async (trial: Trial) => {
      const wire = await trial.wire();
      const lines = ["Content-Type: application/json", "Content-Length: 99999999999", ...trial.keyLines()];
      wire.send(headOf(trial.target, `POST ${SYSTEMONE}`, ...lines));
      const reply = await wire.read();
      trial.expect(reply.status === 413, excerpt(reply), wire);
    },
  }),
  defineCheck({
    id: "limits.nesting",
    clause: `Objects and arrays are nested at most ${maxNesting} levels deep, the body itself included.`,
    source: "contract: Requests",
    expected: `200 for ${maxNesting} levels, 422 for ${maxNesting + 1}, of objects, of arrays and of both, by both operations`,
    run: async (trial: Trial) => {
      const nested = (open: string, close: string, count: number) =>
        `${open.repeat(count)}1${close.repeat(count)}`;
      const within = (value: string) => [
        { body: `{"state":${value},"questions":{"q":{"type":"noul","instructions":"${MARK}"}}}` },
        { path: RANK, body: `{"state":${value},"candidates":["a","b"]}` },
      ];
      const cases = (levels: number): readonly Case[] =>
        [
          { name: `${levels} levels of arrays`, value: nested("[", "]", levels - 1) },
          { name: `${levels} levels of objects`, value: nested('{"a":', "}", levels - 1) },
          { name: `${levels} levels of both`, value: `[${nested('{"a":', "}", levels - 2)}]` },
        ].flatMap(({ name, value }) => within(value).map((one) => ({ name, ...one })));
      await checkTaken(trial, cases(trial.facts.limits.maxNesting));
      await checkRefused(trial, cases(trial.facts.limits.maxNesting + 1));
    },
  }),
  defineCheck({
    id: "limits.nesting-hostile",
    clause: "Extreme nesting is refused and does not crash the server.",
    source: "contract: Requests",
    expected: "422 for 100,000 open arrays and objects",
    run: (trial: Trial) =>
      checkRefused(trial, [
        { name: "open arrays", body: "[".repeat(100_000) },
        { name: "open objects", body: '{"a":'.repeat(100_000) },
      ]),
  }),
];

async function sendChunks(trial: Trial, chunks: readonly string[]) {
  const wire = await trial.wire();
  const lines = ["Content-Type: application/json", "Transfer-Encoding: chunked", ...trial.keyLines()];
  wire.send(headOf(trial.target, `POST ${RANK}`, ...lines));
  for (const chunk of chunks) if (chunk !== "") wire.send(`${chunk.length.toString(16)}\r\n${chunk}\r\n`);
  wire.send("0\r\n\r\n");
  return { reply: await wire.read(), wire };
}

/** Smallest and largest allowed count. */
type Bounds = readonly [least: number, most: number];

/** A check that counts at the bounds are accepted, and counts just past and far past them are refused. */
function bound(
  id: string,
  clause: string,
  boundsOf: (limits: Limits) => Bounds,
  casesOf: (count: number) => readonly Case[],
): Check {
  return defineCheck({
    id,
    clause,
    source: "interface: ServiceLimits",
    expected: "200 at the bounds, 422 past them",
    run: async (trial: Trial) => {
      const [least, most] = boundsOf(trial.facts.limits);
      const fewer = Array.from({ length: least }, (_, count) => count);
      await checkTaken(trial, [least, most].flatMap(casesOf));
      await checkRefused(trial, [...fewer, most + 1, most * 10].flatMap(casesOf));
    },
  });
}

/** A request of score questions with so many candidates in total. */
function rubrics(pairs: number, limits: Limits): Case {
  const all = sizesOf(pairs, limits.maxCandidates).map((size, index) => [`n${index}`, levels(size)]);
  return questions(Object.fromEntries(all), `${pairs} pairs of score questions`);
}

/** A request of questions of all three types with so many candidates in total. */
function mixed(pairs: number, limits: Limits): Case {
  const [first = 0, ...others] = sizesOf(pairs - 2, limits.maxCandidates);
  const choices = others.map((size, index) => [`n${index}`, labels(size)]);
  const all = { ...Object.fromEntries(choices), a: levels(first), b: NOUL };
  return questions(all, `${pairs} pairs of all types`);
}
