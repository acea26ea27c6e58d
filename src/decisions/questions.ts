import type { components } from "../../generated/types.ts";

type Schemas = components["schemas"];

/** Validated bodies. Members that the generated types call unknown are JsonValues. */
export type SystemoneBody = Schemas["SystemoneRequest"];
/** With canonical names. `question` may be null, because some generated clients cannot omit it. */
export type RankBody = Schemas["RankRequest"];

export type Question = Schemas["Question"];
export type QuestionType = Question["type"];
export type ChoiceQuestion = Schemas["ChoiceQuestion"];
export type NoulQuestion = Schemas["NoulQuestion"];
export type ScoreQuestion = Schemas["ScoreQuestion"];
