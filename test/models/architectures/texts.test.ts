import assert from "node:assert/strict";
import { test } from "node:test";
import type { AskedTexts } from "../../../src/inference/tokens/pair-tokenizer.ts";
import {
  TEMPLATES,
  type TextForm,
  templateFault,
} from "../../../src/models/architectures/pair-classifier/templates.ts";
import { entailmentTexts, relevanceTexts } from "../../../src/models/architectures/pair-classifier/texts.ts";

const ASKED: AskedTexts = { form: "choice", state: "S.", question: "Q?", candidate: "C" };

const ENTAILMENT: readonly {
  name: string;
  asked?: Partial<AskedTexts>;
  template?: string;
  want: [string, string];
}[] = [
  { name: "question and candidate", want: ["S.", "Q? C"] },
  { name: "a ranking without a question", asked: { form: undefined, question: "" }, want: ["S.", "C"] },
  { name: "a yes/no question", asked: { form: "noul", candidate: "" }, want: ["S.", "Q?"] },
  { name: "a yes/no question with a description", asked: { form: "noul" }, want: ["S.", "Q? C"] },
  { name: "no state", asked: { state: "" }, want: ["Q?", "C"] },
  {
    name: "a yes/no question without a state",
    asked: { form: "noul", state: "", candidate: "" },
    want: ["", "Q?"],
  },
  { name: "a template", template: "This is about {candidate}.", want: ["S.", "This is about C."] },
  {
    name: "a template with the question inside",
    template: "Asked {question} it is {candidate}.",
    want: ["S.", "Asked Q? it is C."],
  },
  {
    name: "a template whose question is blank",
    template: "Asked {question} it is {candidate}.",
    asked: { question: "" },
    want: ["S.", "Asked it is C."],
  },
  {
    name: "texts that look like places",
    asked: { question: "{candidate}", candidate: "{question}" },
    want: ["S.", "{candidate} {question}"],
  },
  {
    name: "texts that look like replacements",
    asked: { question: "$&", candidate: "$1" },
    want: ["S.", "$& $1"],
  },
];
for (const { name, asked, template = "{question} {candidate}", want } of ENTAILMENT)
  test(`premise and hypothesis of ${name}`, () => {
    const templates = { choice: template, noul: template, score: template, rank: template };
    const { first, second } = entailmentTexts({ ...ASKED, ...asked }, templates);
    assert.deepEqual([first, second], want);
  });

const RELEVANCE: readonly { name: string; asked?: Partial<AskedTexts>; want: [string, string] }[] = [
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
