import { Flags } from "@oclif/core";
import { invalidOption } from "../errors.ts";
import { TEXT_FORMS, templateFault } from "../models/architectures/pair-classifier/templates.ts";

/** What the user says of a classifier or reranker that is pulled or imported. */
export interface ClassifierWishes {
  /** Path of the graph. */
  readonly file?: string | undefined;
  readonly labels?: readonly string[] | undefined;
  readonly hypothesis?: Readonly<Record<string, string>> | undefined;
}

export const classifierFlags = {
  file: Flags.string({
    helpValue: "<path>",
    description:
      "ONNX file of a classifier or reranker, such as onnx/model_quantized.onnx [default: the whole weights]",
  }),
  labels: Flags.string({
    helpValue: "<names>",
    description:
      "names of a classifier's labels in the order of its logits, if config.json has none: contradiction,neutral,entailment",
  }),
  hypothesis: Flags.string({
    helpValue: "<text>",
    description:
      'hypothesis of a classifier, as in "This text is about {candidate}."; {question} is the other place, and yes/no questions use it if it is there [default: "{question} {candidate}"]',
  }),
};

/** @throws ServiceError INVALID_OPTION */
export function readClassifierFlags(flags: {
  readonly file: string | undefined;
  readonly labels: string | undefined;
  readonly hypothesis: string | undefined;
}): ClassifierWishes {
  if (flags.file === "") throw invalidOption("--file: expected a path, got an empty text.");
  const labels = flags.labels?.split(",").map((label) => label.trim());
  if (labels?.includes(""))
    throw invalidOption("--labels: expected names separated by commas, got an empty one.");
  return { file: flags.file, labels, hypothesis: readHypothesis(flags.hypothesis) };
}

/** Yes/no questions seldom have a description, so they need the place of the question. */
function readHypothesis(template: string | undefined): Readonly<Record<string, string>> | undefined {
  if (template === undefined) return undefined;
  const forms = TEXT_FORMS.filter((form) => form !== "noul" || template.includes("{question}"));
  const faults = forms.map((form) => templateFault(template, form)).filter((fault) => fault !== undefined);
  if (faults[0] !== undefined)
    throw invalidOption(
      `--hypothesis: expected a text with the place {candidate} and no other braces than {question}, got one that ${faults[0]}.`,
    );
  return Object.fromEntries(forms.map((form) => [form, template]));
}
