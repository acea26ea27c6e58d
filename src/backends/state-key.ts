import { createHash } from "node:crypto";
import type { TokenTree } from "../inference/ports.ts";

/** Cache key of a tree's state: the digest that the queue has computed, otherwise one of its tokens. */
export function stateKey({ state, stateKey }: TokenTree): string {
  return stateKey ?? createHash("sha256").update(state).digest("base64url");
}
