import assert from "node:assert/strict";
import { test } from "node:test";
import { graphFault } from "../../../src/models/architectures/graph-fault.ts";
import {
  type DescribedModel,
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

const READINGS: readonly (readonly [string, DescribedModel, unknown])[] = [
  ["three labels", { config: CONFIG }, classifier(1, 0)],
  ["entailment first", { config: withLabels("entailment", "neutral", "contradiction") }, classifier(0, 2)],
  ["entailment last", { config: withLabels("contradiction", "neutral", "entailment") }, classifier(2, 0)],
  ["capitals", { config: withLabels("CONTRADICTION", "NEUTRAL", "ENTAILMENT") }, classifier(2, 0)],
  ["not_entailment", { config: withLabels("entailment", "not_entailment") }, classifier(0, 1)],
  ["not-entailment", { config: withLabels("Not-Entailment", "Entailment") }, classifier(1, 0)],
  ["non entailment", { config: withLabels("non entailment", "entailment") }, classifier(1, 0)],
  ["entailed", { config: withLabels("Entailed", "Contradicted", "Neutral") }, classifier(0, 1)],
  [
    "entailment and contradiction alone",
    { config: withLabels("entailment", "contradiction") },
    classifier(0, 1),
  ],
  [
    "label2id alone",
    { config: { ...CONFIG, id2label: undefined, label2id: { entailment: 1, contradiction: 0 } } },
    classifier(1, 0),
  ],
  [
    "ids out of order",
    { config: { ...CONFIG, id2label: { 2: "entailment", 0: "neutral", 1: "contradiction" } } },
    classifier(2, 1),
  ],
  [
    "labels that the user gives",
    {
      config: withLabels("LABEL_0", "LABEL_1", "LABEL_2"),
      labels: ["contradiction", "neutral", "entailment"],
    },
    classifier(2, 0),
  ],
  ["one label", { config: withLabels("LABEL_0") }, { kind: "relevance" }],
  ["one label of any name", { config: withLabels("relevance") }, { kind: "relevance" }],
  [
    "a configuration without architectures",
    { config: { ...CONFIG, architectures: undefined } },
    classifier(1, 0),
  ],
];

for (const [name, given, want] of READINGS)
  test(`${name} are recognized`, () => assert.deepEqual(reading(given), want));

const LIMITS: readonly (readonly [string, Record<string, unknown>, number, unknown?])[] = [
  ["BERT", {}, 512],
  ["RoBERTa", { model_type: "roberta", max_position_embeddings: 514, pad_token_id: 1 }, 512],
  ["RoBERTa without a padding id", { model_type: "roberta", max_position_embeddings: 514 }, 512],
  ["XLM-RoBERTa", { model_type: "xlm-roberta", max_position_embeddings: 8194 }, 8192],
  ["MPNet", { model_type: "mpnet", max_position_embeddings: 514, pad_token_id: 1 }, 512],
  ["DeBERTa v3", { model_type: "deberta-v2" }, 512],
  ["ModernBERT", { model_type: "modernbert", max_position_embeddings: 8192 }, 8192],
  ["BART", { model_type: "bart", max_position_embeddings: 1024 }, 1024],
  ["a model that was trained on less", {}, 256, 256],
  ["a tokenizer that states a huge number", {}, 512, 1e30],
];

for (const [name, config, want, declared] of LIMITS)
  test(`a pair of ${name} has at most ${want} tokens`, () => {
    const found = recognizeConfig({ config: { ...CONFIG, ...config }, modelMaxLength: declared });
    assert.equal("fault" in found ? found.fault : found.maxTokens, want);
  });

const REFUSED: readonly (readonly [string, DescribedModel, RegExp])[] = [
  [
    "a model that generates text",
    { config: { ...CONFIG, architectures: ["BartForConditionalGeneration"], model_type: "bart" } },
    /a model that generates text \("BartForConditionalGeneration"\), expected a classifier/,
  ],
  [
    "an embedding model",
    { config: { ...CONFIG, architectures: ["BertModel"] } },
    /an embedding or language model \("BertModel"\)/,
  ],
  [
    "a model of another task",
    { config: { ...CONFIG, architectures: ["BertForTokenClassification"] } },
    /a model of another task/,
  ],
  [
    "another family",
    { config: { ...CONFIG, model_type: "llama" } },
    /the model_type "llama", expected one of albert, bart, bert/,
  ],
  ["no family", { config: {} }, /the model_type none/],
  [
    "a family by a name of Object",
    { config: { ...CONFIG, model_type: "constructor" } },
    /the model_type "constructor"/,
  ],
  [
    "code of its own",
    { config: { ...CONFIG, auto_map: { AutoModel: "modeling.NewModel" } } },
    /needs code of its own \(auto_map: "modeling.NewModel"\), which is never run/,
  ],
  [
    "labels of another task",
    { config: withLabels("positive", "neutral", "negative") },
    /the labels "positive", "neutral", "negative", expected those of a classifier by entailment/,
  ],
  ["an additional label", { config: withLabels("entailment", "contradiction", "spam") }, /"spam", expected/],
  ["two entailments", { config: withLabels("entailment", "entailed", "contradiction") }, /expected/],
  [
    "labels without names",
    { config: withLabels("LABEL_0", "LABEL_1", "LABEL_2") },
    /--labels contradiction,neutral,entailment$/,
  ],
  ["default labels", { config: { ...CONFIG, id2label: undefined } }, /"LABEL_0", "LABEL_1", expected/],
  [
    "wrong labels of the user",
    { config: CONFIG, labels: ["a", "b", "c"] },
    /^--labels gives the labels "a", "b", "c", expected/,
  ],
  [
    "a gap in the labels",
    { config: { ...CONFIG, id2label: { 0: "entailment", 2: "contradiction" } } },
    /without the labels 0, 1/,
  ],
  [
    "labels that are no texts",
    { config: { ...CONFIG, id2label: { 0: 1, 1: null } } },
    /without the labels 0, 1/,
  ],
  [
    "no positions",
    { config: { ...CONFIG, max_position_embeddings: undefined } },
    /max_position_embeddings none/,
  ],
  [
    "a negative number of positions",
    { config: { ...CONFIG, max_position_embeddings: -1 } },
    /max_position_embeddings -1/,
  ],
  ["too few positions", { config: { ...CONFIG, max_position_embeddings: 8 } }, /room for at least 16 tokens/],
  [
    "control characters",
    { config: { ...CONFIG, model_type: "a\u001b[31m\n" } },
    /the model_type "a\?\[31m\?"/,
  ],
];

for (const [name, given, want] of REFUSED)
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
const LOGITS = { name: "logits", labels: 3 };
const GRAPH: GraphFacts = {
  inputs: [value("input_ids"), value("attention_mask")],
  outputs: [value("logits", 1, ["batch", 3])],
  domains: [],
  externalFiles: [],
  constants: [],
  hasSubgraphs: false,
};

const FITTING: readonly (readonly [string, Partial<GraphFacts>])[] = [
  ["two inputs", {}],
  ["token types", { inputs: [...GRAPH.inputs, value("token_type_ids")] }],
  ["int32", { inputs: [value("input_ids", 6), value("attention_mask", 6)] }],
  ["float16", { outputs: [value("logits", 10, ["batch", 3])] }],
  ["an output of free size", { outputs: [value("logits", 1, ["batch", "labels"])] }],
  ["undeclared shapes", { outputs: [value("logits", 1, undefined)] }],
  ["a batch of one", { inputs: [value("input_ids", 7, [1, "s"]), value("attention_mask", 7, [1, "s"])] }],
  ["operators of ONNX Runtime", { domains: ["com.microsoft"] }],
  ["further outputs", { outputs: [value("hidden", 1), value("logits", 1, ["b", 3])] }],
];
for (const [name, graph] of FITTING)
  test(`a graph with ${name} fits`, () =>
    assert.equal(graphFault({ ...GRAPH, ...graph }, LOGITS), undefined));

const UNFIT: readonly (readonly [string, Partial<GraphFacts>, RegExp])[] = [
  [
    "no mask",
    { inputs: [value("input_ids")] },
    /has the inputs input_ids, but no attention_mask; expected input_ids and attention_mask/,
  ],
  ["no inputs", { inputs: [] }, /has the inputs none, but no input_ids/],
  [
    "positions",
    { inputs: [...GRAPH.inputs, value("position_ids")] },
    /has the input "position_ids"; expected/,
  ],
  [
    "a decoder",
    { inputs: [...GRAPH.inputs, value("decoder_input_ids")] },
    /"decoder_input_ids", as models that generate text have/,
  ],
  [
    "ids in float32",
    { inputs: [value("input_ids", 1), value("attention_mask")] },
    /input_ids as float32, expected int64 or int32/,
  ],
  [
    "a fixed length",
    { inputs: [value("input_ids", 7, ["b", 128]), value("attention_mask")] },
    /the shape b, 128, expected two dimensions, the second of free size/,
  ],
  ["a fixed batch", { inputs: [value("input_ids", 7, [8, "s"]), value("attention_mask")] }, /the shape 8, s/],
  [
    "an embedding",
    { outputs: [value("last_hidden_state", 1, ["b", "s", 384])] },
    /has the outputs last_hidden_state, as embedding models have; expected logits/,
  ],
  [
    "another number of labels",
    { outputs: [value("logits", 1, ["b", 2])] },
    /the shape b, 2, expected two dimensions, the second of size 3/,
  ],
  ["logits of every token", { outputs: [value("logits", 1, ["b", "s", 3])] }, /the shape b, s, 3/],
  [
    "logits in int64",
    { outputs: [value("logits", 7, ["b", 3])] },
    /logits as int64, expected float32 or float16/,
  ],
  [
    "operators of a library",
    { domains: ["", "evil.ops"] },
    /operators of the domain "evil.ops", which would need a library of its own/,
  ],
];
for (const [name, graph, want] of UNFIT)
  test(`a graph with ${name}: refused`, () =>
    assert.match(graphFault({ ...GRAPH, ...graph }, LOGITS) ?? "", want));
