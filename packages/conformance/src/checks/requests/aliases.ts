import { type Check, defineCheck } from "../../trial/check.ts";
import { NOUL, RANK, SYSTEMONE } from "../../trial/operations.ts";
import type { Inferred, Trial } from "../../trial/trial.ts";
import { asked, refuses } from "../cases.ts";
import { ask, isSameScore, rowsOf, STATE, spreadOf } from "../scored.ts";

const BOTH = { false: "On time", true: "Past the due date" };
const NULLS = "An alias that is null is treated as absent.";

/** Checks of members that have an alias. */
export const ALIAS_CHECKS: readonly Check[] = [
  sameRanking("alias.context", "`context` is an alias of `state`.", "interface: RankRequest", [
    { context: STATE, candidates: ["early", "late"] },
  ]),
  sameRanking("alias.answers", "`answers` is an alias of `candidates`.", "interface: RankRequest", [
    { state: STATE, answers: ["early", "late"] },
    { context: STATE, answers: ["early", "late"] },
    { state: STATE, answers: { "0": "early", "1": "late" } },
  ]),
  sameNoul("alias.no-yes", "`no` and `yes` are aliases of `false` and `true`.", "interface: Question", [
    { given: { no: BOTH.false, yes: BOTH.true }, like: BOTH },
    { given: { no: BOTH.false, true: BOTH.true }, like: BOTH },
    { given: { yes: BOTH.true, false: BOTH.false }, like: BOTH },
  ]),
  refuses(
    "alias.noul-conflict",
    "An outcome given under both of its names is refused.",
    "interface: Question",
    [
      { name: "false and no", body: asked({ ...NOUL, criteria: { false: "a", no: "b" } }) },
      { name: "true and yes", body: asked({ ...NOUL, criteria: { true: "a", yes: "b" } }) },
      {
        name: "true and yes beside false",
        body: asked({ ...NOUL, criteria: { false: "a", true: "b", yes: "c" } }),
      },
      { name: "equal texts", body: asked({ ...NOUL, criteria: { true: "a", yes: "a" } }) },
    ],
  ),
  refuses(
    "alias.rank-conflict",
    "A member of a ranking given under both of its names is refused.",
    "contract: Requests",
    [
      { name: "state and context", path: RANK, body: { state: "s", context: "s", candidates: ["a", "b"] } },
      {
        name: "state and a blank context",
        path: RANK,
        body: { state: "s", context: "", candidates: ["a", "b"] },
      },
      {
        name: "candidates and answers",
        path: RANK,
        body: { state: "s", candidates: ["a", "b"], answers: ["a", "b"] },
      },
    ],
  ),
  refuses(
    "alias.rank-only",
    "The aliases of a ranking do not exist in systemone requests.",
    "interface: SystemoneRequest",
    [
      { name: "context for state", body: { context: "s", questions: { q: NOUL } } },
      { name: "context beside state", body: { state: "s", context: "s", questions: { q: NOUL } } },
    ],
  ),
  sameRanking("alias.rank-null", NULLS, "contract: Requests", [
    { state: STATE, context: null, candidates: ["early", "late"] },
    { state: STATE, candidates: ["early", "late"], answers: null },
    { state: STATE, context: null, candidates: ["early", "late"], answers: null, question: null },
  ]),
  sameNoul("alias.noul-null", NULLS, "contract: Requests", [
    { given: { ...BOTH, no: null, yes: null }, like: BOTH },
    { given: { no: null, yes: null }, like: undefined },
    { given: {}, like: undefined },
    { given: null, like: undefined },
  ]),
];

function sameRanking(id: string, clause: string, source: string, bodies: readonly object[]): Check {
  return defineCheck({
    id,
    clause,
    source,
    expected: "200, with the scores that the request under the contract's own names gets",
    run: async (trial: Trial) => {
      const wanted = await scoresOf(trial, { state: STATE, candidates: ["early", "late"] });
      const cases = bodies.map((body) => ({ name: Object.keys(body).join(" and "), body }));
      await trial.each(cases, async ({ body }) => compare(trial, wanted, await scoresOf(trial, body)));
    },
  });
}

function sameNoul(
  id: string,
  clause: string,
  source: string,
  pairs: readonly { readonly given: unknown; readonly like: unknown }[],
): Check {
  return defineCheck({
    id,
    clause,
    source,
    expected: "200, with the scores of the outcomes under their own names",
    run: async (trial: Trial) => {
      const cases = pairs.map((pair) => ({ name: JSON.stringify(pair.given), ...pair }));
      await trial.each(cases, async ({ given, like }) => {
        const wanted = await ask(trial, like === undefined ? NOUL : { ...NOUL, criteria: like });
        const question = { ...NOUL, criteria: given };
        const inferred = await trial.infer(SYSTEMONE, { state: STATE, questions: { q: question } });
        const came = await ask(trial, question);
        compare(trial, { scores: wanted.scores, inferred }, { scores: came.scores, inferred });
      });
    },
  });
}

interface Scores {
  readonly scores: readonly number[];
  readonly inferred: Inferred;
}

async function scoresOf(trial: Trial, body: object): Promise<Scores> {
  const inferred = await trial.infer(RANK, body);
  const rows = rowsOf(trial, inferred).toSorted((a, b) => Number(a.candidate) - Number(b.candidate));
  return { scores: rows.map(({ score }) => score), inferred };
}

function compare(trial: Trial, wanted: Scores, came: Scores): void {
  const isSame =
    came.scores.length === wanted.scores.length &&
    came.scores.every((score, i) =>
      isSameScore(trial, score, wanted.scores[i] ?? Number.NaN, spreadOf(wanted.scores)),
    );
  trial.expect(
    isSame,
    `the scores ${JSON.stringify(came.scores)}, not ${JSON.stringify(wanted.scores)}`,
    came.inferred,
  );
}
