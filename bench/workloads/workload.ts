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
  /** Whether a model with smaller limits may refuse it because of its tokens: it is generated for the largest ones. */
  readonly mayBeTooLong?: boolean;
  /** Expected content of an answer: labels by question name, or candidates' labels under "". */
  readonly labels: ReadonlyMap<string, readonly string[]>;
}

export interface Workload {
  readonly name: string;
  /** One line for reports. */
  readonly title: string;
  /** The request with this index, from 0. It depends only on the seed and the index. */
  request(seed: number, index: number): BenchRequest;
}
