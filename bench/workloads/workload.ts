/** The inference operations. */
export type Operation = "systemone" | "rank";

export const OPERATION_PATHS: Readonly<Record<Operation, string>> = {
  systemone: "/v1/systemone",
  rank: "/v1/rank",
};

/** One request of a workload, as sent. */
export interface BenchRequest {
  readonly operation: Operation;
  /** JSON text. */
  readonly body: string;
  /** Expected status. */
  readonly expectedStatus: 200 | 422;
  /** Whether the server may refuse it because of its tokens. */
  readonly mayBeTooLong?: boolean;
  /** Expected content of an answer: labels by question name, or candidates' labels under "". */
  readonly labels: ReadonlyMap<string, readonly string[]>;
}

export interface Workload {
  readonly name: string;
  /** One line for reports. */
  readonly title: string;
  /** Whether states recur, so that the state cache helps. */
  readonly isWarm: boolean;
  /** Whether its requests come from a user, not sized for the contract's limits. */
  readonly isOwn?: boolean;
  /** The request with this index, from 0. It depends only on the seed and the index. */
  request(seed: number, index: number): BenchRequest;
}

/** Number of decisions and pairs of a request. */
export function countOf({ labels }: BenchRequest): { readonly decisions: number; readonly pairs: number } {
  const pairs = [...labels.values()].reduce((sum, list) => sum + list.length, 0);
  return { decisions: labels.size, pairs };
}
