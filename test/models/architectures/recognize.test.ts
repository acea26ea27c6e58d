import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type DescribedModel,
  graphFault,
  recognizeConfig,
} from "../../../src/models/architectures/pair-classifier/recognize.ts";
import type { GraphFacts, GraphValue } from "../../../src/onnx/file/graph-facts.ts";

const CONFIG = {
  model_type: "bert",
  architectures: ["BertForSequenceClassification"],
  max_position_embeddings: 512,
  vocab_size: 30522,
  id2label: { 0: "contradiction", 1: "entailment", 2: "neutral" },
};

const withLabels = (...names: readonly string[]) => ({ ...CONFIG, id2label: { ...names } });

const reading = (model: DescribedModel) => {
  const found = recognizeConfig(model);
  return "fault" in found ? found.fault : found.reading;
};

const classifier = (entailment: number, contradiction: number) => ({
  kind: "entailment",
  entailment,
  contradiction,
});

const READINGS: readonly { name: string; given: DescribedModel; want: unknown }[] = [
  { name: "three labels", given: { config: CONFIG }, want: classifier(1, 0) },
  {
    name: "entailment first",
    given: { config: withLabels("entailment", "neutral", "contradiction") },
    want: classifier(0, 2),
  },
  {
    name: "entailment last",
    given: { config: withLabels("contradiction", "neutral", "entailment") },
    want: classifier(2, 0),
  },
  {
    name: "capitals",
    given: { config: withLabels("CONTRADICTION", "NEUTRAL", "ENTAILMENT") },
    want: classifier(2, 0),
  },
  {
    name: "not_entailment",
    given: { config: withLabels("entailment", "not_entailment") },
    want: classifier(0, 1),
  },
  {
    name: "not-entailment",
    given: { config: withLabels("Not-Entailment", "Entailment") },
    want: classifier(1, 0),
  },
  {
    name: "non entailment",
    given: { config: withLabels("non entailment", "entailment") },
    want: classifier(1, 0),
  },
  {
    name: "entailed",
    given: { config: withLabels("Entailed", "Contradicted", "Neutral") },
    want: classifier(0, 1),
  },
  {
    name: "entailment and contradiction alone",
    given: { config: withLabels("entailment", "contradiction") },
    want: classifier(0, 1),
  },
  {
    name: "label2id alone",
    given: { config: { ...CONFIG, id2label: undefined, label2id: { entailment: 1, contradiction: 0 } } },
    want: classifier(1, 0),
  },
  {
    name: "ids out of order",
    given: { config: { ...CONFIG, id2label: { 2: "entailment", 0: "neutral", 1: "contradiction" } } },
    want: classifier(2, 1),
  },
  {
    name: "labels that the user gives",
    given: {
      config: withLabels("LABEL_0", "LABEL_1", "LABEL_2"),
      labels: ["contradiction", "neutral", "entailment"],
    },
    want: classifier(2, 0),
  },
  { name: "one label", given: { config: withLabels("LABEL_0") }, want: { kind: "relevance" } },
  { name: "one label of any name", given: { config: withLabels("relevance") }, want: { kind: "relevance" } },
  {
    name: "a configuration without architectures",
    given: { config: { ...CONFIG, architectures: undefined } },
    want: classifier(1, 0),
  },
];

for (const { name, given, want } of READINGS)
  test(`${name} are recognized`, () => assert.deepEqual(reading(given), want));

const LIMITS: readonly { name: string; config: Record<string, unknown>; declared?: unknown; want: number }[] =
  [
    { name: "BERT", config: {}, want: 512 },
    {
      name: "RoBERTa",
      config: { model_type: "roberta", max_position_embeddings: 514, pad_token_id: 1 },
      want: 512,
    },
    {
      name: "RoBERTa without a padding id",
      config: { model_type: "roberta", max_position_embeddings: 514 },
      want: 512,
    },
    { name: "XLM-RoBERTa", config: { model_type: "xlm-roberta", max_position_embeddings: 8194 }, want: 8192 },
    {
      name: "MPNet",
      config: { model_type: "mpnet", max_position_embeddings: 514, pad_token_id: 1 },
      want: 512,
    },
    { name: "DeBERTa v3", config: { model_type: "deberta-v2" }, want: 512 },
    { name: "ModernBERT", config: { model_type: "modernbert", max_position_embeddings: 8192 }, want: 8192 },
    { name: "BART", config: { model_type: "bart", max_position_embeddings: 1024 }, want: 1024 },
    { name: "a model that was trained on less", config: {}, declared: 256, want: 256 },
    { name: "a tokenizer that states a huge number", config: {}, declared: 1e30, want: 512 },
  ];

for (const { name, config, declared, want } of LIMITS)
  test(`a pair of ${name} has at most ${want} tokens`, () => {
    const found = recognizeConfig({ config: { ...CONFIG, ...config }, modelMaxLength: declared });
    assert.equal("fault" in found ? found.fault : found.maxTokens, want);
  });

const REFUSED: readonly { name: string; given: DescribedModel; want: RegExp }[] = [
  {
    name: "a model that generates text",
    given: { config: { ...CONFIG, architectures: ["BartForConditionalGeneration"], model_type: "bart" } },
    want: /a model that generates text \("BartForConditionalGeneration"\), expected a classifier/,
  },
  {
    name: "an embedding model",
    given: { config: { ...CONFIG, architectures: ["BertModel"] } },
    want: /an embedding or language model \("BertModel"\)/,
  },
  {
    name: "a model of another task",
    given: { config: { ...CONFIG, architectures: ["BertForTokenClassification"] } },
    want: /a model of another task/,
  },
  {
    name: "another family",
    given: { config: { ...CONFIG, model_type: "llama" } },
    want: /the model_type "llama", expected one of albert, bart, bert/,
  },
  { name: "no family", given: { config: {} }, want: /the model_type none/ },
  {
    name: "a family by a name of Object",
    given: { config: { ...CONFIG, model_type: "constructor" } },
    want: /the model_type "constructor"/,
  },
  {
    name: "code of its own",
    given: { config: { ...CONFIG, auto_map: { AutoModel: "modeling.NewModel" } } },
    want: /needs code of its own \(auto_map: "modeling.NewModel"\), which is never run/,
  },
  {
    name: "labels of another task",
    given: { config: withLabels("positive", "neutral", "negative") },
    want: /the labels "positive", "neutral", "negative", expected those of a classifier by entailment/,
  },
  {
    name: "an additional label",
    given: { config: withLabels("entailment", "contradiction", "spam") },
    want: /"spam", expected/,
  },
  {
    name: "two entailments",
    given: { config: withLabels("entailment", "entailed", "contradiction") },
    want: /expected/,
  },
  {
    name: "labels without names",
    given: { config: withLabels("LABEL_0", "LABEL_1", "LABEL_2") },
    want: /--labels contradiction,neutral,entailment$/,
  },
  {
    name: "default labels",
    given: { config: { ...CONFIG, id2label: undefined } },
    want: /"LABEL_0", "LABEL_1", expected/,
  },
  {
    name: "wrong labels of the user",
    given: { config: CONFIG, labels: ["a", "b", "c"] },
    want: /^--labels gives the labels "a", "b", "c", expected/,
  },
  {
    name: "a gap in the labels",
    given: { config: { ...CONFIG, id2label: { 0: "entailment", 2: "contradiction" } } },
    want: /without the labels 0, 1/,
  },
  {
    name: "labels that are no texts",
    given: { config: { ...CONFIG, id2label: { 0: 1, 1: null } } },
    want: /without the labels 0, 1/,
  },
  {
    name: "no positions",
    given: { config: { ...CONFIG, max_position_embeddings: undefined } },
    want: /max_position_embeddings none/,
  },
  {
    name: "a negative number of positions",
    given: { config: { ...CONFIG, max_position_embeddings: -1 } },
    want: /max_position_embeddings -1/,
  },
  {
    name: "too few positions",
    given: { config: { ...CONFIG, max_position_embeddings: 8 } },
    want: /room for at least 16 tokens/,
  },
  {
    name: "control characters",
    given: { config: { ...CONFIG, model_type: "a\u001b[31m\n" } },
    want: /the model_type "a\?\[31m\?"/,
  },
];

for (const { name, given, want } of REFUSED)
  test(`${name}: refused`, () => assert.match(String(reading(given)), want));

const value = (
  name: string,
  elementType = 7,
  shape: GraphValue["shape"] = ["batch", "sequence"],
): GraphValue => ({
  name,
  elementType,
  shape,
});
const GRAPH: GraphFacts = {
  inputs: [value("input_ids"), value("attention_mask")],
  outputs: [value("logits", 1, ["batch", 3])],
  domains: [],
  externalFiles: [],
  elementTypes: [],
};

const FITTING: readonly { name: string; graph: Partial<GraphFacts> }[] = [
  { name: "two inputs", graph: {} },
  { name: "token types", graph: { inputs: [...GRAPH.inputs, value("token_type_ids")] } },
  { name: "int32", graph: { inputs: [value("input_ids", 6), value("attention_mask", 6)] } },
  { name: "float16", graph: { outputs: [value("logits", 10, ["batch", 3])] } },
  { name: "an output of free size", graph: { outputs: [value("logits", 1, ["batch", "labels"])] } },
  { name: "undeclared shapes", graph: { outputs: [value("logits", 1, undefined)] } },
  {
    name: "a batch of one",
    graph: { inputs: [value("input_ids", 7, [1, "s"]), value("attention_mask", 7, [1, "s"])] },
  },
  { name: "operators of ONNX Runtime", graph: { domains: ["com.microsoft"] } },
  { name: "further outputs", graph: { outputs: [value("hidden", 1), value("logits", 1, ["b", 3])] } },
];
for (const { name, graph } of FITTING)
  test(`a graph with ${name} fits`, () => assert.equal(graphFault({ ...GRAPH, ...graph }, 3), undefined));

const UNFIT: readonly { name: string; graph: Partial<GraphFacts>; want: RegExp }[] = [
  {
    name: "no mask",
    graph: { inputs: [value("input_ids")] },
    want: /has the inputs input_ids, but no attention_mask; expected input_ids and attention_mask/,
  },
  { name: "no inputs", graph: { inputs: [] }, want: /has the inputs none, but no input_ids/ },
  {
    name: "positions",
    graph: { inputs: [...GRAPH.inputs, value("position_ids")] },
    want: /has the input "position_ids"; expected/,
  },
  {
    name: "a decoder",
    graph: { inputs: [...GRAPH.inputs, value("decoder_input_ids")] },
    want: /"decoder_input_ids", as models that generate text have/,
  },
  {
    name: "ids in float32",
    graph: { inputs: [value("input_ids", 1), value("attention_mask")] },
    want: /input_ids as float32, expected int64 or int32/,
  },
  {
    name: "a fixed length",
    graph: { inputs: [value("input_ids", 7, ["b", 128]), value("attention_mask")] },
    want: /the shape b, 128, expected two dimensions, the second of free size/,
  },
  {
    name: "a fixed batch",
    graph: { inputs: [value("input_ids", 7, [8, "s"]), value("attention_mask")] },
    want: /the shape 8, s/,
  },
  {
    name: "an embedding",
    graph: { outputs: [value("last_hidden_state", 1, ["b", "s", 384])] },
    want: /has the outputs last_hidden_state, as embedding models have; expected logits/,
  },
  {
    name: "another number of labels",
    graph: { outputs: [value("logits", 1, ["b", 2])] },
    want: /the shape b, 2, expected two dimensions, the second of size 3/,
  },
  {
    name: "logits of every token",
    graph: { outputs: [value("logits", 1, ["b", "s", 3])] },
    want: /the shape b, s, 3/,
  },
  {
    name: "logits in int64",
    graph: { outputs: [value("logits", 7, ["b", 3])] },
    want: /logits as int64, expected float32 or float16/,
  },
  {
    name: "operators of a library",
    graph: { domains: ["", "evil.ops"] },
    want: /operators of the domain "evil.ops", which would need a library of its own/,
  },
];
for (const { name, graph, want } of UNFIT)
  test(`a graph with ${name}: refused`, () =>
    assert.match(graphFault({ ...GRAPH, ...graph }, 3) ?? "", want));
