import { readFile } from "node:fs/promises";
import { invalidModel } from "../../../errors.ts";
import { readRecord } from "../../package/folder-files.ts";
import { locateFile } from "../../package/package-file.ts";
import type { FolderFacts, FolderWish } from "../architecture.ts";
import { graphFault } from "../graph-fault.ts";
import { factsOf } from "../own-graph.ts";
import { pairClassifier } from "./facts.ts";
import { GRAPH, LOGITS } from "./graph.ts";
import { type Recognized, recognizeConfig } from "./recognize.ts";
import { TEMPLATES } from "./templates.ts";

const TOKENIZER_CONFIG = "tokenizer_config.json";
/** The contract's limits, which apply where a model could read more. */
const LIMITS = { max_state_question_tokens: 2048, max_candidate_tokens: 768 };

/** A classifier by entailment or a reranker, as Optimum and Transformers.js store them. */
export async function describe(
  folder: string,
  names: readonly string[],
  { labels, hypothesis }: FolderWish,
): Promise<FolderFacts | undefined> {
  if (!names.includes(GRAPH)) return undefined;
  const missing = pairClassifier.files.filter((name) => !names.includes(name));
  if (missing.length > 0)
    throw invalidModel(
      `${folder} lacks ${missing.join(", ")}. A classifier or reranker has ${pairClassifier.files.join(", ")}, as Optimum writes them: optimum-cli export onnx --task text-classification.`,
    );
  const recognized = await recognizeFolder(folder, names, labels);
  const { reading, maxTokens, modelType } = recognized;
  const located = await locateFile(folder, GRAPH);
  if (located.fault !== undefined) throw invalidModel(`${GRAPH} in ${folder} ${located.why}.`);
  const facts = factsOf(await readFile(located.path), GRAPH);
  const fault = graphFault(facts, { name: LOGITS, labels: recognized.labels });
  if (fault !== undefined) throw invalidModel(`${GRAPH} ${fault}.`);
  const common = { type: "pair-classifier", max_tokens: maxTokens, labels: recognized.labels } as const;
  if (reading.kind === "relevance" && hypothesis !== undefined)
    throw invalidModel(`${folder} holds a reranker, which reads no hypothesis.`);
  const templates = { ...TEMPLATES, ...hypothesis };
  return {
    architecture:
      reading.kind === "relevance"
        ? { ...common, reads: "relevance", entailment: 0 }
        : {
            ...common,
            reads: "entailment",
            entailment: reading.entailment,
            contradiction: reading.contradiction,
            hypothesis: templates,
          },
    needed: [...pairClassifier.files, ...facts.externalFiles],
    welcome: [TOKENIZER_CONFIG],
    limits: {
      max_state_question_tokens: Math.min(maxTokens, LIMITS.max_state_question_tokens),
      max_candidate_tokens: Math.min(maxTokens, LIMITS.max_candidate_tokens),
    },
    description: descriptionOf(modelType, reading.kind === "relevance" ? undefined : templates.choice),
  };
}

/** Shown by `/v1/models`, so that callers see what the model reads. */
function descriptionOf(modelType: string, template: string | undefined): string {
  if (template === undefined)
    return `Reranker (${modelType}): query "{question} {state}", document "{candidate}"`;
  return `Zero-shot classifier by entailment (${modelType}): premise "{state}", hypothesis ${JSON.stringify(template)}`;
}

/**
 * What a folder's configuration says of its model.
 *
 * @param names files of the folder
 * @throws ServiceError INVALID_MODEL for any other kind of model
 */
export async function recognizeFolder(
  folder: string,
  names: readonly string[],
  labels: readonly string[] | undefined,
): Promise<Recognized> {
  const config = await readRecord(folder, "config.json");
  const ofTokenizer = names.includes(TOKENIZER_CONFIG) ? await readRecord(folder, TOKENIZER_CONFIG) : {};
  const found = recognizeConfig({ config, labels, modelMaxLength: ofTokenizer.model_max_length });
  if ("fault" in found) throw invalidModel(`The model in ${folder} cannot be served: ${found.fault}.`);
  return found;
}
