/** Who may import whom. `npm test` runs it; ARCHITECTURE.md says which rules matter most. */
const FOLDERS = {
  "src/package-root": [],
  "src/errors": [],
  "src/json": ["src/errors"],
  "src/decisions": ["generated", "src/errors", "src/json"],
  "src/inference": ["src/decisions", "src/errors"],
  "src/onnx": [],
  "src/models": ["src/inference", "src/onnx", "src/errors"],
  "src/backends": ["src/inference", "src/models", "src/onnx", "src/errors", "src/package-root"],
  "src/contract": ["generated", "src/errors", "src/json", "src/inference"],
  handlers: ["generated", "src/contract", "src/decisions", "src/inference"],
  // keys and their rates: the server asks for them, the commands write them
  "src/keys": ["src/errors"],
  "src/server": ["src/contract", "src/inference", "src/keys", "src/errors"],
  // metrics and traces: told of requests by the server, of batches by the engine
  "src/telemetry": ["src/contract", "src/inference", "src/server"],
  "src/options": ["src/errors"],
  "src/hub": ["src/models", "src/errors"],
  "src/served-model": ["src/models", "src/options", "src/errors", "src/package-root"],
  // corrections fitted to labelled rows: pure, but for reading their files
  "src/tuning": ["src/decisions", "src/evaluation", "src/inference", "src/errors"],
  "src/engine": [
    "src/decisions",
    "src/inference",
    "src/models",
    "src/backends",
    "src/options",
    "src/errors",
    "src/served-model",
    "src/tuning",
  ],
  // what this machine can compute on
  "src/devices": ["src/backends"],
  "src/mcp": ["src/contract", "src/decisions", "src/json", "src/errors", "src/package-root"],
  "src/app": [
    "handlers",
    "src/contract",
    "src/decisions",
    "src/engine",
    "src/inference",
    "src/keys",
    "src/mcp",
    "src/options",
    "src/server",
    "src/telemetry",
    "src/package-root",
  ],
  "src/library": [
    "src/app",
    "src/contract",
    "src/decisions",
    "src/engine",
    "src/errors",
    "src/inference",
    "src/json",
    "src/keys",
    "src/mcp",
    "src/models",
    "src/options",
    "src/served-model",
    "src/server",
    "src/telemetry",
    "src/tuning",
  ],
  "src/batch": ["src/errors", "src/json"],
  // figures about labelled rows: knows rows and answers, not who gives them
  "src/evaluation": ["src/batch", "src/errors", "src/json"],
  bench: [
    "src/app",
    "src/backends",
    "src/contract",
    "src/decisions",
    "src/engine",
    "src/errors",
    "src/inference",
    "src/models",
    "src/onnx",
    "src/options",
    "src/package-root",
    "src/served-model",
  ],
  // runs in browsers: of ours it knows the types of the contract alone
  playground: ["generated"],
  "src/conformance": ["generated", "src/package-root"],
  "src/cli": [
    "bench",
    "generated",
    "src/batch",
    "src/conformance",
    "src/devices",
    "src/errors",
    "src/evaluation",
    "src/hub",
    "src/json",
    "src/keys",
    "src/library",
    "src/models",
    "src/options",
    "src/package-root",
    "src/served-model",
    "src/server", // the type of a log
    "src/telemetry",
    "src/tuning",
  ],
};

/** Within a folder: which of its rooms may use which others. Its files outside of rooms are for all of them. */
const ROOMS = {
  "src/inference": { tokens: [], queue: [] },
  "src/models": {
    weights: [],
    package: [],
    graph: ["package", "weights"],
    store: ["package"],
    inspect: ["package", "weights", "graph", "store"],
  },
  "src/onnx": { file: [], layers: ["file"], encoder: ["file", "layers"], causal: ["file", "layers"] },
  "src/backends": {
    process: [],
    tensors: [],
    onnx: ["process", "tensors"],
    native: ["process"],
    remote: ["tensors"],
  },
  "src/backends/onnx": {
    runtime: ["process/process-environment"],
    forwards: ["runtime"],
    process: ["runtime", "forwards"],
  },
  "src/server": { wire: [], routes: ["wire"] },
  "src/cli": { output: [], actions: ["output"], commands: ["actions", "output"] },
  bench: {
    measure: [],
    workloads: [],
    engine: ["measure", "workloads"],
    http: ["measure", "workloads"],
    report: ["engine", "http", "measure"],
  },
};

const pattern = (names) => `^(${names.map((name) => `${name}(/|\\.ts$)`).join("|")})`;

module.exports = {
  forbidden: [
    ...Object.entries(FOLDERS).map(([folder, allowed]) => ({
      name: `${folder} imports only ${allowed.join(", ") || "nothing of ours"}`,
      severity: "error",
      from: { path: pattern([folder]) },
      to: {
        path: "^(src|handlers|generated|bench|playground|test)/",
        pathNot: pattern([folder, ...allowed]),
      },
    })),
    ...Object.entries(ROOMS).flatMap(([folder, rooms]) =>
      Object.entries(rooms).map(([room, allowed]) => ({
        name: `of the rooms of ${folder}, ${room} uses only ${allowed.join(", ") || "itself"}`,
        severity: "error",
        from: { path: pattern([`${folder}/${room}`]) },
        to: {
          path: pattern(Object.keys(rooms).map((other) => `${folder}/${other}`)),
          pathNot: pattern([room, ...allowed].map((other) => `${folder}/${other}`)),
        },
      })),
    ),
    {
      name: "the command line decides by the library's index, as every other program does",
      severity: "error",
      from: { path: "^src/(cli|batch)/" },
      to: { path: "^src/library/", pathNot: "^src/library/index\\.ts$" },
    },
    {
      name: "of the command line, only the commands for models look into the folders of models",
      severity: "error",
      from: {
        path: "^src/cli/",
        pathNot: "^src/cli/(actions/(export-model|models|pull)\\.ts|output/|commands/model/)",
      },
      to: { path: "^src/(hub|models|served-model)(/|\\.ts$)" },
    },
    {
      name: "only src/hub, and the backend remote to its one server, open connections to other hosts",
      severity: "error",
      from: { path: "^(src|handlers)/", pathNot: "^src/(hub|backends/remote)/" },
      to: { path: "node_modules/undici/" },
    },
    {
      name: "only src/backends/onnx/runtime/runtime.ts loads the runtime, which it keeps quiet",
      severity: "error",
      from: { path: "^(src|handlers|bench)/", pathNot: "^src/backends/onnx/runtime/runtime\\.ts$" },
      to: { path: "node_modules/onnxruntime-node/" },
    },
    {
      name: "only src/mcp loads the SDK of MCP, which is read at the first request",
      severity: "error",
      from: { path: "^(src|handlers|bench)/", pathNot: "^src/mcp/" },
      to: { path: "node_modules/(@modelcontextprotocol|zod)/" },
    },
    { name: "no cycles", severity: "error", from: {}, to: { circular: true } },
    { name: "nothing unresolvable", severity: "error", from: {}, to: { couldNotResolve: true } },
    {
      name: "the product needs no development dependency",
      severity: "error",
      from: { path: "^(src|handlers|bench)/" },
      to: { dependencyTypes: ["npm-dev"] },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "types", "default"],
    },
    doNotFollow: { path: "node_modules" },
  },
};
