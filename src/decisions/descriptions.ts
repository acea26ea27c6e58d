import type { Issue, Location } from "../errors.ts";
import type { JsonValue } from "../json/value.ts";
import { renderText } from "./render.ts";
import type { RenderedCandidate } from "./rendered.ts";
import { strip } from "./strip.ts";

/** A candidate together with what must differ from the other candidates of its question. */
export interface DescribedCandidate extends RenderedCandidate {
  /** The description, or what stands for it; undefined when it was too long to render. */
  readonly description: string | undefined;
}

/** A value's text; undefined, and an issue, when it has more rows than the model takes tokens. */
export function renderOrReport(value: JsonValue, maxTokens: number, loc: Location, issues: Issue[]) {
  const text = renderText(value, maxTokens);
  if (text === undefined) {
    const msg = `At most ${maxTokens} tokens are allowed; this has more than ${maxTokens} fields and items, each at least a token.`;
    issues.push({ loc, msg, type: "too_many_tokens" });
  }
  return text;
}

/** Reports descriptions that are blank, and those that equal an earlier one after trimming, whatever their labels. */
export function checkDescriptions(candidates: readonly DescribedCandidate[], issues: Issue[]): void {
  const seen = new Map<string, Location>();
  for (const { description, loc } of candidates) {
    if (description === undefined) continue;
    const trimmed = strip(description);
    const earlier = seen.get(trimmed);
    if (trimmed === "") {
      issues.push({ loc, msg: "Must not be blank.", type: "blank" });
    } else if (earlier !== undefined) {
      const msg = `Must differ from every other one after rendering and trimming; equals ${nameOf(earlier)}.`;
      issues.push({ loc, msg, type: "not_distinct" });
    } else {
      seen.set(trimmed, loc);
    }
  }
}

/** Without the names of members: they may be long, and messages repeat nothing of a request. */
function nameOf(loc: Location): string {
  const last = loc.at(-1);
  return typeof last === "number" ? `the one at position ${last}` : "an earlier one";
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
    msg: "State and question must not both be blank after rendering and trimming.",
    type: "blank",
  });
}
