import type { Reply } from "../exchange.ts";
import { at, isList, isMap, type Json } from "../json.ts";
import type { Trial } from "../trial.ts";

/** The issues of a 422. @throws CannotTell if there is no list of them; `errors.issues` reports that */
export function issuesIn(trial: Trial, reply: Reply): readonly Json[] {
  const detail = at(reply.json, "detail");
  if (!isList(detail) || !detail.every(isMap)) trial.skip("no list of issues: see errors.issues");
  return detail;
}
