/** What the service can be asked to do. */
export type Operation = "systemone" | "rank";

export const OPERATION_PATHS: Readonly<Record<Operation, string>> = {
  systemone: "/v1/systemone",
  rank: "/v1/rank",
};

/** One request of a workload, as it goes over the wire. */
export interface BenchRequest {
  readonly operation: Operation;
  /** JSON text. */
  readonly body: string;
  /** The status that the contract gives it. */
  readonly expectedStatus: 200 | 422;
  /** Whether the server may rightly refuse it for its tokens. */
  readonly mayBeTooLong?: boolean;
  /** What an answer must hold: a question's name with its labels, or the candidates' labels under "". */
  readonly labels: ReadonlyMap<string, readonly string[]>;
}

export interface Workload {
  readonly name: string;
  /** One line for reports. */
  readonly title: string;
  /** Whether states come again, so that the service's cache of states may help. */
  readonly isWarm: boolean;
  /** Whether its requests are a user's own, not sized for the contract's limits. */
  readonly isOwn?: boolean;
  /** The request with this number, from 0: a function of the seed and the number alone. */
  request(seed: number, index: number): BenchRequest;
}

/** How many decisions and pairs a request asks for. */
export function countOf({ labels }: BenchRequest): { readonly decisions: number; readonly pairs: number } {
  const pairs = [...labels.values()].reduce((sum, list) => sum + list.length, 0);
  return { decisions: labels.size, pairs };
}
