// What the check needs to know of each language beside clients/README.md.
import { homedir } from "node:os";
import path from "node:path";

/** What compilers build and may use again, if their tool has no cache of its own. */
const cache = path.join(
  process.env.XDG_CACHE_HOME || path.join(homedir(), ".cache"),
  "typed-decisions",
  "clients",
);

const PLAIN = ({ open, keyed, full, key }) => [open, keyed, full, key];

/**
 * Each language by the name of its folder in clients/.
 *
 * - `heading`: its section in clients/README.md
 * - `quick`: whether it is tried without `--all`
 * - `given`: files of its folder that must be there before the README's lines run: what the README links to, and the
 *   pinned versions of indirect dependencies
 * - `environment`: variables for all commands, from the folder of the try
 * - `commands`: from the services to the commands that check and run the long program, warnings being errors; the last
 *   one's output is the report
 */
export const languages = {
  typescript: {
    heading: "TypeScript",
    quick: true,
    given: ["package-lock.json"],
    environment: () => ({
      npm_config_prefer_offline: "true",
      npm_config_audit: "false",
      npm_config_fund: "false",
    }),
    commands: (services) => [
      ["npx", "tsc", "-p", "."],
      ["npx", "tsx", "smoke.mts", ...PLAIN(services)],
    ],
  },
  python: {
    heading: "Python",
    quick: true,
    given: ["requirements.txt"],
    environment: (folder) => ({
      PATH: [path.join(folder, ".venv", "bin"), process.env.PATH].join(path.delimiter),
      PIP_CONSTRAINT: path.join(folder, "requirements.txt"),
    }),
    commands: (services) => [
      ["pip", "install", "--quiet", "--requirement", "requirements.txt"],
      ["mypy", "--strict", "--follow-imports", "silent", "ask.py", "smoke.py"],
      ["python", "smoke.py", ...PLAIN(services)],
    ],
  },
  go: {
    heading: "Go",
    quick: true,
    commands: (services) => [
      ["go", "vet", "./..."],
      ["go", "run", "./smoke", ...PLAIN(services)],
    ],
  },
  rust: {
    heading: "Rust",
    quick: false,
    given: ["Cargo.lock"],
    environment: () => ({ CARGO_TARGET_DIR: path.join(cache, "rust"), CARGO_BUILD_JOBS: "1" }),
    commands: (services) => [["cargo", "run", "--quiet", "--bin", "smoke", "--", ...PLAIN(services)]],
  },
  java: {
    heading: "Java",
    quick: false,
    given: ["pom.xml"],
    commands: (services) => [
      [
        "mvn",
        "--quiet",
        "--batch-mode",
        "compile",
        "exec:java",
        "-Dexec.mainClass=Smoke",
        `-Dexec.args=${PLAIN(services).join(" ")}`,
      ],
    ],
  },
  ruby: {
    heading: "Ruby",
    quick: false,
    commands: (services) => {
      const strict = ["ruby", "-w", "-r", "./strict", "-I", "client/lib"];
      return [
        [...strict, "ask.rb"],
        [...strict, "smoke.rb", ...PLAIN(services)],
      ];
    },
  },
};
