/** Who may import whom: the table of ARCHITECTURE.md. `npm test` runs it. */
const FOLDERS = {
  "src/package-root": [],
  "src/errors": [],
  "src/json": ["src/errors"],
  "src/decisions": ["generated", "src/errors", "src/json"],
  "src/inference": ["src/decisions", "src/errors"],
  "src/onnx": [],
  "src/models": ["src/inference", "src/onnx", "src/errors"],
  "src/backends": ["src/inference", "src/models", "src/onnx", "src/errors"],
  "src/contract": ["generated", "src/errors", "src/json", "src/inference"],
  handlers: ["generated", "src/contract", "src/decisions", "src/inference"],
  "src/server": ["src/contract", "src/inference", "src/errors"],
  "src/options": ["src/errors"],
  "src/engine": [
    "src/decisions",
    "src/inference",
    "src/models",
    "src/backends",
    "src/options",
    "src/errors",
    "src/package-root",
  ],
  "src/app": [
    "handlers",
    "src/contract",
    "src/decisions",
    "src/engine",
    "src/inference",
    "src/options",
    "src/server",
    "src/package-root",
  ],
  "src/conformance": ["generated", "src/package-root"],
  "src/cli": [
    "generated",
    "src/app",
    "src/conformance",
    "src/contract",
    "src/engine",
    "src/errors",
    "src/inference",
    "src/json",
    "src/options",
    "src/server",
  ],
};

const pattern = (names) => `^(${names.map((name) => `${name}(/|\\.ts$)`).join("|")})`;

module.exports = {
  forbidden: [
    ...Object.entries(FOLDERS).map(([folder, allowed]) => ({
      name: `${folder} imports only ${allowed.join(", ") || "nothing of ours"}`,
      severity: "error",
      from: { path: pattern([folder]) },
      to: { path: "^(src|handlers|generated|bench|test)/", pathNot: pattern([folder, ...allowed]) },
    })),
    { name: "no cycles", severity: "error", from: {}, to: { circular: true } },
    { name: "nothing unresolvable", severity: "error", from: {}, to: { couldNotResolve: true } },
    {
      name: "the product needs no development dependency",
      severity: "error",
      from: { path: "^(src|handlers)/" },
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
