import type { Issue, Location } from "../errors.ts";
import { type Aliases, resolveAliases } from "../json/aliases.ts";
import type { Steps } from "../json/slices.ts";
import type { JsonValue } from "../json/value.ts";
import type {
  ChoiceQuestion,
  NoulQuestion,
  Question,
  RenderedCandidate,
  RenderedText,
  ScoreQuestion,
} from "./request.ts";
import { renderText, strip } from "./texts.ts";

/** A model package's rules for candidate texts. */
export interface CandidateRules {
  /** Whether a choice shows `label: description`, or the description alone. */
  readonly showsLabels: boolean;
  readonly limits: { readonly maxCandidateTokens: number };
}

/** The source of one question's candidates. */
interface Source {
  readonly loc: Location;
  /** The question's rendered instructions and their location. */
  readonly instructions: RenderedText;
  readonly rules: CandidateRules;
  readonly issues: Issue[];
}

/** The candidates of a question, in the order of its answer. Faults are added to `source.issues`. */
export function* candidatesOf(question: Question, source: Source): Steps<DescribedCandidate[]> {
  switch (question.type) {
    case "choice":
      return yield* choiceCandidates(question, source);
    case "noul":
      return yield* noulCandidates(question, source);
    case "score":
      return yield* scoreCandidates(question, source);
  }
}

/** Number of candidates of a question, without rendering them. */
export function countCandidates(question: Question): number {
  switch (question.type) {
    case "choice":
      return question.criteria.size;
    case "noul":
      return OUTCOMES.length;
    case "score":
      return question.criteria.length;
  }
}

function* choiceCandidates(question: ChoiceQuestion, source: Source): Steps<DescribedCandidate[]> {
  const candidates: DescribedCandidate[] = [];
  for (const [label, value] of question.criteria) {
    const loc = [...source.loc, "criteria", label];
    const rendered = describe(value, loc, source);
    const description = rendered === "" ? label : rendered;
    const text =
      description === label || !source.rules.showsLabels
        ? (description ?? "")
        : `${label}: ${description ?? ""}`;
    candidates.push({ label, description, text, given: description ?? "", loc });
    yield;
  }
  return candidates;
}

function* scoreCandidates(question: ScoreQuestion, source: Source): Steps<DescribedCandidate[]> {
  const candidates: DescribedCandidate[] = [];
  for (const [level, value] of question.criteria.entries()) {
    const loc = [...source.loc, "criteria", level];
    const description = describe(value, loc, source);
    candidates.push({ label: String(level), description, text: description ?? "", loc });
    yield;
  }
  return candidates;
}

/** The published recipe of the GemmaDecision-270M weights. These texts must not change. */
const OUTCOMES = [
  { label: "false", preset: "No. This is false:" },
  { label: "true", preset: "Yes. This is true:" },
];

const OUTCOME_ALIASES: Aliases = new Map([
  ["no", "false"],
  ["yes", "true"],
]);

function* noulCandidates(question: NoulQuestion, source: Source): Steps<DescribedCandidate[]> {
  const { text: instructions, loc: instructionsLoc } = source.instructions;
  const criteriaLoc = [...source.loc, "criteria"];
  const sent = new Map(Object.entries(question.criteria ?? {}));
  const { members, usedNames, conflicts } = resolveAliases(sent, OUTCOME_ALIASES, criteriaLoc);
  source.issues.push(...conflicts);
  const candidates: DescribedCandidate[] = [];
  for (const { label, preset } of OUTCOMES) {
    const loc = [...criteriaLoc, usedNames.get(label) ?? label];
    const rendered = describe(members.get(label) ?? null, loc, source);
    if (rendered === "") {
      const description = instructions === "" ? label : `${preset} ${instructions}`;
      const given = instructions === "" ? label : "";
      candidates.push({ label, description, text: `${label}: ${description}`, given, loc: instructionsLoc });
    } else {
      const given = rendered ?? "";
      candidates.push({ label, description: rendered, text: `${label}: ${given}`, given, loc });
    }
    yield;
  }
  return candidates;
}

function describe(value: JsonValue, loc: Location, { rules, issues }: Source): string | undefined {
  return renderOrReport(value, rules.limits.maxCandidateTokens, loc, issues);
}

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
