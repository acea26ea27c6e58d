/** Every setting of the service, with defaults filled in. */
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
  readonly headersTimeoutMs: number;
  readonly maxConnections: number;
  readonly bodyMemoryMb: number;
  readonly allowUnauthenticated: boolean;
  readonly strict: boolean;
  readonly offline: boolean;
  readonly backend: "onnx" | "native" | "remote";
  readonly device: string;
  /** Base of a server of the Open Inference Protocol. Empty: none. */
  readonly remoteUrl: string;
  /** Its name there. Empty: the short name of the model. */
  readonly remoteModel: string;
  readonly remoteConnections: number;
  readonly remoteTimeoutMs: number;
  readonly remoteConnectTimeoutMs: number;
  readonly remoteCa: string;
  readonly remoteTokenFile: string;
  readonly precision: "auto" | "int8" | "fp32" | "bf16" | "fp16";
  /** Name of an embedded or pulled model. Empty: the embedded model, unless `modelPath` is set. */
  readonly model: string;
  /** Folder of a model package. Empty: `model` decides. */
  readonly modelPath: string;
  readonly alias: readonly string[];
  /** Files of `decision tune`. */
  readonly tuning: readonly string[];
  /** Empty: none. */
  readonly keysFile: string;
  readonly corsOrigin: readonly string[];
  /** Path of a Unix socket to listen on instead of host and port. Empty: none. */
  readonly socket: string;
  /** Both or none. */
  readonly tlsCert: string;
  readonly tlsKey: string;
  readonly metrics: boolean;
  /** 0: on `port`. */
  readonly metricsPort: number;
  readonly typesafeAlias: readonly string[];
  readonly mcp: boolean;
  readonly docs: boolean;
  readonly allowedHost: readonly string[];
  readonly explain: boolean;
  readonly logLevel: string;
  readonly logFormat: string;
}

/** Names, bounds and default of one option. The flag overrides the environment variable. */
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
  /** What it names, where that is a place on disk. */
  readonly names?: "file" | "folder";
  /** Accepted values. */
  readonly values?: readonly string[];
  /** Accepted values that may be followed by a number, as in cuda:1. */
  readonly numbered?: readonly string[];
}
interface SwitchRow extends Row<boolean> {
  readonly kind: "switch";
}
interface ListRow extends Row<readonly string[]> {
  readonly kind: "list";
}
export type OptionRow = IntegerRow | TextRow | SwitchRow | ListRow;

/** The one table of options. `decision serve --help` and the checks are made from it; a test compares docs/configuration.md with it. */
export const OPTION_TABLE = {
  host: {
    kind: "text",
    flag: "host",
    env: "DECISION_HOST",
    default: "127.0.0.1",
    description: "address to listen on; any address but loopback needs a key or --allow-unauthenticated",
  },
  port: {
    kind: "integer",
    flag: "port",
    env: "DECISION_PORT",
    default: 8700,
    min: 0,
    max: 65535,
    description: "port to listen on; 0 picks a free port",
  },
  queueSize: {
    kind: "integer",
    flag: "queue-size",
    env: "DECISION_QUEUE_SIZE",
    default: 128,
    min: 1,
    max: 8_192,
    unit: "requests",
    description: "maximum number of waiting requests; further requests get 503",
  },
  maxBatchSize: {
    kind: "integer",
    flag: "max-batch-size",
    env: "DECISION_MAX_BATCH_SIZE",
    default: 32,
    min: 1,
    max: 32,
    unit: "requests",
    description: "maximum number of requests in a batch",
  },
  maxBatchTokens: {
    kind: "integer",
    flag: "max-batch-tokens",
    env: "DECISION_MAX_BATCH_TOKENS",
    default: 2048,
    min: 1,
    max: 1_048_576,
    unit: "tokens",
    description: "maximum number of tokens in a batch; large pairs and states may exceed it",
  },
  batchWaitMs: {
    kind: "integer",
    flag: "batch-wait-ms",
    env: "DECISION_BATCH_WAIT_MS",
    default: 0,
    min: 0,
    max: 10_000,
    unit: "ms",
    description: "time that an idle model waits for more requests before it starts a batch",
  },
  cacheSize: {
    kind: "integer",
    flag: "cache-size",
    env: "DECISION_CACHE_SIZE",
    default: 0,
    min: 0,
    max: 4_000_000,
    unit: "scores",
    description: "number of scores cached in memory for identical inputs; 0 turns the cache off",
  },
  stateCacheMb: {
    kind: "integer",
    flag: "state-cache-mb",
    env: "DECISION_STATE_CACHE_MB",
    default: 40, // chosen: room for one state of maximum length (38 MiB with the embedded model), or for several usual ones
    min: 0,
    max: 65_536,
    unit: "MiB",
    description: "memory in MiB for the encodings of recent states; 0 turns the cache off",
  },
  deadlineMs: {
    kind: "integer",
    flag: "deadline-ms",
    env: "DECISION_DEADLINE_MS",
    default: 60_000,
    min: 1,
    max: 3_600_000,
    unit: "ms",
    description:
      "maximum time from a request's headers to its answer, then 504; a request that cannot meet it gets 503 at once",
  },
  headersTimeoutMs: {
    kind: "integer",
    flag: "headers-timeout-ms",
    env: "DECISION_HEADERS_TIMEOUT_MS",
    default: 20_000, // chosen
    min: 1,
    max: 3_600_000,
    unit: "ms",
    description: "time in which a request's headers must arrive; late ones get 408",
  },
  maxConnections: {
    kind: "integer",
    flag: "max-connections",
    env: "DECISION_MAX_CONNECTIONS",
    default: 2048, // chosen: an idle one takes some 10 KiB
    min: 1,
    max: 65_535,
    unit: "connections",
    description:
      "maximum number of open connections; a further one replaces the longest idle one, or gets 503 if none is idle",
  },
  bodyMemoryMb: {
    kind: "integer",
    flag: "body-memory-mb",
    env: "DECISION_BODY_MEMORY_MB",
    default: 64, // chosen: 32 bodies of the largest size
    min: 2, // one of them
    max: 65_536,
    unit: "MiB",
    description:
      "memory in MiB for the bodies of all requests in progress; when it is full, unfinished bodies or new requests get 503",
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
    description:
      "refuse options that connect to another host; `decision model pull` then uses only the hub's cache",
  },
  backend: {
    kind: "text",
    flag: "backend",
    env: "DECISION_BACKEND",
    default: "onnx",
    values: ["onnx", "native", "remote"],
    description:
      "inference backend: onnx (ONNX Runtime), native (PyTorch, needs Python) or remote (an inference server such as Triton)",
  },
  device: {
    kind: "text",
    flag: "device",
    env: "DECISION_DEVICE",
    default: "cpu",
    values: ["cpu", "cuda", "mps", "coreml", "webgpu", "auto"],
    numbered: ["cuda"],
    description:
      "inference device: cpu, cuda or auto; also cuda:N and mps (native), coreml and webgpu (onnx); `decision devices` lists the usable ones",
  },
  remoteUrl: {
    kind: "text",
    flag: "remote-url",
    env: "DECISION_REMOTE_URL",
    default: "",
    description: "http(s) address of the inference server, with --backend remote",
  },
  remoteModel: {
    kind: "text",
    flag: "remote-model",
    env: "DECISION_REMOTE_MODEL",
    default: "",
    description: "name of the model at --remote-url; if not set, its short name",
  },
  remoteConnections: {
    kind: "integer",
    flag: "remote-connections",
    env: "DECISION_REMOTE_CONNECTIONS",
    default: 4, // chosen
    min: 1,
    max: 256,
    unit: "connections",
    description: "maximum number of connections to --remote-url; each carries one run of the model at a time",
  },
  remoteTimeoutMs: {
    kind: "integer",
    flag: "remote-timeout-ms",
    env: "DECISION_REMOTE_TIMEOUT_MS",
    default: 30_000, // chosen
    min: 1,
    max: 3_600_000,
    unit: "ms",
    description: "timeout of a run of the model at --remote-url, retries included",
  },
  remoteConnectTimeoutMs: {
    kind: "integer",
    flag: "remote-connect-timeout-ms",
    env: "DECISION_REMOTE_CONNECT_TIMEOUT_MS",
    default: 5_000, // chosen
    min: 1,
    max: 600_000,
    unit: "ms",
    description: "timeout of connecting to --remote-url",
  },
  remoteCa: {
    kind: "text",
    names: "file",
    flag: "remote-ca",
    env: "DECISION_REMOTE_CA",
    default: "",
    description: "file of certificates (PEM) to trust for --remote-url, instead of the system's",
  },
  remoteTokenFile: {
    kind: "text",
    names: "file",
    flag: "remote-token-file",
    env: "DECISION_REMOTE_TOKEN_FILE",
    default: "",
    description:
      "file with the bearer token for --remote-url; if not set, DECISION_REMOTE_TOKEN has the token",
  },
  precision: {
    kind: "text",
    flag: "precision",
    env: "DECISION_PRECISION",
    default: "auto",
    values: ["auto", "int8", "fp32", "bf16", "fp16"],
    description:
      "number format of the model: int8 or fp32 (onnx); fp32, bf16 or fp16 (native); that of the server (remote); auto: int8 (onnx, remote) or by device (native)",
  },
  model: {
    kind: "text",
    flag: "model",
    env: "DECISION_MODEL",
    default: "",
    description:
      "name of the model to use instead of the embedded one; `decision model list` shows the names",
  },
  modelPath: {
    kind: "text",
    names: "folder",
    flag: "model-path",
    env: "DECISION_MODEL_PATH",
    default: "",
    description: "folder of the model package to use; not together with --model",
  },
  alias: {
    kind: "list",
    flag: "alias",
    env: "DECISION_ALIAS",
    default: [],
    description: "additional name for the model; repeatable, comma-separated in the variable",
  },
  tuning: {
    kind: "list",
    flag: "tuning",
    env: "DECISION_TUNING",
    default: [],
    description:
      "file of corrections, written by `decision tune`; repeatable, comma-separated in the variable",
  },
  keysFile: {
    kind: "text",
    names: "file",
    flag: "keys-file",
    env: "DECISION_KEYS_FILE",
    default: "",
    description: "keys file, written by `decision keys`; read again on SIGHUP and when it changes",
  },
  corsOrigin: {
    kind: "list",
    flag: "cors-origin",
    env: "DECISION_CORS_ORIGIN",
    default: [],
    description:
      "origin whose pages may call the service from a browser; repeatable, comma-separated in the variable; * for all",
  },
  socket: {
    kind: "text",
    names: "file",
    flag: "socket",
    env: "DECISION_SOCKET",
    default: "",
    description: "path of a Unix socket to listen on instead of --host and --port",
  },
  tlsCert: {
    kind: "text",
    names: "file",
    flag: "tls-cert",
    env: "DECISION_TLS_CERT",
    default: "",
    description:
      "file of the certificate chain (PEM); with --tls-key, the service speaks HTTPS; read again when it changes",
  },
  tlsKey: {
    kind: "text",
    names: "file",
    flag: "tls-key",
    env: "DECISION_TLS_KEY",
    default: "",
    description: "file of the certificate's private key (PEM)",
  },
  metrics: {
    kind: "switch",
    flag: "metrics",
    env: "DECISION_METRICS",
    default: true,
    description: "serve metrics for Prometheus at /metrics",
  },
  metricsPort: {
    kind: "integer",
    flag: "metrics-port",
    env: "DECISION_METRICS_PORT",
    default: 0,
    min: 0,
    max: 65535,
    description: "port for /metrics, at --host; 0 serves it on --port",
  },
  typesafeAlias: {
    kind: "list",
    flag: "typesafe-alias",
    env: "DECISION_TYPESAFE_ALIAS",
    default: [],
    description:
      "additional name for the model under /typesafe, besides jev-latest; repeatable, comma-separated in the variable",
  },
  mcp: {
    kind: "switch",
    flag: "mcp",
    env: "DECISION_MCP",
    default: true,
    description: "serve MCP (Model Context Protocol) at /mcp",
  },
  docs: {
    kind: "switch",
    flag: "docs",
    env: "DECISION_DOCS",
    default: true,
    description: "serve the pages for people: the playground, /docs and /redoc",
  },
  allowedHost: {
    kind: "list",
    flag: "allowed-host",
    env: "DECISION_ALLOWED_HOST",
    default: [],
    description:
      "host name that requests to a service without a key on a loopback address may use, besides loopback names, and whose pages may use /mcp; repeatable, comma-separated in the variable",
  },
  explain: {
    kind: "switch",
    flag: "explain",
    env: "DECISION_EXPLAIN",
    default: false,
    description: "serve /v1/explain; an explanation costs as much as up to 33 requests",
  },
  logLevel: {
    kind: "text",
    flag: "log-level",
    env: "DECISION_LOG_LEVEL",
    default: "warn",
    values: ["silent", "error", "warn", "info", "debug"],
    description:
      "lowest level that is logged to stderr: silent, error, warn, info (adds the options and a line for each request) or debug",
  },
  logFormat: {
    kind: "text",
    flag: "log-format",
    env: "DECISION_LOG_FORMAT",
    default: "auto",
    values: ["auto", "json", "pretty"],
    description: "json: one object per line; pretty: readable text; auto: pretty on a terminal, else json",
  },
} as const satisfies { readonly [Name in keyof ServiceOptions]: OptionRow };

export type OptionName = keyof ServiceOptions;
