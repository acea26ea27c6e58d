import type { Tokenizer } from "../../inference/tokens/tokenizer.ts";
import type { Gemma3Shape } from "../../onnx/causal/gemma3-io.ts";
import type { WeightsFile } from "../../onnx/file/graph-builder.ts";
import type { Multiplication } from "../../onnx/layers/linear.ts";
import type { TensorFacts, TokenTreeShape } from "../../onnx/token-tree-io.ts";
import type { GraphFolders, PackGraph } from "../graph/graph-cache.ts";
import type { Manifest } from "../package/manifest-schema.ts";
import type { ModelPackage } from "../package/package.ts";

/** Arithmetic of a graph, as chosen by the operator. */
export type Precision = "int8" | "fp32";

/** How a runtime stores a graph so that its sessions share the weights. */
export interface Packing {
  readonly pack: PackGraph;
  /** Changes whenever the stored format changes. */
  readonly version: string;
}

/** How a graph is to be written, and where it may be stored. */
export interface GraphWish {
  readonly form: Multiplication;
  readonly folders: GraphFolders;
  /** Whether the graph has the output `vectors`. Default: false. */
  readonly hasVectors?: boolean | undefined;
  /** How a graph is packed before it is stored. Default: not at all. */
  readonly packing?: Packing | undefined;
}

/** A graph that computes token trees. */
export interface TreeGraph {
  readonly kind: "trees";
  /** Bytes of an ONNX file, or its path. */
  readonly graph: Uint8Array | string;
  readonly shape: TokenTreeShape | Gemma3Shape;
  /** To be called after loading, or after it has failed. Then the file is no longer needed. */
  release?(): Promise<void>;
}

/**
 * A package's own graph, which computes each pair as one text. Its inputs are `input_ids`, `attention_mask` and, if it
 * has that input, `token_type_ids`.
 */
export interface PairGraph {
  readonly kind: "pairs";
  /** Bytes of an ONNX file, or its path. */
  readonly graph: Uint8Array | string;
  /** Whether sessions of it share its weights. Default: false. */
  readonly sharesWeights?: boolean | undefined;
  /** Maximum tokens of a pair. */
  readonly maxTokens: number;
  /** Name of the output: [1] or [1, logits] for one pair. */
  readonly output: string;
  /** Tokens after the first one with this id have the type 1. Default: all tokens have the type 0. */
  readonly separatorId?: number | undefined;
  /**
   * The logits that are scores: that of a pair, and that of a pair whose last token is complemented (`~id`). So one run
   * gives the scores of both answers to a yes/no question. Null is the score 0.
   */
  readonly readings: readonly [number] | readonly [number, number | null];
  /** Tokens of a short pair, for trying the graph: some graphs fail without the special tokens that end texts. Default: zeros. */
  readonly sample?: Int32Array | undefined;
  /** Factor of scores. The manifest's temperature makes a softmax of scores that of the logits. */
  readonly scale: number;
}

/** A graph that computes whole trees in one run, for other servers. */
export interface WholeModel {
  readonly shape: TokenTreeShape | Gemma3Shape;
  readonly inputs: readonly TensorFacts[];
  readonly outputs: readonly TensorFacts[];
  /** What its scores depend on, in addition to the files of weights. */
  readonly settings: object;
  /** @returns the bytes of an ONNX file with its digest in it, whose large constants are in `weights` */
  write(form: Multiplication, digest: Uint8Array, weights: WeightsFile): Promise<Uint8Array>;
}

/** Facts read from the files of a folder that is no package yet. */
export interface FolderFacts {
  readonly architecture: Manifest["architecture"];
  /** Required files. */
  readonly needed: readonly string[];
  /** Optional files. */
  readonly welcome: readonly string[];
  readonly limits: Manifest["limits"];
  readonly description: string;
}

/** What the user says of the model in a folder. */
export interface FolderWish {
  /** Names of the logits, in order. */
  readonly labels?: readonly string[] | undefined;
  /** Texts of the hypothesis, by type of question. */
  readonly hypothesis?: Readonly<Record<string, string>> | undefined;
}

/**
 * The parts of an architecture that are loaded on demand. Every function throws ServiceError INVALID_MODEL, naming the
 * file and what is wrong with it.
 *
 * @template Part member `architecture` of the manifest
 */
export interface Architecture<Part> {
  tokenizer(): Promise<{ openTokenizer(modelPackage: ModelPackage, part: Part): Promise<Tokenizer> }>;
  graph(): Promise<{
    openGraph(modelPackage: ModelPackage, part: Part, wish: GraphWish): Promise<TreeGraph | PairGraph>;
    /** Reads and checks all inputs of the graph, or the graph itself, without storing anything. */
    checkGraph(modelPackage: ModelPackage, part: Part): Promise<unknown>;
    /** Missing for packages with their own graph. */
    wholeModel?(modelPackage: ModelPackage, part: Part): Promise<WholeModel>;
  }>;
  /** Missing for models that cannot be imported. */
  folder?(): Promise<{
    /** @param names files of the folder @returns undefined if it holds something else */
    describe(folder: string, names: readonly string[], wish: FolderWish): Promise<FolderFacts | undefined>;
  }>;
}
