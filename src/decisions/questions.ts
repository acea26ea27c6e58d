import type { components } from "../../generated/types.ts";
import type { Received } from "../json/views.ts";

type Schemas = components["schemas"];

/** Validated bodies. */
export type SystemoneBody = Received<Schemas["SystemoneRequest"]>;
/** Under the contract's names; `question` is null where some generated clients cannot leave it out. */
export type RankBody = Received<Schemas["RankRequest"]>;

export type Question = Received<Schemas["Question"]>;
export type QuestionType = Question["type"];
export type ChoiceQuestion = Received<Schemas["ChoiceQuestion"]>;
export type NoulQuestion = Received<Schemas["NoulQuestion"]>;
export type ScoreQuestion = Received<Schemas["ScoreQuestion"]>;
