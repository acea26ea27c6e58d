/** Bounds and default of one option. An empty text means that it is not set. */
interface Row<Value> {
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

/** What operators write. The flag overrides the environment variable. */
interface Names {
  readonly flag: string;
  readonly env: string;
}
export type OptionRow = (IntegerRow | TextRow | SwitchRow | ListRow) & Names;

const ROWS = {
  host: {
    kind: "text",
    default: "127.0.0.1",
    description: "address to listen on; any address but loopback needs a key or --allow-unauthenticated",
  },
  port: {
    kind: "integer",
    default: 8700,
    min: 0,
    max: 65535,
    description: "port to listen on; 0 picks a free port",
  },
  queueSize: {
    kind: "integer",
    default: 128,
    min: 1,
    max: 8_192,
    unit: "requests",
    description: "maximum number of waiting requests; further requests get 503",
  },
  maxBatchSize: {
    kind: "integer",
    default: 32,
    min: 1,
    max: 32,
    unit: "requests",
    description: "maximum number of requests in a batch",
  },
  maxBatchTokens: {
    kind: "integer",
    default: 2048,
    min: 1,
    max: 1_048_576,
    unit: "tokens",
    description: "maximum number of tokens in a batch; large pairs and states may exceed it",
  },
  batchWaitMs: {
    kind: "integer",
    default: 0,
    min: 0,
    max: 10_000,
    unit: "ms",
    description: "time that an idle model waits for more requests before it starts a batch",
  },
  cacheSize: {
    kind: "integer",
    default: 0,
    min: 0,
    max: 4_000_000,
    unit: "scores",
    description: "number of scores cached in memory for identical inputs; 0 turns the cache off",
  },
  stateCacheMb: {
    kind: "integer",
    default: 40, // chosen: room for one state of maximum length (38 MiB with the embedded model), or for several usual ones
    min: 0,
    max: 65_536,
    unit: "MiB",
    description: "memory in MiB for the encodings of recent states; 0 turns the cache off",
  },
  deadlineMs: {
    kind: "integer",
    default: 60_000,
    min: 1,
    max: 3_600_000,
    unit: "ms",
    description:
      "maximum time from a request's headers to its answer, then 504; a request that cannot meet it gets 503 at once",
  },
  headersTimeoutMs: {
    kind: "integer",
    default: 20_000,
    min: 1,
    max: 3_600_000,
    unit: "ms",
    description: "time in which a request's headers must arrive; late ones get 408",
  },
  maxConnections: {
    kind: "integer",
    default: 2048, // chosen: an idle one takes some 10 KiB
    min: 1,
    max: 65_535,
    unit: "connections",
    description: "maximum number of open connections; a further one gets 503",
  },
  bodyMemoryMb: {
    kind: "integer",
    default: 64, // chosen: 32 bodies of the largest size
    min: 2, // one of them
    max: 65_536,
    unit: "MiB",
    description:
      "memory in MiB for the bodies of all requests in progress; when it is full, unfinished bodies or new requests get 503",
  },
  allowUnauthenticated: {
    kind: "switch",
    default: false,
    description: "serve other hosts without a key",
  },
  strict: {
    kind: "switch",
    default: false,
    description: "score each candidate in a batch of its own",
  },
  offline: {
    kind: "switch",
    default: false,
    description:
      "refuse options that connect to another host; `decision model pull` then uses only the hub's cache",
  },
  backend: {
    kind: "text",
    default: "onnx",
    values: ["onnx", "native", "remote"],
    description:
      "inference backend: onnx (ONNX Runtime), native (PyTorch, needs Python) or remote (an inference server such as Triton)",
  },
  device: {
    kind: "text",
    default: "cpu",
    values: ["cpu", "cuda", "mps", "coreml", "webgpu", "auto"],
    numbered: ["cuda"],
    description:
      "inference device: cpu, cuda or auto; also cuda:N and mps (native), coreml and webgpu (onnx); `decision devices` lists the usable ones",
  },
  remoteUrl: {
    kind: "text",
    default: "",
    description: "http(s) address of the inference server, with --backend remote",
  },
  remoteModel: {
    kind: "text",
    default: "",
    description: "name of the model at --remote-url; if not set, its short name",
  },
  remoteConnections: {
    kind: "integer",
    default: 4,
    min: 1,
    max: 256,
    unit: "connections",
    description: "maximum number of connections to --remote-url; each carries one run of the model at a time",
  },
  remoteTimeoutMs: {
    kind: "integer",
    default: 30_000, // half of the default deadline
    min: 1,
    max: 3_600_000,
    unit: "ms",
    description: "timeout of a run of the model at --remote-url, retries included",
  },
  remoteConnectTimeoutMs: {
    kind: "integer",
    default: 5_000,
    min: 1,
    max: 600_000,
    unit: "ms",
    description: "timeout of connecting to --remote-url",
  },
  remoteCa: {
    kind: "text",
    names: "file",
    default: "",
    description: "file of certificates (PEM) to trust for --remote-url, instead of the system's",
  },
  remoteTokenFile: {
    kind: "text",
    names: "file",
    default: "",
    description:
      "file with the bearer token for --remote-url; if not set, DECISION_REMOTE_TOKEN has the token",
  },
  precision: {
    kind: "text",
    default: "auto",
    values: ["auto", "int8", "fp32", "bf16", "fp16"],
    description:
      "number format of the model: int8 or fp32 (onnx); fp32, bf16 or fp16 (native); that of the server (remote); auto: int8 (onnx, remote) or by device (native)",
  },
  model: {
    kind: "text",
    default: "",
    description:
      "name of the model to use instead of the embedded one; `decision model list` shows the names",
  },
  modelPath: {
    kind: "text",
    names: "folder",
    default: "",
    description: "folder of the model package to use; not together with --model",
  },
  alias: {
    kind: "list",
    default: [],
    description: "additional name for the model; repeatable, comma-separated in the variable",
  },
  tuning: {
    kind: "list",
    default: [],
    description:
      "file of corrections, written by `decision tune`; repeatable, comma-separated in the variable",
  },
  keysFile: {
    kind: "text",
    names: "file",
    default: "",
    description: "keys file, written by `decision keys`; read again on SIGHUP and when it changes",
  },
  corsOrigin: {
    kind: "list",
    default: [],
    description:
      "origin whose pages may call the service from a browser; repeatable, comma-separated in the variable; * for all",
  },
  socket: {
    kind: "text",
    names: "file",
    default: "",
    description: "path of a Unix socket to listen on instead of --host and --port",
  },
  tlsCert: {
    kind: "text",
    names: "file",
    default: "",
    description:
      "file of the certificate chain (PEM); with --tls-key, the service speaks HTTPS; read again when it changes",
  },
  tlsKey: {
    kind: "text",
    names: "file",
    default: "",
    description: "file of the certificate's private key (PEM)",
  },
  metrics: {
    kind: "switch",
    default: true,
    description: "serve metrics for Prometheus at /metrics",
  },
  metricsPort: {
    kind: "integer",
    default: 0,
    min: 0,
    max: 65535,
    description: "port for /metrics, /health, /ready and /livez, at --host; 0 serves /metrics on --port",
  },
  typesafeAlias: {
    kind: "list",
    default: [],
    description:
      "additional name for the model under /typesafe, besides jev-latest; repeatable, comma-separated in the variable",
  },
  mcp: {
    kind: "switch",
    default: true,
    description: "serve MCP (Model Context Protocol) at /mcp",
  },
  docs: {
    kind: "switch",
    default: true,
    description: "serve the pages for people: the playground, /docs and /redoc",
  },
  allowedHost: {
    kind: "list",
    default: [],
    description:
      "host name that requests to a service without a key on a loopback address may use, besides loopback names, and whose pages may use /mcp; repeatable, comma-separated in the variable",
  },
  explain: {
    kind: "switch",
    default: false,
    description: "serve /v1/explain; an explanation costs as much as up to 33 requests",
  },
  logLevel: {
    kind: "text",
    default: "warn",
    values: ["silent", "error", "warn", "info", "debug"],
    description:
      "lowest level that is logged to stderr: silent, error, warn, info (adds the options and a line for each request) or debug",
  },
  logFormat: {
    kind: "text",
    default: "auto",
    values: ["auto", "json", "pretty"],
    description: "json: one object per line; pretty: readable text; auto: pretty on a terminal, else json",
  },
} as const satisfies Readonly<Record<string, IntegerRow | TextRow | SwitchRow | ListRow>>;

type Rows = typeof ROWS;
export type OptionName = keyof Rows;

/** Every setting of the service, with defaults filled in. */
export type ServiceOptions = { readonly [Name in OptionName]: ValueOf<Rows[Name]> };

type ValueOf<AnyRow extends { readonly kind: OptionRow["kind"] }> = AnyRow extends {
  readonly values: readonly (infer Value)[];
}
  ? AnyRow extends { readonly numbered: unknown }
    ? string
    : Value
  : { integer: number; text: string; switch: boolean; list: readonly string[] }[AnyRow["kind"]];

/** The one table of options. `decision serve --help` and the checks are made from it; a test compares docs/configuration.md with it. */
export const OPTION_TABLE = Object.fromEntries(
  Object.entries(ROWS).map(([name, row]) => [name, { ...row, ...namesOf(name) }]),
) as { readonly [Name in OptionName]: Rows[Name] & Names }; // every row was visited

/** `queueSize` is --queue-size and DECISION_QUEUE_SIZE. */
function namesOf(option: string): Names {
  const flag = option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return { flag, env: `DECISION_${flag.replaceAll("-", "_").toUpperCase()}` };
}
