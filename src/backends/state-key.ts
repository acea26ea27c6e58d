import { createHash } from "node:crypto";
import type { TokenTree } from "../inference/ports.ts";

/** By what a tree's state is found in a cache: the digest that the queue has taken, else one over its tokens. */
export function stateKey({ state, stateKey }: TokenTree): string {
  return stateKey ?? createHash("sha256").update(state).digest("base64url");
}
