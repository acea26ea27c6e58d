// What the check needs to know of each language beside clients/README.md.
import path from "node:path";

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
};
