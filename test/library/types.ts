/** Asserts about types: `npm run check:types` fails when one of them gets loose. Nothing here runs. */
import type { components as Explain } from "../../generated/explain.ts";
import type { components } from "../../generated/types.ts";
import type {
  Answers,
  ChoiceAnswer,
  ChoiceQuestion,
  DecideRequest,
  Decider,
  Decisions,
  Explanation,
  NoulAnswer,
  NoulQuestion,
  Question,
  RankedCandidate,
  Ranking,
  RankingExplanation,
  RankingPart,
  RankingTokens,
  RankRequest,
  ScoreAnswer,
  ScoreQuestion,
  StatePart,
  Token,
  TokenExplanation,
} from "../../src/library/index.ts";

type Schemas = components["schemas"];
type Explained = Explain["schemas"];

/** Fails to compile unless both types are the same; `any` is the same as nothing but itself. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? "same" : "different";
const holds = <_ extends "same">() => {};
const fits = <To>(_value: To) => {};

export async function answersAreTypedByTheirQuestions(decider: Decider) {
  const { answers } = await decider.decide({
    state: { subject: "Refund", total: 12.5, items: ["kettle", null] },
    questions: {
      intent: {
        type: "choice",
        instructions: "What is wanted?",
        criteria: { refund: "Wants money back", 2: null, "": "Nothing" },
      },
      angry: { type: "noul", instructions: "The customer is angry." },
      urgency: { type: "score", instructions: "How urgent?", criteria: ["can wait", "this week", "today"] },
    },
  });
  holds<Same<keyof typeof answers, "intent" | "angry" | "urgency">>();
  holds<Same<typeof answers.intent.type, "choice">>();
  holds<Same<typeof answers.intent.choice, "refund" | "2" | "">>();
  holds<Same<keyof typeof answers.intent.probabilities, "refund" | "2" | "">>();
  holds<Same<typeof answers.intent.probabilities.refund, number>>();
  holds<Same<typeof answers.angry.noul, number>>();
  holds<Same<keyof typeof answers.angry.scores, "false" | "true">>();
  holds<Same<typeof answers.urgency.score, number>>();
  holds<Same<keyof typeof answers.urgency.probabilities, "0" | "1" | "2">>();
  // @ts-expect-error nobody asked for this label
  if (answers.intent.choice === "cancel") return;
  // @ts-expect-error nobody asked this question
  answers.other;
  // @ts-expect-error a yes/no answer has no label
  answers.angry.choice;
}

export async function questionsThatAreNotLiteral(decider: Decider, labels: readonly string[]) {
  const criteria = Object.fromEntries(labels.map((label) => [label, null]));
  const built = await decider.decide({
    state: null,
    questions: { topic: { type: "choice", instructions: "", criteria } },
  });
  holds<Same<typeof built.answers.topic.choice, string>>();

  const questions: Record<string, Question> = {};
  const any = await decider.decide({ state: "", questions });
  const [answer] = Object.values(any.answers);
  if (answer?.type === "choice") holds<Same<typeof answer.choice, string>>();
  if (answer?.type === "noul") holds<Same<typeof answer.noul, number>>();

  const ordered = await decider.decide({
    state: "",
    questions: { b: { type: "choice", instructions: "", criteria: new Map<"10" | "2", string>() } },
  });
  holds<Same<typeof ordered.answers.b.choice, "10" | "2">>();
}

export async function rankingsAreTypedByTheirCandidates(decider: Decider) {
  const labelled = await decider.rank({
    state: "",
    candidates: { manual: "Read it.", replace: "A new one." },
  });
  holds<Same<(typeof labelled.ranked)[number], RankedCandidate<"manual" | "replace">>>();
  const listed = await decider.rank({ state: "", candidates: ["Paris", "London"] });
  holds<Same<(typeof listed.ranked)[number]["candidate"], "0" | "1">>();
  const texts: string[] = [];
  const unknown = await decider.rank({ state: "", candidates: texts });
  holds<Same<(typeof unknown.ranked)[number]["candidate"], string>>();
}

export function whatIsWrongDoesNotCompile(decider: Decider) {
  // @ts-expect-error a type that does not exist
  decider.decide({ state: "", questions: { q: { type: "boolean", instructions: "" } } });
  // @ts-expect-error no instructions
  decider.decide({ state: "", questions: { q: { type: "noul" } } });
  // @ts-expect-error a choice needs criteria
  decider.decide({ state: "", questions: { q: { type: "choice", instructions: "" } } });
  // @ts-expect-error levels are a list
  decider.decide({ state: "", questions: { q: { type: "score", instructions: "", criteria: { a: "" } } } });
  // @ts-expect-error a function is no JSON value
  decider.decide({ state: () => 1, questions: { q: { type: "noul", instructions: "" } } });
  // @ts-expect-error candidates are texts
  decider.rank({ state: "", candidates: [1, 2] });
}

/** The types that are written by hand have the members of the contract's, and what is known about their values fits. */
export function typesAreTheContracts(
  ours: { answers: Answers<Record<string, Question>>; score: ScoreQuestion },
  theirs: { decisions: Schemas["Decisions"]; ranked: Schemas["RankedCandidate"] },
) {
  holds<Same<keyof DecideRequest, keyof Schemas["SystemoneRequest"]>>();
  holds<Same<keyof RankRequest, keyof Schemas["RankRequest"]>>();
  holds<Same<Question["type"], Schemas["Question"]["type"]>>();
  holds<Same<keyof ChoiceQuestion, keyof Schemas["ChoiceQuestion"]>>();
  holds<Same<keyof NoulQuestion, keyof Schemas["NoulQuestion"]>>();
  holds<Same<keyof ScoreQuestion, keyof Schemas["ScoreQuestion"]>>();
  holds<Same<keyof ChoiceAnswer, keyof Schemas["ChoiceAnswer"]>>();
  holds<Same<keyof NoulAnswer, keyof Schemas["NoulAnswer"]>>();
  holds<Same<keyof ScoreAnswer, keyof Schemas["ScoreAnswer"]>>();
  holds<Same<keyof Decisions, keyof Schemas["Decisions"]>>();
  holds<Same<keyof Ranking, keyof Schemas["Ranking"]>>();
  fits<Schemas["ScoreQuestion"]>(ours.score);
  fits<Schemas["Decisions"]["answers"]>(ours.answers);
  fits<Omit<Decisions, "answers">>(theirs.decisions);
  fits<RankedCandidate>(theirs.ranked);
}

export function explanationsAreThoseOfTheContract(
  { questions, question, ...sent }: Explained["Explanation"],
  { questions: moved, question: first, ...part }: Explained["StatePart"],
  token: Explained["Token"],
) {
  if (questions) fits<TokenExplanation>({ ...sent, questions });
  if (question) fits<RankingTokens>({ ...sent, question });
  if (moved) fits<StatePart>({ ...part, questions: moved });
  if (first) fits<RankingPart>({ ...part, question: first });
  holds<Same<keyof Explained["Explanation"], keyof Explanation | keyof RankingExplanation>>();
  fits<Explained["StatePart"]>({} as StatePart);
  fits<Explained["StatePart"]>({} as RankingPart);
  fits<Token>(token);
  fits<Explained["Token"]>({} as Token);
}

export async function explanationsAreTypedByTheirQuestions(decider: Decider) {
  const questions = { angry: { type: "noul", instructions: "The customer is angry." } } as const;
  const whole = await decider.explain({ state: "", questions });
  holds<Same<typeof whole.answers.angry.noul, number>>();
  holds<Same<keyof typeof whole.questions, "angry">>();
  const dry = await decider.explain({ state: "", questions }, { dryRun: true });
  // @ts-expect-error a dry run answers nothing
  fits(dry.answers);
  const ranking = { state: "", candidates: { manual: "Read it.", replace: "A new one." } } as const;
  const ranked = await decider.explain(ranking);
  holds<Same<(typeof ranked.ranked)[number], RankedCandidate<"manual" | "replace">>>();
  const dryRanked = await decider.explain(ranking, { dryRun: true });
  fits<RankingTokens>(dryRanked);
  // @ts-expect-error a dry run ranks nothing
  fits(dryRanked.ranked);
}
