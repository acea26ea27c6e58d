import assert from "node:assert/strict";
import { test } from "node:test";
import type { QuestionTexts } from "../../../src/inference/tokens/pair-tokenizer.ts";
import {
  TEMPLATES,
  type TextForm,
  templateFault,
} from "../../../src/models/architectures/pair-classifier/templates.ts";
import { entailmentTexts, relevanceTexts } from "../../../src/models/architectures/pair-classifier/texts.ts";

const ASKED: QuestionTexts = { form: "choice", state: "S.", question: "Q?", candidate: "C" };

const ENTAILMENT: readonly (readonly [string, [string, string], Partial<QuestionTexts>?, string?])[] = [
  ["question and candidate", ["S.", "Q? C"]],
  ["a ranking without a question", ["S.", "C"], { form: undefined, question: "" }],
  ["a yes/no question", ["S.", "Q?"], { form: "noul", candidate: "" }],
  ["a yes/no question with a description", ["S.", "Q? C"], { form: "noul" }],
  ["no state", ["Q?", "C"], { state: "" }],
  ["a yes/no question without a state", ["", "Q?"], { form: "noul", state: "", candidate: "" }],
  ["a template", ["S.", "This is about C."], {}, "This is about {candidate}."],
  [
    "a template with the question inside",
    ["S.", "Asked Q? it is C."],
    {},
    "Asked {question} it is {candidate}.",
  ],
  [
    "a template whose question is blank",
    ["S.", "Asked it is C."],
    { question: "" },
    "Asked {question} it is {candidate}.",
  ],
  [
    "texts that look like places",
    ["S.", "{candidate} {question}"],
    { question: "{candidate}", candidate: "{question}" },
  ],
  ["texts that look like replacements", ["S.", "$& $1"], { question: "$&", candidate: "$1" }],
];
for (const [name, want, asked, template = "{question} {candidate}"] of ENTAILMENT)
  test(`premise and hypothesis of ${name}`, () => {
    const templates = { choice: template, noul: template, score: template, rank: template };
    const { first, second } = entailmentTexts({ ...ASKED, ...asked }, templates);
    assert.deepEqual([first, second], want);
  });

const RELEVANCE: readonly { name: string; asked?: Partial<QuestionTexts>; want: [string, string] }[] = [
  { name: "a choice", want: ["Q? S.", "C"] },
  { name: "a ranking without a question", asked: { form: undefined, question: "" }, want: ["S.", "C"] },
  { name: "a question without a state", asked: { state: "" }, want: ["Q?", "C"] },
  { name: "a yes/no question", asked: { form: "noul", candidate: "" }, want: ["Q?", "S."] },
  { name: "a yes/no question with a description", asked: { form: "noul" }, want: ["Q? C", "S."] },
];
for (const { name, asked, want } of RELEVANCE)
  test(`query and document of ${name}`, () => {
    const { first, second } = relevanceTexts({ ...ASKED, ...asked });
    assert.deepEqual([first, second], want);
  });

test("each type of question has its own template", () => {
  const templates = { ...TEMPLATES, score: "level {candidate}" };
  assert.equal(entailmentTexts({ ...ASKED, form: "score" }, templates).second, "level C");
  assert.equal(entailmentTexts(ASKED, templates).second, "Q? C");
});

const FAULTS: readonly { template: string; form: TextForm; want: RegExp | undefined }[] = [
  { template: "{candidate}", form: "choice", want: undefined },
  { template: "{question}", form: "choice", want: /^lacks \{candidate\}$/ },
  { template: "{question}", form: "noul", want: undefined },
  { template: "{candidate}", form: "noul", want: undefined },
  { template: "no place", form: "noul", want: /^lacks \{question\} or \{candidate\}$/ },
  { template: "{}", form: "rank", want: /^lacks/ },
  { template: "{candidate} {label}", form: "score", want: /braces that are no place/ },
  { template: "", form: "score", want: /^lacks/ },
];
for (const { template, form, want } of FAULTS)
  test(`the template ${JSON.stringify(template)} for ${form}`, () => {
    const fault = templateFault(template, form);
    if (want === undefined) assert.equal(fault, undefined);
    else assert.match(fault ?? "", want);
  });
