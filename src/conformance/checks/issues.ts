import type { Reply } from "../client/exchange.ts";
import { at, isList, isMap, type Json } from "../client/json.ts";
import type { Trial } from "../trial/trial.ts";

/** The issues of a 422. @throws CannotTell when there is no list of them, which `errors.issues` says */
export function issuesIn(trial: Trial, reply: Reply): readonly Json[] {
  const detail = at(reply.json, "detail");
  if (!isList(detail) || !detail.every(isMap)) trial.skip("no list of issues: see errors.issues");
  return detail;
}
