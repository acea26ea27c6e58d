import type { JSONSchemaType } from "ajv";

/**
 * What the manifest says about models of one architecture, and what they can do. Read at every start, so this part
 * imports nothing large; `architectures.ts` has the others.
 *
 * @template Part member `architecture` of the manifest
 */
export interface ArchitectureFacts<Part extends { readonly type: string }> {
  readonly schema: JSONSchemaType<Part>;
  /** Files that a package must have. */
  readonly files: readonly string[];
  /** Files that describe the model in a few kilobytes. Larger ones are refused before they are read. */
  readonly descriptions?: readonly string[];
  /**
   * Whether the package brings its graph, which is computed as it is, pair by pair, and by ONNX Runtime only. Otherwise
   * the graph is written here: it computes token trees in any precision, its states can be cached, and it can return
   * vectors.
   */
  readonly hasOwnGraph: boolean;
  /** Time limit for loading a model. */
  readonly loadMs: number;
  /** Rules beyond the schema. Each fault is the end of a sentence that begins with the manifest's name. */
  faults?(part: Part): readonly string[];
  /** One line for people. */
  describe(part: Part): string;
}

/** Maximum of any size, so that a manifest cannot make the service allocate more memory than its files have bytes. */
const MAX_SIZE = 2 ** 31 - 1;

/** Schema of a size. */
export const size = (description: string) =>
  ({ type: "integer", minimum: 1, maximum: MAX_SIZE, description }) as const;
/** Schema of a token's id. */
export const tokenId = (description: string) =>
  ({ type: "integer", minimum: 0, maximum: MAX_SIZE, description }) as const;
