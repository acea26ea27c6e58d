import type { components } from "../../generated/types.ts";

type Schemas = components["schemas"];

/** Validated bodies: what the generated types call unknown is a JsonValue. */
export type SystemoneBody = Schemas["SystemoneRequest"];
/** Under the contract's names; `question` is null where some generated clients cannot leave it out. */
export type RankBody = Schemas["RankRequest"];

export type Question = Schemas["Question"];
export type QuestionType = Question["type"];
export type ChoiceQuestion = Schemas["ChoiceQuestion"];
export type NoulQuestion = Schemas["NoulQuestion"];
export type ScoreQuestion = Schemas["ScoreQuestion"];
