// Bundles the playground into dist/assets/playground: a page, a script and a style sheet. The latter two have a content
// hash in their names.
import { readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { build } from "esbuild";
import { root, writeAsset } from "./compile.mjs";

const SOURCE = path.join(root, "playground");
const TARGET = path.join(root, "dist/assets/playground");
const LIBRARIES = { preact: "LICENSE", "jsonc-parser": "LICENSE.md" };

const { outputFiles } = await build({
  absWorkingDir: SOURCE,
  entryPoints: { app: "main.tsx", style: "style.css" },
  entryNames: "[name]-[hash]",
  outdir: TARGET,
  bundle: true,
  minify: true,
  format: "esm",
  mainFields: ["module", "main"], // main: module first, since the CommonJS wrapper prevents tree shaking
  target: ["es2023", "chrome123", "firefox120", "safari17.5"], // the first versions with light-dark()
  legalComments: "none", // the licences are in separate files
  write: false,
  logLevel: "warning",
});
const nameOf = (ending) => path.basename(outputFiles.find((file) => file.path.endsWith(ending)).path);
const page = readFileSync(path.join(SOURCE, "index.html"), "utf8")
  .replace("SCRIPT", `playground/${nameOf(".js")}`)
  .replace("STYLE", `playground/${nameOf(".css")}`);
const licences = Object.entries(LIBRARIES).map(
  ([name, file]) =>
    `${name}\n\n${readFileSync(path.join(root, "node_modules", name, file), "utf8").trim()}\n`,
);

const fresh = new Map([
  ...outputFiles.map((file) => [path.basename(file.path), file.contents]),
  ["LICENSES.txt", licences.join("\n\n")],
  ["index.html", page], // last, because it refers to the others
]);
for (const [name, content] of fresh) writeAsset(path.join("playground", name), content);
for (const name of readdirSync(TARGET)) {
  if (!fresh.has(name) && !/\.\d+$/.test(name)) rmSync(path.join(TARGET, name));
}
