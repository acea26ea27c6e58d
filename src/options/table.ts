/** Everything that an operator can set, complete. */
export interface ServiceOptions {
  readonly host: string;
  readonly port: number;
  readonly queueSize: number;
  readonly maxBatchSize: number;
  readonly maxBatchTokens: number;
  readonly batchWaitMs: number;
  readonly cacheSize: number;
  readonly stateCacheMb: number;
  readonly deadlineMs: number;
  readonly allowUnauthenticated: boolean;
  readonly strict: boolean;
  readonly offline: boolean;
  readonly backend: string;
  readonly device: string;
  readonly precision: "int8" | "fp32";
  /** Name of an embedded or pulled model; empty means the embedded one, unless `modelPath` is set. */
  readonly model: string;
  /** Folder of a model package; empty unless one is served that is neither embedded nor pulled. */
  readonly modelPath: string;
  readonly alias: readonly string[];
  readonly logLevel: string;
}

/** How one option is named, read and bounded. The environment variable counts where the flag is not given. */
interface Row<Value> {
  readonly flag: string;
  readonly env: string;
  readonly default: Value;
  readonly description: string;
}
export interface IntegerRow extends Row<number> {
  readonly kind: "integer";
  readonly min: number;
  readonly max: number;
  readonly unit?: string;
}
export interface TextRow extends Row<string> {
  readonly kind: "text";
  /** The values that are served. */
  readonly values?: readonly string[];
  /** Values that the interface names and that this version does not serve. */
  readonly planned?: readonly string[];
}
interface SwitchRow extends Row<boolean> {
  readonly kind: "switch";
}
interface ListRow extends Row<readonly string[]> {
  readonly kind: "list";
}
export type OptionRow = IntegerRow | TextRow | SwitchRow | ListRow;

/** The one table of options: `decision serve --help` and the checks are made from it, the README is held to it. */
export const OPTION_TABLE = {
  host: {
    kind: "text",
    flag: "host",
    env: "DECISION_HOST",
    default: "127.0.0.1",
    description:
      "address to listen on; other than loopback needs DECISION_API_KEY or --allow-unauthenticated",
  },
  port: {
    kind: "integer",
    flag: "port",
    env: "DECISION_PORT",
    default: 8700,
    min: 0,
    max: 65535,
    description: "port to listen on; 0 takes a free one",
  },
  queueSize: {
    kind: "integer",
    flag: "queue-size",
    env: "DECISION_QUEUE_SIZE",
    default: 128,
    min: 1,
    max: 8_192,
    unit: "requests",
    description: "requests that may wait; one more is answered 503",
  },
  maxBatchSize: {
    kind: "integer",
    flag: "max-batch-size",
    env: "DECISION_MAX_BATCH_SIZE",
    default: 32,
    min: 1,
    max: 32,
    unit: "requests",
    description: "requests that are computed together at most",
  },
  maxBatchTokens: {
    kind: "integer",
    flag: "max-batch-tokens",
    env: "DECISION_MAX_BATCH_TOKENS",
    default: 2048,
    min: 1,
    max: 1_048_576,
    unit: "tokens",
    description:
      "tokens that are computed together at most, unless a single pair has more; a state and question of more than half of it come on top",
  },
  batchWaitMs: {
    kind: "integer",
    flag: "batch-wait-ms",
    env: "DECISION_BATCH_WAIT_MS",
    default: 0,
    min: 0,
    max: 10_000,
    unit: "ms",
    description: "how long an idle model waits for more requests to compute together",
  },
  cacheSize: {
    kind: "integer",
    flag: "cache-size",
    env: "DECISION_CACHE_SIZE",
    default: 0,
    min: 0,
    max: 4_000_000,
    unit: "scores",
    description: "scores kept in memory for exactly equal inputs; 0 keeps none",
  },
  stateCacheMb: {
    kind: "integer",
    flag: "state-cache-mb",
    env: "DECISION_STATE_CACHE_MB",
    default: 64, // chosen: a state of the longest length and a few of the usual ones
    min: 0,
    max: 65_536,
    unit: "MiB",
    description: "memory for states seen lately, which cost nothing when asked about again; 0 keeps none",
  },
  deadlineMs: {
    kind: "integer",
    flag: "deadline-ms",
    env: "DECISION_DEADLINE_MS",
    default: 60_000,
    min: 1,
    max: 3_600_000,
    unit: "ms",
    description: "time from a request's headers until it is answered 504",
  },
  allowUnauthenticated: {
    kind: "switch",
    flag: "allow-unauthenticated",
    env: "DECISION_ALLOW_UNAUTHENTICATED",
    default: false,
    description: "serve other hosts without a key",
  },
  strict: {
    kind: "switch",
    flag: "strict",
    env: "DECISION_STRICT",
    default: false,
    description: "score each candidate in a batch of its own",
  },
  offline: {
    kind: "switch",
    flag: "offline",
    env: "DECISION_OFFLINE",
    default: false,
    description: "never open a connection to another host (serving never does; `decision model pull` would)",
  },
  backend: {
    kind: "text",
    flag: "backend",
    env: "DECISION_BACKEND",
    default: "onnx",
    values: ["onnx"],
    planned: ["native", "remote"],
    description:
      "what computes the scores; native (a tensor library) and remote (GPU serving) are not built yet",
  },
  device: {
    kind: "text",
    flag: "device",
    env: "DECISION_DEVICE",
    default: "cpu",
    values: ["cpu"],
    planned: ["cuda", "mps"],
    description: "where the backend computes; the onnx backend knows cpu",
  },
  precision: {
    kind: "text",
    flag: "precision",
    env: "DECISION_PRECISION",
    default: "int8",
    values: ["int8", "fp32"],
    description: "numbers that the model computes with",
  },
  model: {
    kind: "text",
    flag: "model",
    env: "DECISION_MODEL",
    default: "",
    description:
      "model to serve instead of the embedded one, by any of its names; `decision model list` shows them",
  },
  modelPath: {
    kind: "text",
    flag: "model-path",
    env: "DECISION_MODEL_PATH",
    default: "",
    description: "folder of a model package to serve instead; not with --model",
  },
  alias: {
    kind: "list",
    flag: "alias",
    env: "DECISION_ALIAS",
    default: [],
    description:
      "another name that requests may use for the model; repeatable, in the variable apart by commas",
  },
  logLevel: {
    kind: "text",
    flag: "log-level",
    env: "DECISION_LOG_LEVEL",
    default: "warn",
    values: ["silent", "error", "warn", "info", "debug"],
    description: "least level of the log on stderr; info has the options, debug a line a request",
  },
} as const satisfies { readonly [Name in keyof ServiceOptions]: OptionRow };

export type OptionName = keyof ServiceOptions;
