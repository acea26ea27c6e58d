import type { RequestWork } from "./request-work.ts";

/** Requests by their rest (`batch-rule.ts`), each list in the order in which they are served. */
export interface SizeClasses {
  readonly small: readonly RequestWork[];
  readonly middle: readonly RequestWork[];
  readonly long: readonly RequestWork[];
}

export const isSmall = (tokens: number, quantum: number) => tokens <= quantum / 4;
export const isLong = (tokens: number, quantum: number) => tokens > quantum / 2;

/** @param quantum tokens of a batch that takes a short time */
export function sizesOf(works: readonly RequestWork[], quantum: number): SizeClasses {
  const [small, middle, begun, unbegun]: [RequestWork[], RequestWork[], RequestWork[], RequestWork[]] = [
    [],
    [],
    [],
    [],
  ];
  for (const { work, tokens } of sortBySize(works)) {
    if (isSmall(tokens, quantum)) small.push(work);
    else if (!isLong(tokens, quantum)) middle.push(work);
    else (work.hasBegun ? begun : unbegun).push(work);
  }
  return { small, middle, long: [...begun, ...unbegun] };
}

/** The smallest rest first, the older one among equals. Each rest is computed once, since a queue may be long. */
export function sortBySize(
  works: readonly RequestWork[],
): readonly { readonly work: RequestWork; readonly tokens: number }[] {
  return works
    .map((work) => ({ work, tokens: work.remainingTokens }))
    .sort((a, b) => a.tokens - b.tokens || a.work.order - b.work.order);
}
