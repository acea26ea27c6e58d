import type { Reply } from "../client/exchange.ts";
import { at, isList, isMap, type Json } from "../client/json.ts";
import { type Check, defineCheck } from "../trial/check.ts";
import { RANK, SYSTEMONE } from "../trial/operations.ts";
import type { Trial } from "../trial/trial.ts";

/** A request that a rule declares valid or invalid. */
export interface Case {
  readonly name: string;
  /** Default: `/v1/systemone`. */
  readonly path?: string;
  readonly body: unknown;
}

/** The body of a request with one question, `q`. */
export function asked(question: unknown, state: unknown = "s"): unknown {
  return { state, questions: { q: question } };
}

/** A ranking of these candidates. */
export function ranked(candidates: unknown, more: object = {}): Case {
  return {
    name: JSON.stringify(candidates)?.slice(0, 60) ?? "nothing",
    path: RANK,
    body: { state: "s", candidates, ...more },
  };
}

/** A check that each of the cases is answered with 200. */
export function takes(id: string, clause: string, source: string, cases: readonly Case[]): Check {
  return defineCheck({
    id,
    clause,
    source,
    expected: "200 for each",
    run: (trial: Trial) => checkTaken(trial, cases),
  });
}

/** A check that each of the cases is refused with 422. */
export function refuses(id: string, clause: string, source: string, cases: readonly Case[]): Check {
  return defineCheck({
    id,
    clause,
    source,
    expected: "422 for each",
    run: (trial: Trial) => checkRefused(trial, cases),
  });
}

export async function checkTaken(trial: Trial, cases: readonly Case[]): Promise<void> {
  await trial.each(cases, async ({ path = SYSTEMONE, body }) => {
    await trial.infer(path, body);
  });
}

export async function checkRefused(trial: Trial, cases: readonly Case[]): Promise<void> {
  await trial.each(cases, async ({ path = SYSTEMONE, body }) => {
    await trial.refused(path, body);
  });
}

/** The issues of a 422. @throws CannotTell if there is no list of them; `errors.issues` reports that */
export function issuesIn(trial: Trial, reply: Reply): readonly Json[] {
  const detail = at(reply.json, "detail");
  if (!isList(detail) || !detail.every(isMap)) trial.skip("no list of issues: see errors.issues");
  return detail;
}
