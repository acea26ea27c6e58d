import { type Check, checksOf, type Draft } from "../../trial/check.ts";
import { CONTRACT_LIMITS, type Limits } from "../../trial/limits.ts";
import { NOUL, OPERATIONS, RANK, SMALL, SMALL_RANK, SYSTEMONE } from "../../trial/operations.ts";
import { MARK, type Trial } from "../../trial/trial.ts";
import { asked, type Cases, checkRefused, checkTaken, rankings, toRank } from "../cases.ts";
import { choiceOf, labelled, numbered, scoreOf, sizesOf, texts } from "../scored.ts";

const levels = (count: number) => scoreOf(texts(count));
const labels = (count: number) => choiceOf(labelled(texts(count)));
const rankOf = (count: number) => rankings(texts(count), labelled(texts(count)));
const labelsOf = (count: number): Cases => ({ [`${count} labels`]: asked(labels(count)) });
const levelsOf = (count: number): Cases => ({ [`${count} levels`]: asked(levels(count)) });
const questionsOf = (count: number): Cases => ({
  [`${count} yes/no questions`]: { state: "s", questions: numbered(count, NOUL) },
});

const { minCandidates, maxCandidates, maxQuestions, maxPairs, maxNesting } = CONTRACT_LIMITS;
const CANDIDATES = `${minCandidates} to ${maxCandidates}`;
const MOST_BYTES = CONTRACT_LIMITS.maxBodyBytes.toLocaleString("en-US");
const ofCandidates = (limits: Limits): Bounds => [limits.minCandidates, limits.maxCandidates];
const ofQuestions = (limits: Limits): Bounds => [1, limits.maxQuestions];

/**
 * Checks of limits on counts and bytes, at the limit and one past it. Clause texts state the contract's limits; the
 * limits that the server reports are tested.
 */
export const LIMIT_CHECKS: readonly Check[] = [
  ...checksOf("interface: ServiceLimits", {
    "limits.questions": bound(`A request has 1 to ${maxQuestions} questions.`, ofQuestions, questionsOf),
    "limits.labels": bound(`A choice has ${CANDIDATES} labels.`, ofCandidates, labelsOf),
    "limits.levels": bound(`A score has ${CANDIDATES} levels.`, ofCandidates, levelsOf),
    "limits.candidates": bound(`A ranking has ${CANDIDATES} candidates.`, ofCandidates, rankOf),
    "limits.body": {
      clause: `A POST body has at most ${MOST_BYTES} bytes; a larger one is refused with 413.`,
      expected: "200 for a valid body of exactly that size, 413 for one byte more, from both operations",
      isGentle: false,
      run: async (trial) => {
        const { maxBodyBytes } = trial.facts.limits;
        for (const { path, body } of OPERATIONS) {
          const text = JSON.stringify(body);
          await trial.infer(path, text.padEnd(maxBodyBytes));
          await trial.refused(path, text.padEnd(maxBodyBytes + 1), { status: 413 });
          await trial.infer(path, text.padStart(maxBodyBytes));
        }
      },
    },
    "limits.body-bytes": {
      clause: "The size limit of a body counts bytes, not characters.",
      expected: `413 for a body of fewer than ${MOST_BYTES} characters but more bytes`,
      isGentle: false,
      run: (trial) => {
        const state = "é".repeat(trial.facts.limits.maxBodyBytes / 2);
        return trial.refused(SYSTEMONE, { ...SMALL, state }, { status: 413 });
      },
    },
    "limits.body-chunked": {
      clause: "The size limit also holds for a chunked body without a declared length.",
      expected: "200 at the limit, 413 one byte past it",
      isGentle: false,
      run: async (trial) => {
        const { maxBodyBytes } = trial.facts.limits;
        for (const [more, status] of [
          [0, 200],
          [1, 413],
        ] as const) {
          const body = JSON.stringify(SMALL_RANK).padEnd(maxBodyBytes + more);
          const { reply, wire } = await trial.unlessBusy(() => sendHalves(trial, body));
          trial.status(reply, status, wire);
        }
      },
    },
  }),
  ...checksOf("interface: Errors", {
    "limits.pairs": {
      clause: `The questions of a request have at most ${maxPairs} candidates in total.`,
      expected: `200 for ${maxPairs} pairs, also of mixed types; 422 for ${maxPairs + 1} and more`,
      isGentle: false,
      run: async (trial) => {
        const { limits } = trial.facts;
        const most = limits.maxQuestions * limits.maxCandidates;
        await checkTaken(trial, { ...rubrics(limits.maxPairs, limits), ...mixed(limits.maxPairs, limits) });
        await checkRefused(trial, {
          ...mixed(limits.maxPairs + 1, limits),
          ...rubrics(limits.maxPairs + 2, limits),
          ...rubrics(most, limits),
        });
      },
    },
    "limits.pairs-refused": {
      clause: `More than ${maxPairs} candidates in total are refused.`,
      expected: `422 for ${maxPairs + 1} pairs and for ${maxPairs + maxCandidates}`,
      run: (trial) => {
        const { limits } = trial.facts;
        const more = rubrics(limits.maxPairs + limits.maxCandidates, limits);
        return checkRefused(trial, { ...mixed(limits.maxPairs + 1, limits), ...more });
      },
    },
  }),
  ...checksOf("contract: Order of checks", {
    "limits.body-announced": {
      clause: "A body with a too large declared length is refused without waiting for it.",
      expected: "413 after the head alone",
      run: async (trial) => {
        const wire = await trial.wire();
        wire.send(trial.postHead(SYSTEMONE, "Content-Length: 99999999999"));
        trial.status(await wire.read(), 413, wire);
      },
    },
  }),
  ...checksOf("contract: Requests", {
    "limits.nesting": {
      clause: `Objects and arrays are nested at most ${maxNesting} levels deep, the body itself included.`,
      expected: `200 for ${maxNesting} levels, 422 for ${maxNesting + 1}, of objects, of arrays and of both, by both operations`,
      run: async (trial) => {
        await checkTaken(trial, nestedBodies(trial.facts.limits.maxNesting));
        await checkRefused(trial, nestedBodies(trial.facts.limits.maxNesting + 1));
      },
    },
    "limits.nesting-hostile": {
      clause: "Extreme nesting is refused and does not crash the server.",
      expected: "422 for 100,000 open arrays and objects",
      run: (trial) =>
        checkRefused(trial, {
          "open arrays": "[".repeat(100_000),
          "open objects": '{"a":'.repeat(100_000),
        }),
    },
  }),
];

/** Bodies with so many levels, the body itself included. */
function nestedBodies(all: number): Cases {
  const nested = (open: string, close: string, count: number) =>
    `${open.repeat(count)}1${close.repeat(count)}`;
  const states = {
    arrays: nested("[", "]", all - 1),
    objects: nested('{"a":', "}", all - 1),
    both: `[${nested('{"a":', "}", all - 2)}]`,
  };
  const cases = Object.entries(states).flatMap(([name, state]) => [
    [name, `{"state":${state},"questions":{"q":{"type":"noul","instructions":"${MARK}"}}}`],
    [`${name}, ranked`, toRank(`{"state":${state},"candidates":["a","b"]}`)],
  ]);
  return Object.fromEntries(cases);
}

async function sendHalves(trial: Trial, body: string) {
  const wire = await trial.wire();
  const half = body.length >> 1;
  wire.send(trial.postHead(RANK, "Transfer-Encoding: chunked"));
  for (const chunk of [body.slice(0, half), body.slice(half)])
    wire.send(`${chunk.length.toString(16)}\r\n${chunk}\r\n`);
  wire.send("0\r\n\r\n");
  return { reply: await wire.read(), wire };
}

/** Smallest and largest allowed count. */
type Bounds = readonly [least: number, most: number];

/** Counts at the bounds are accepted, and counts just past and far past them are refused. */
function bound(
  clause: string,
  boundsOf: (limits: Limits) => Bounds,
  casesOf: (count: number) => Cases,
): Draft {
  return {
    clause,
    expected: "200 at the bounds, 422 past them",
    run: async (trial) => {
      const [least, most] = boundsOf(trial.facts.limits);
      const beyond = [...Array(least).keys(), most + 1, most * 10];
      await checkTaken(trial, Object.assign({}, ...[least, most].map(casesOf)));
      await checkRefused(trial, Object.assign({}, ...beyond.map(casesOf)));
    },
  };
}

/** A request of score questions with so many candidates in total. */
function rubrics(pairs: number, limits: Limits): Cases {
  const all = sizesOf(pairs, limits.maxCandidates).map((size, index) => [`n${index}`, levels(size)]);
  return { [`${pairs} pairs of score questions`]: { state: "s", questions: Object.fromEntries(all) } };
}

/** A request of questions of all three types with so many candidates in total. */
function mixed(pairs: number, limits: Limits): Cases {
  const [first = 0, ...others] = sizesOf(pairs - 2, limits.maxCandidates);
  const choices = others.map((size, index) => [`n${index}`, labels(size)]);
  const questions = { ...Object.fromEntries(choices), a: levels(first), b: NOUL };
  return { [`${pairs} pairs of all types`]: { state: "s", questions } };
}
