import type { RequestWork } from "./request-work.ts";

/** Requests by their rest (`batch-rule.ts`), each list in the order in which they are served. */
export interface SizeClasses {
  readonly small: readonly RequestWork[];
  readonly middle: readonly RequestWork[];
  readonly long: readonly RequestWork[];
}

/**
 * Number of batches without any of its pairs after which a request is overdue. Without this bound, larger requests in a
 * permanently full queue would starve, because smaller ones keep arriving. Chosen: a batch takes 25 to 100 ms.
 */
export const MOST_MISSED_BATCHES = 4;

export const isSmall = (tokens: number, quantum: number) => tokens <= quantum / 4;
export const isLong = (tokens: number, quantum: number) => tokens > quantum / 2;

/** @param quantum tokens of a batch that takes a short time */
export function sizesOf(works: readonly RequestWork[], quantum: number): SizeClasses {
  const [small, middle, long]: [RequestWork[], RequestWork[], RequestWork[]] = [[], [], []];
  for (const { work, tokens } of inOrderOfService(works)) {
    if (isSmall(tokens, quantum)) small.push(work);
    else if (isLong(tokens, quantum)) long.push(work);
    else middle.push(work);
  }
  const begun = long.filter(({ hasBegun }) => hasBegun);
  return { small, middle, long: [...begun, ...long.filter(({ hasBegun }) => !hasBegun)] };
}

interface SizedWork {
  readonly work: RequestWork;
  readonly tokens: number;
}

/** Overdue requests in order of admission, then the others by size. Each rest is computed only once, because the queue may be long. */
function inOrderOfService(works: readonly RequestWork[]): readonly SizedWork[] {
  const sized = works.map((work) => ({ work, tokens: work.remainingTokens }));
  const overdue = sized.filter(isOverdue).sort((a, b) => a.work.order - b.work.order);
  const others = sized.filter((each) => !isOverdue(each));
  return [...overdue, ...others.sort((a, b) => a.tokens - b.tokens || a.work.order - b.work.order)];
}

function isOverdue({ work }: SizedWork): boolean {
  return work.missedBatches >= MOST_MISSED_BATCHES;
}
