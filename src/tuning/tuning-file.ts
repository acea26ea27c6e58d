import { createHash } from "node:crypto";
import { Ajv, type ErrorObject, type JSONSchemaType, type ValidateFunction } from "ajv";
import { type QuestionType, REQUEST_LIMITS } from "../decisions/request.ts";
import { quoted, ServiceError } from "../errors.ts";
import { memberOf } from "../records.ts";
import type { Correction } from "./correction.ts";
import { compareTexts } from "./question-digest.ts";

export const TUNING_FORMAT = "decision-tuning/1";
/** Chosen: a label with a head of 1,024 numbers takes 16 kB. */
export const MAX_TUNING_BYTES = 2 ** 25;

/**
 * Corrections for questions of one model. Holds names and labels, but no text of instructions, descriptions or rows.
 */
export interface TuningFile {
  readonly format: typeof TUNING_FORMAT;
  /** `<namespace>/<name>@<revision>` */
  readonly model: string;
  /** Arithmetic that the scores came from. */
  readonly precision: string;
  readonly questions: readonly TunedQuestion[];
}

export interface TunedQuestion extends Correction {
  /** Its name when it was tuned; requests may use any. */
  readonly name: string;
  readonly form: QuestionType;
  /** See `questionDigest`. */
  readonly question: string;
  readonly kind: "scale" | "head";
  /** What it did on rows that it was not fitted to. */
  readonly measured: Measured;
}

export interface Measured {
  readonly rows: number;
  /** Each fitted without a fold and measured on it; 0: not measured, there were too few rows. */
  readonly folds: number;
  readonly before: TuningFigures;
  readonly after: TuningFigures;
}

export interface TuningFigures {
  /** Share of the rows whose most probable label is right. */
  readonly accuracy: number;
  /** As in docs/evaluation.md. */
  readonly calibration_error: number;
  /** Mean negative logarithm of the right label's probability. */
  readonly log_loss: number;
}

const share = (description: string) => ({ type: "number", minimum: 0, maximum: 1, description }) as const;
/** Chosen: far beyond any score, and small enough that corrected scores are finite. */
const MAX_NUMBER = 1e6;
const number = { type: "number", minimum: -MAX_NUMBER, maximum: MAX_NUMBER } as const;
/** As many entries as a question has labels. */
const ONE_EACH = { minItems: REQUEST_LIMITS.minCandidates, maxItems: REQUEST_LIMITS.maxCandidates } as const;
const numbers = (description: string) =>
  ({ type: "array", ...ONE_EACH, items: number, description }) as const;

const figures: JSONSchemaType<TuningFigures> = {
  type: "object",
  additionalProperties: false,
  required: ["accuracy", "calibration_error", "log_loss"],
  properties: {
    accuracy: share("Share of the rows whose most probable label is right."),
    calibration_error: share("Mean distance of confidence and accuracy in ten bins, weighted by rows."),
    log_loss: {
      type: "number",
      minimum: 0,
      description: "Mean negative logarithm of the right label's probability.",
    },
  },
};

const question: JSONSchemaType<TunedQuestion> = {
  type: "object",
  additionalProperties: false,
  required: ["name", "form", "question", "kind", "labels", "scale", "bias", "measured"],
  properties: {
    name: { type: "string", description: "Its name when it was tuned. Requests may use any name." },
    form: { type: "string", enum: ["choice", "noul", "score"] },
    question: {
      type: "string",
      pattern: "^[0-9a-f]{32}$",
      description: "Digest of form, instructions, labels and descriptions, as the model reads them.",
    },
    kind: {
      type: "string",
      enum: ["scale", "head"],
      description: "scale: scale and bias; head: a linear head besides.",
    },
    labels: {
      type: "array",
      ...ONE_EACH,
      uniqueItems: true,
      items: { type: "string" },
      description: "In alphabetical order of their code units; of a score, its levels.",
    },
    scale: numbers("Factor of each label's distance from the mean score."),
    bias: numbers("Summand of each label's score."),
    head: {
      type: "array",
      ...ONE_EACH,
      items: { type: "array", minItems: 1, maxItems: 16_384, items: number },
      nullable: true,
      description: "Weights of each label's vector, which the model's head reads.",
    },
    measured: {
      type: "object",
      additionalProperties: false,
      required: ["rows", "folds", "before", "after"],
      properties: {
        rows: { type: "integer", minimum: 1, description: "Labelled rows." },
        folds: {
          type: "integer",
          minimum: 0,
          description: "Folds of the cross-validation; 0: not measured.",
        },
        before: figures,
        after: figures,
      },
      description: "What it did on rows that it was not fitted to.",
    },
  },
};

export const tuningSchema: JSONSchemaType<TuningFile> = {
  title: "Tuning of a model, as `decision tune` writes it",
  type: "object",
  additionalProperties: false,
  required: ["format", "model", "precision", "questions"],
  properties: {
    format: { type: "string", const: TUNING_FORMAT },
    model: {
      type: "string",
      pattern: "^[^@]+/[^@]+@[0-9a-f]{40}$",
      description: "The model that it belongs to: <namespace>/<name>@<revision>.",
    },
    precision: { type: "string", description: "Arithmetic that the scores came from: int8, fp32 or graph." },
    questions: { type: "array", minItems: 1, items: question },
  },
};

let validator: ValidateFunction<TuningFile> | undefined;

/**
 * @param text contents of the file
 * @param file its name, for messages
 * @param flag what messages call the option
 * @throws ServiceError INVALID_OPTION with the first fault
 */
export function readTuning(text: string, file: string, flag = "--tuning"): TuningFile {
  const wrong = (what: string) => fault(flag, file, what);
  const value = parsed(text, wrong);
  const format = memberOf(value, "format");
  if (typeof format === "string" && format !== TUNING_FORMAT && format.startsWith("decision-tuning/"))
    throw wrong(`has the format ${quoted(format)}; this version reads ${TUNING_FORMAT}`);
  validator ??= new Ajv({ strict: true, verbose: true, validateSchema: false }).compile(tuningSchema);
  if (!validator(value)) throw wrong(faultOf(validator.errors?.[0]));
  for (const [at, one] of value.questions.entries()) {
    const sizes = sizesFault(one);
    if (sizes !== undefined) throw wrong(`/questions/${at} ${sizes}`);
  }
  return value;
}

function parsed(text: string, wrong: (what: string) => ServiceError): unknown {
  if (text.length > MAX_TUNING_BYTES) throw wrong(`has more than ${MAX_TUNING_BYTES} characters`);
  try {
    return JSON.parse(text);
  } catch {
    throw wrong("is not JSON");
  }
}

function faultOf(error: ErrorObject | undefined): string {
  if (error === undefined) return "is not valid";
  const place = error.instancePath === "" ? "at its top" : `at ${error.instancePath}`;
  const { missingProperty, additionalProperty, allowedValue } = error.params;
  if (missingProperty !== undefined) return `lacks ${quoted(String(missingProperty))} ${place}`;
  if (additionalProperty !== undefined)
    return `has the unknown member ${quoted(String(additionalProperty))} ${place}`;
  const more = allowedValue === undefined ? "" : ` ${quoted(String(allowedValue))}`;
  return `is wrong ${place}: ${error.message ?? "not valid"}${more}`;
}

/** What a schema cannot say: arrays of one length, sorted labels. */
function sizesFault({ labels, scale, bias, head, kind }: TunedQuestion): string | undefined {
  const count = labels.length;
  if (scale.length !== count || bias.length !== count || (head ?? labels).length !== count)
    return `needs as many entries in scale, bias and head as in labels, which has ${count}`;
  if ((head === undefined) === (kind === "head"))
    return `of the kind ${kind} must ${head ? "not have" : "have"} a head`;
  if (new Set(head?.map(({ length }) => length)).size > 1) return "has a head with rows of different lengths";
  const isSorted = labels.every((label, at) => at === 0 || compareTexts(labels[at - 1] ?? "", label) < 0);
  return isSorted ? undefined : "has labels out of order";
}

/** As it stands in answers: 16 hex digits of the SHA-256 of what the correction does. */
export function tuningId(
  model: string,
  { form, question, labels, scale, bias, head }: Omit<TunedQuestion, "name" | "kind" | "measured">,
): string {
  const content = JSON.stringify([model, form, question, labels, scale, bias, head ?? null]);
  return createHash("sha256").update(content).digest("hex").slice(0, 16);
}

function fault(flag: string, file: string, what: string): ServiceError {
  return new ServiceError(
    "INVALID_OPTION",
    `${flag}: expected a file that \`decision tune\` has written, got another: ${file} ${what}.`,
  );
}
