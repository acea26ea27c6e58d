import { type Check, checksOf, type Draft } from "../../trial/check.ts";
import { NOUL, RANK, SYSTEMONE } from "../../trial/operations.ts";
import type { Inferred } from "../../trial/trial.ts";
import { asked, refuses, toRank } from "../cases.ts";
import { expectSameScores, listScores, STATE, scoredOf } from "../scored.ts";

const BOTH = { false: "On time", true: "Past the due date" };
const NULLS = "An alias that is null is treated as absent.";
const candidates = ["early", "late"];
const noulOf = (criteria: unknown) => asked({ ...NOUL, criteria });

/** Checks of members that have an alias. */
export const ALIAS_CHECKS: readonly Check[] = [
  ...checksOf("interface: RankRequest", {
    "alias.context": sameRanking("`context` is an alias of `state`.", [{ context: STATE, candidates }]),
    "alias.answers": sameRanking("`answers` is an alias of `candidates`.", [
      { state: STATE, answers: candidates },
      { context: STATE, answers: candidates },
      { state: STATE, answers: { "0": "early", "1": "late" } },
    ]),
  }),
  ...checksOf("interface: Question", {
    "alias.no-yes": sameNoul("`no` and `yes` are aliases of `false` and `true`.", [
      [{ no: BOTH.false, yes: BOTH.true }, BOTH],
      [{ no: BOTH.false, true: BOTH.true }, BOTH],
      [{ yes: BOTH.true, false: BOTH.false }, BOTH],
    ]),
    "alias.noul-conflict": refuses("An outcome given under both of its names is refused.", {
      "false and no": noulOf({ false: "a", no: "b" }),
      "true and yes": noulOf({ true: "a", yes: "b" }),
      "true and yes beside false": noulOf({ false: "a", true: "b", yes: "c" }),
      "equal texts": noulOf({ true: "a", yes: "a" }),
    }),
  }),
  ...checksOf("interface: SystemoneRequest", {
    "alias.rank-only": refuses("The aliases of a ranking do not exist in systemone requests.", {
      "context for state": { context: "s", questions: { q: NOUL } },
      "context beside state": { state: "s", context: "s", questions: { q: NOUL } },
    }),
  }),
  ...checksOf("contract: Requests", {
    "alias.rank-conflict": refuses("A member of a ranking given under both of its names is refused.", {
      "state and context": toRank({ state: "s", context: "s", candidates }),
      "state and a blank context": toRank({ state: "s", context: "", candidates }),
      "candidates and answers": toRank({ state: "s", candidates, answers: candidates }),
    }),
    "alias.rank-null": sameRanking(NULLS, [
      { state: STATE, context: null, candidates },
      { state: STATE, candidates, answers: null },
      { state: STATE, context: null, candidates, answers: null, question: null },
    ]),
    "alias.noul-null": sameNoul(NULLS, [
      [{ ...BOTH, no: null, yes: null }, BOTH],
      [{ no: null, yes: null }, undefined],
      [{}, undefined],
      [null, undefined],
    ]),
  }),
];

function sameRanking(clause: string, bodies: readonly object[]): Draft {
  return {
    clause,
    expected: "200, with the scores that the request under the contract's own names gets",
    run: async (trial) => {
      const scoresOf = async (body: object) => {
        const inferred = await trial.infer(RANK, body);
        return { scores: listScores(trial, inferred, candidates.length), inferred };
      };
      const wanted = await scoresOf({ state: STATE, candidates });
      await trial.each(bodies, async (body) => {
        const { scores, inferred } = await scoresOf(body);
        expectSameScores(trial, scores, wanted.scores, inferred);
      });
    },
  };
}

/** @param pairs of criteria, and those under the outcomes' own names that give the same scores */
function sameNoul(clause: string, pairs: readonly (readonly [given: unknown, like: unknown])[]): Draft {
  return {
    clause,
    expected: "200, with the scores of the outcomes under their own names",
    run: (trial) =>
      trial.each(pairs, async ([given, like]) => {
        const ask = (criteria: unknown) => trial.infer(SYSTEMONE, asked({ ...NOUL, criteria }, STATE));
        const [wanted, came] = [await ask(like), await ask(given)];
        const scoresOf = (inferred: Inferred) => scoredOf(trial, inferred, "q").scores;
        expectSameScores(trial, scoresOf(came), scoresOf(wanted), came);
      }),
  };
}
