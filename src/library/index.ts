/** The package's main export: decisions inside a program. See docs/library.md. */
export { type ErrorKind, type Issue, type IssueType, ServiceError } from "../errors.ts";
export type { ModelFacts } from "../inference/engine.ts";
export { checkRequest, checkTuning, dryRun, type TunedModel } from "./checks.ts";
export type {
  Ask,
  AskedOperation,
  CallOptions,
  Decider,
  ExplainOptions,
  Operation,
} from "./deciders/decider.ts";
export type {
  Explanation,
  PartInfluence,
  QuestionReading,
  RankingExplanation,
  RankingPart,
  RankingTokens,
  Reading,
  StatePart,
  Token,
  TokenExplanation,
} from "./deciders/explanations.ts";
export {
  createDecider,
  type DeciderOptions,
  type LocalDecider,
  type ServerOptions,
} from "./deciders/local-decider.ts";
export { type ConnectOptions, connectDecider } from "./deciders/remote-decider.ts";
export type {
  Candidates,
  ChoiceQuestion,
  DecideRequest,
  JsonInput,
  NoulQuestion,
  Question,
  Questions,
  RankRequest,
  ScoreQuestion,
} from "./deciders/requests.ts";
export type {
  Answers,
  AnswerTo,
  ChoiceAnswer,
  Decisions,
  NoulAnswer,
  RankedCandidate,
  Ranking,
  ScoreAnswer,
} from "./deciders/results.ts";
export { createScorer, type QuestionScores, type Scorer } from "./deciders/scorer.ts";
export { type McpParts, type McpSource, serveMcp } from "./serving/mcp.ts";
export { type ServeParts, serve } from "./serving/serve.ts";
