import type { Issue, Location } from "../errors.ts";
import { locationName } from "../json/location.ts";
import { countMembers, membersInOrder } from "../json/plain.ts";
import type { Steps } from "../json/slices.ts";
import { type DescribedCandidate, renderOrReport } from "./descriptions.ts";
import type { ChoiceQuestion, NoulQuestion, Question, ScoreQuestion } from "./questions.ts";
import type { RenderedText } from "./rendered.ts";

/** How a model package wants its candidates. */
export interface CandidateRules {
  /** Whether a choice shows `label: description`, or the description alone. */
  readonly showsLabels: boolean;
  readonly limits: { readonly maxCandidateTokens: number };
}

/** Where the candidates of one question come from. */
interface Source {
  readonly loc: Location;
  /** The question's rendered instructions and where they came from. */
  readonly instructions: RenderedText;
  readonly rules: CandidateRules;
  readonly issues: Issue[];
}

/** The candidates of a question in the order of its answer; what is wrong with them goes to `source.issues`. */
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

/** How many candidates a question has, without rendering them. */
export function countCandidates(question: Question): number {
  switch (question.type) {
    case "choice":
      return countMembers(question.criteria);
    case "noul":
      return OUTCOMES.length;
    case "score":
      return question.criteria.length;
  }
}

function* choiceCandidates(question: ChoiceQuestion, source: Source): Steps<DescribedCandidate[]> {
  const candidates: DescribedCandidate[] = [];
  for (const [label, value] of membersInOrder(question.criteria)) {
    const loc = [...source.loc, "criteria", locationName(label)];
    const rendered = describe(value, loc, source);
    const description = rendered === "" ? label : rendered;
    const text =
      description === label || !source.rules.showsLabels
        ? (description ?? "")
        : `${label}: ${description ?? ""}`;
    candidates.push({ label, description, text, loc });
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

/** The published recipe of the GemmaDecision-270M weights: these texts must not drift. */
const OUTCOMES = [
  { label: "false", alias: "no", preset: "No. This is false:" },
  { label: "true", alias: "yes", preset: "Yes. This is true:" },
];

function* noulCandidates(question: NoulQuestion, source: Source): Steps<DescribedCandidate[]> {
  const criteria = new Map(membersInOrder(question.criteria ?? {}));
  const criteriaLoc = [...source.loc, "criteria"];
  reportUnknownOutcomes(criteria, criteriaLoc, source.issues);
  const candidates: DescribedCandidate[] = [];
  for (const { label, alias, preset } of OUTCOMES) {
    const name = nameOfOutcome(criteria, label, alias, criteriaLoc, source.issues);
    const loc = [...criteriaLoc, name];
    const rendered = describe(criteria.get(name) ?? null, loc, source);
    if (rendered === "") {
      const { text: instructions, loc: instructionsLoc } = source.instructions;
      const description = instructions === "" ? label : `${preset} ${instructions}`;
      candidates.push({ label, description, text: `${label}: ${description}`, loc: instructionsLoc });
    } else {
      candidates.push({ label, description: rendered, text: `${label}: ${rendered ?? ""}`, loc });
    }
    yield;
  }
  return candidates;
}

/**
 * The name that an outcome's description was sent under; an alias_conflict when it was sent under both.
 *
 *     label      alias        taken
 *     missing    given        the alias, also when null
 *     given      missing      the label, also when null
 *     given      null         the label: an alias given as null beside its label counts as missing
 *     given      not null     alias_conflict, also when the label's description is null
 */
function nameOfOutcome(
  criteria: ReadonlyMap<string, unknown>,
  label: string,
  alias: string,
  loc: Location,
  issues: Issue[],
): string {
  if (!criteria.has(alias)) return label;
  if (!criteria.has(label)) return alias;
  if (criteria.get(alias) !== null) {
    const msg = `\`${alias}\` is another name of \`${label}\`: give one of the two, not both.`;
    issues.push({ loc: [...loc, alias], msg, type: "alias_conflict" });
  }
  return label;
}

function reportUnknownOutcomes(criteria: ReadonlyMap<string, unknown>, loc: Location, issues: Issue[]): void {
  const known = new Set(OUTCOMES.flatMap(({ label, alias }) => [label, alias]));
  for (const name of criteria.keys()) {
    if (known.has(name)) continue;
    const msg = "Unknown outcome; a noul question has `false` and `true` (or `no` and `yes`).";
    issues.push({ loc: [...loc, locationName(name)], msg, type: "unknown_field" });
  }
}

function describe(value: unknown, loc: Location, { rules, issues }: Source): string | undefined {
  return renderOrReport(value, rules.limits.maxCandidateTokens, loc, issues);
}
