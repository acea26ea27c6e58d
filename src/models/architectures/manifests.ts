import type { ArchitectureFacts } from "./architecture-facts.ts";
import { bertTokenTree, type TokenTreeArchitecture } from "./bert-token-tree/facts.ts";
import { gemma3TextJoint, type JointTextArchitecture } from "./gemma3-text-joint/facts.ts";
import { type JointGraphArchitecture, onnxJointPairs } from "./onnx-joint-pairs/facts.ts";
import { type PairClassifierArchitecture, pairClassifier } from "./pair-classifier/facts.ts";

/** Member `architecture` of a manifest. */
export type Architecture =
  | TokenTreeArchitecture
  | JointTextArchitecture
  | JointGraphArchitecture
  | PairClassifierArchitecture;
export type ArchitectureType = Architecture["type"];
export type ArchitectureOf<Type extends ArchitectureType> = Extract<Architecture, { readonly type: Type }>;

/** Every architecture. */
export const ARCHITECTURE_FACTS: {
  readonly [Type in ArchitectureType]: ArchitectureFacts<ArchitectureOf<Type>>;
} = {
  "bert-token-tree": bertTokenTree,
  "gemma3-text-joint": gemma3TextJoint,
  "onnx-joint-pairs": onnxJointPairs,
  "pair-classifier": pairClassifier,
};

export function architectureFacts<Type extends ArchitectureType>(
  type: Type,
): ArchitectureFacts<ArchitectureOf<Type>> {
  return ARCHITECTURE_FACTS[type];
}

/** The files of a package that determine the scores of given tokens. */
export function weightFiles(type: ArchitectureType): readonly string[] {
  return ARCHITECTURE_FACTS[type].files.filter((name) => name !== "tokenizer.json");
}
