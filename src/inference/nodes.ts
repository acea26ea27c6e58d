import * as crypto from "node:crypto";

export type Level = 0 | 1 | 2; // state, question, candidate: also the segment embedding

/**
 * A text of a request in tokens, special tokens included. The tokenizer makes the nodes. From there on, requests, batches and
 * backends are lists of leaves: a leaf is a candidate, and with the nodes above it a pair.
 *
 *     state ──┬── question 1 ──┬── candidate 1
 *             │                ├── candidate 2      a token sees its own node's tokens
 *             │                └── ...              and those of the nodes above it
 *             └── question 2 ──── ...
 */
export interface Node {
  readonly level: Level;
  readonly tokens: Int32Array; // [tokens]; of a candidate at least one
  /** SHA-256 of the parent's key and of the tokens, base64url. Nodes with equal keys are the same input to the model. */
  readonly key: string;
  /** Undefined for a state. */
  readonly parent: Node | undefined;
}

/** A tokenized request within its token limits: [questions][candidates]. Its pairs may have different states. */
export type RequestPlan = readonly (readonly Node[])[];

/** @param parent undefined for a state */
export function nodeBelow(parent: Node | undefined, tokens: Int32Array): Node {
  return { level: levelBelow(parent), tokens, key: keyOf(tokens, parent?.key ?? ""), parent };
}

const levelBelow = (parent: Node | undefined): Level =>
  parent === undefined ? 0 : parent.level === 0 ? 1 : 2;

/** @param above key of the parent. All have 43 bytes, and a state has none, so different paths never hash the same bytes. */
function keyOf(tokens: Int32Array, above: string): string {
  const path = Buffer.allocUnsafe(above.length + tokens.byteLength);
  path.write(above, "latin1");
  path.set(new Uint8Array(tokens.buffer, tokens.byteOffset, tokens.byteLength), above.length);
  return sha256(path);
}

/** The nodes above a node, from the state on. */
export const nodesAbove = ({ parent }: Node): readonly Node[] => (parent === undefined ? [] : pathOf(parent));

/** The same, and the node itself. */
export const pathOf = (node: Node): readonly Node[] => [...nodesAbove(node), node];

export function stateOf(node: Node): Node {
  return node.parent === undefined ? node : stateOf(node.parent);
}

/** Tokens of a node and of those above it. */
export function pathLength({ tokens, parent }: Node): number {
  return tokens.length + (parent === undefined ? 0 : pathLength(parent));
}

/** Nodes by index, as they go to another process. Parents come before the nodes below them. */
export interface NodeList {
  readonly tokens: Int32Array; // [tokens of all nodes], node by node
  readonly lengths: Int32Array; // [nodes] tokens of each
  readonly parents: Int32Array; // [nodes] index of the parent; -1 for a state
  readonly keys: readonly string[]; // [nodes]
}

/** @param leaves candidates, each once */
export function listNodes(leaves: readonly Node[]): NodeList {
  const indexes = new Map<Node, number>();
  const add = (node: Node): number => {
    const parent = node.parent === undefined ? -1 : (indexes.get(node.parent) ?? add(node.parent));
    parents.push(parent);
    indexes.set(node, indexes.size);
    return indexes.size - 1;
  };
  const parents: number[] = [];
  leaves.forEach(add);
  const nodes = [...indexes.keys()];
  const lengths = Int32Array.from(nodes, ({ tokens }) => tokens.length);
  const tokens = new Int32Array(lengths.reduce((sum, length) => sum + length, 0));
  let at = 0;
  for (const node of nodes) {
    tokens.set(node.tokens, at);
    at += node.tokens.length;
  }
  return { tokens, lengths, parents: Int32Array.from(parents), keys: nodes.map(({ key }) => key) };
}

/** The leaves of `listNodes`, in its order. */
export function leavesOf({ tokens, lengths, parents, keys }: NodeList): readonly Node[] {
  const nodes: Node[] = [];
  let at = 0;
  for (const [index, key] of keys.entries()) {
    const parent = nodes[parents[index] ?? -1];
    const end = at + (lengths[index] ?? 0);
    nodes.push({ level: levelBelow(parent), tokens: tokens.subarray(at, end), key, parent });
    at = end;
  }
  return nodes.filter(({ level }) => level === 2);
}

/** SHA-256 of a text or of bytes as base64url, 43 characters. Without `crypto.hash`, before Node 20.12, it takes 2.5 times as long. */
export const sha256: (data: string | NodeJS.ArrayBufferView) => string =
  crypto.hash === undefined
    ? (data) => crypto.createHash("sha256").update(data).digest("base64url")
    : (data) => crypto.hash("sha256", data, "base64url");
