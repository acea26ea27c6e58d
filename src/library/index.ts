/** The package's main export: decisions inside a program. See docs/library.md. */
export { type ErrorKind, type Issue, type IssueType, ServiceError } from "../errors.ts";
export type { ModelFacts } from "../inference/ports.ts";
export { checkRequest } from "./check-request.ts";
export { checkTuning, type TunedModel } from "./check-tuning.ts";
export type { Ask, AskedOperation, CallOptions, Decider, ExplainOptions, Operation } from "./decider.ts";
export { dryRun } from "./dry-run.ts";
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
} from "./explanations.ts";
export {
  createDecider,
  type DeciderOptions,
  type LocalDecider,
  type ServerOptions,
} from "./local-decider.ts";
export { type McpParts, type McpSource, serveMcp } from "./mcp.ts";
export { type ConnectOptions, connectDecider } from "./remote-decider.ts";
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
} from "./requests.ts";
export type {
  Answers,
  AnswerTo,
  ChoiceAnswer,
  Decisions,
  NoulAnswer,
  RankedCandidate,
  Ranking,
  ScoreAnswer,
} from "./results.ts";
export { createScorer, type QuestionScores, type Scorer } from "./scorer.ts";
export { type ServeParts, serve } from "./serve.ts";
