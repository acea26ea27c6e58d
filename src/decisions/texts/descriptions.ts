import type { Issue, Location } from "../../errors.ts";
import type { JsonValue } from "../../json/value.ts";
import type { RenderedCandidate } from "../rendered.ts";
import { renderText } from "./render.ts";
import { strip } from "./strip.ts";

/** A candidate with its description, which must differ from those of the other candidates. */
export interface DescribedCandidate extends RenderedCandidate {
  /** The description, or its replacement; undefined if it was too long to render. */
  readonly description: string | undefined;
}

/** A value's text; undefined, and an issue, when it has more rows than the model takes tokens. */
export function renderOrReport(value: JsonValue, maxTokens: number, loc: Location, issues: Issue[]) {
  const text = renderText(value, maxTokens);
  if (text === undefined) {
    const msg = `Expected at most ${maxTokens} tokens, got more than ${maxTokens} fields and items, each at least a token.`;
    issues.push({ loc, msg, type: "too_many_tokens" });
  }
  return text;
}

/** Reports blank descriptions, and descriptions that equal an earlier one after trimming. */
export function checkDescriptions(candidates: readonly DescribedCandidate[], issues: Issue[]): void {
  const seen = new Map<string, Location>();
  for (const { description, loc } of candidates) {
    if (description === undefined) continue;
    const trimmed = strip(description);
    const earlier = seen.get(trimmed);
    if (trimmed === "") {
      issues.push({ loc, msg: "Expected a text, got a blank one.", type: "blank" });
    } else if (earlier !== undefined) {
      const msg = `Expected a text unlike all others after rendering and trimming, got that ${nameOf(earlier)}.`;
      issues.push({ loc, msg, type: "not_distinct" });
    } else {
      seen.set(trimmed, loc);
    }
  }
}

/** Without member names, because messages repeat nothing of a request. */
function nameOf(loc: Location): string {
  const last = loc.at(-1);
  return typeof last === "number" ? `at position ${last}` : "of an earlier one";
}

/** State and question must not both be blank. */
export function checkQuestion(
  stateText: string | undefined,
  question: string | undefined,
  loc: Location,
  issues: Issue[],
) {
  if (stateText !== "" || question !== "") return;
  issues.push({
    loc,
    msg: "Expected a text in the state or in the question after rendering and trimming, got none in either.",
    type: "blank",
  });
}
