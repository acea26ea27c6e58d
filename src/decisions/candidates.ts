import type { Issue, Location } from "../errors.ts";
import { resolveAliases } from "../json/aliases.ts";
import type { Steps } from "../json/slices.ts";
import type { JsonValue } from "../json/value.ts";
import type { Question, RenderedCandidate, RenderedText } from "./request.ts";
import { renderText, strip } from "./texts.ts";

/** A model package's rules for the texts of questions and candidates. */
export interface TextRules {
  /** Whether a choice shows `label: description`, or the description alone. */
  readonly showsLabels: boolean;
  readonly limits: { readonly maxStateQuestionTokens: number; readonly maxCandidateTokens: number };
}

/** A question as it was sent, and where. */
interface Source {
  readonly question: Question;
  readonly loc: Location;
  readonly instructionsLoc: Location;
  /** The rendered state; undefined if it was too long to render. */
  readonly state: string | undefined;
  readonly rules: TextRules;
  readonly issues: Issue[];
}

interface Described {
  readonly instructions: RenderedText;
  readonly candidates: readonly DescribedCandidate[];
}

/** A question's texts, with the candidates in the order of its answer. Faults are added to `source.issues`. */
export function* describeQuestion(source: Source): Steps<Described> {
  const { question, state, instructionsLoc, rules, issues } = source;
  const { maxStateQuestionTokens, maxCandidateTokens } = rules.limits;
  const text = renderOrReport(question.instructions, maxStateQuestionTokens, instructionsLoc, issues);
  checkQuestion(state, text, instructionsLoc, issues);
  const instructions = { text: text ?? "", loc: instructionsLoc };
  const candidates: DescribedCandidate[] = [];
  for (const sent of sentCandidates(source)) {
    const rendered = renderOrReport(sent.value, maxCandidateTokens, sent.loc, issues);
    candidates.push(describe(sent, rendered, question.type, instructions, rules));
    yield;
  }
  return { instructions, candidates };
}

/** A candidate as it was sent; null is left out. */
interface SentCandidate {
  readonly label: string;
  readonly value: JsonValue;
  readonly loc: Location;
}

/** The published recipe of the GemmaDecision-270M weights. These texts must not change. */
const PRESETS = new Map([
  ["false", "No. This is false:"],
  ["true", "Yes. This is true:"],
]);
const OUTCOME_ALIASES = new Map([
  ["no", "false"],
  ["yes", "true"],
]);

function sentCandidates({ question, loc, issues }: Source): readonly SentCandidate[] {
  const at = (name: string | number) => [...loc, "criteria", name];
  switch (question.type) {
    case "choice":
      return Array.from(question.criteria, ([label, value]) => ({ label, value, loc: at(label) }));
    case "score":
      return question.criteria.map((value, level) => ({ label: String(level), value, loc: at(level) }));
    case "noul": {
      const sent = new Map(Object.entries(question.criteria ?? {}));
      const { members, usedNames, conflicts } = resolveAliases(sent, OUTCOME_ALIASES, [...loc, "criteria"]);
      issues.push(...conflicts);
      return Array.from(PRESETS.keys(), (label) => ({
        label,
        value: members.get(label) ?? null,
        loc: at(usedNames.get(label) ?? label),
      }));
    }
  }
}

function describe(
  { label, loc }: SentCandidate,
  rendered: string | undefined,
  type: Question["type"],
  instructions: RenderedText,
  { showsLabels }: TextRules,
): DescribedCandidate {
  const given = rendered ?? "";
  if (type === "score") return { label, description: rendered, text: given, loc };
  if (type === "noul" && rendered === "") {
    const isAlone = instructions.text === "";
    const description = isAlone ? label : `${PRESETS.get(label)} ${instructions.text}`;
    const text = `${label}: ${description}`;
    return { label, description, text, given: isAlone ? label : "", loc: instructions.loc };
  }
  if (type === "noul") return { label, description: rendered, text: `${label}: ${given}`, given, loc };
  const description = rendered === "" ? label : rendered;
  const shown = description ?? "";
  const text = description === label || !showsLabels ? shown : `${label}: ${shown}`;
  return { label, description, text, given: shown, loc };
}

/** An issue if the questions have more candidates together. Nothing is rendered for that. */
export function checkPairs(questions: readonly Question[], most: number): Issue | undefined {
  const counts = questions.map(({ type, criteria }) =>
    type === "noul" ? PRESETS.size : type === "choice" ? criteria.size : criteria.length,
  );
  const pairs = counts.reduce((sum, count) => sum + count, 0);
  if (pairs <= most) return undefined;
  const msg = `Expected at most ${most} candidates of all questions together, got ${pairs}.`;
  return { loc: ["body", "questions"], msg, type: "too_many_pairs" };
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
