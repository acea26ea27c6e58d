import type { Reply } from "../client/exchange.ts";
import { at, isList, isMap, type Json } from "../client/json.ts";
import type { Draft } from "../trial/check.ts";
import { RANK, SYSTEMONE } from "../trial/operations.ts";
import type { Trial } from "../trial/trial.ts";

/** A ranking among cases, whose other bodies are systemone requests. */
class Ranking {
  readonly body: unknown;
  constructor(body: unknown) {
    this.body = body;
  }
}

/** Bodies of requests that a rule declares valid or invalid, by name. */
export type Cases = Readonly<Record<string, unknown>>;

/** The body of a request with one question, `q`. */
export function asked(question: unknown, state: unknown = "s"): object {
  return { state, questions: { q: question } };
}

export function toRank(body: unknown): Ranking {
  return new Ranking(body);
}

/** Rankings of each of these candidates. */
export function rankings(...all: readonly unknown[]): Cases {
  return each(all, (candidates) => toRank({ state: "s", candidates }));
}

/** A case for each of some values, named by the value's JSON. */
export function each<Value>(values: readonly Value[], body: (value: Value) => unknown, what = ""): Cases {
  return Object.fromEntries(values.map((value) => [`${what}${JSON.stringify(value)}`, body(value)]));
}

/** Each of the cases is answered with 200. */
export function takes(clause: string, cases: Cases): Draft {
  return { clause, expected: "200 for each", run: (trial) => checkTaken(trial, cases) };
}

/** Each of the cases is refused with 422. */
export function refuses(clause: string, cases: Cases): Draft {
  return { clause, expected: "422 for each", run: (trial) => checkRefused(trial, cases) };
}

export function checkTaken(trial: Trial, cases: Cases): Promise<void> {
  return trial.eachOf(cases, (one) => trial.infer(...requestOf(one)));
}

export function checkRefused(trial: Trial, cases: Cases): Promise<void> {
  return trial.eachOf(cases, (one) => trial.refused(...requestOf(one)));
}

export function requestOf(one: unknown): [path: string, body: unknown] {
  return one instanceof Ranking ? [RANK, one.body] : [SYSTEMONE, one];
}

/** The issues of a 422. @throws CannotTell if there is no list of them; `errors.issues` reports that */
export function issuesIn(trial: Trial, reply: Reply): readonly Json[] {
  const detail = at(reply.json, "detail");
  if (!isList(detail) || !detail.every(isMap)) trial.skip("no list of issues: see errors.issues");
  return detail;
}
