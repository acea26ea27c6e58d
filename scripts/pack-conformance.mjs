// Packs @typed-decisions/conformance: the checks and their command, bundled from src/ with the parts of other packages
// that they use.
//
//     node scripts/pack-conformance.mjs [FOLDER]     writes the .tgz into FOLDER (default: the current one)
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

const ROOT = path.join(import.meta.dirname, "..");
const ENTRIES = {
  main: "packages/conformance/src/command/main.ts",
  index: "packages/conformance/src/index.ts",
};

/** @returns the path of the packed file */
export async function packConformance(destination) {
  const folder = mkdtempSync(path.join(tmpdir(), "pack-conformance-"));
  try {
    cpSync(path.join(ROOT, "packages/conformance"), folder, { recursive: true });
    const { version } = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8"));
    const manifest = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
    if (manifest.version !== version)
      throw new Error(
        `packages/conformance/package.json has version ${manifest.version}, package.json has ${version}`,
      );
    mkdirSync(path.join(folder, "generated"));
    const documents = ["openapi", "openapi.typed", "typesafe", "rerank"].map(
      (name) => `generated/${name}.json`,
    );
    for (const name of ["LICENSE", "NOTICE", ...documents])
      cpSync(path.join(ROOT, name), path.join(folder, name));
    const inputs = await bundle(path.join(folder, "dist"));
    writeFileSync(path.join(folder, "THIRD_PARTY_LICENSES"), licences(inputs));
    mkdirSync(destination, { recursive: true });
    const packed = execFileSync("npm", ["pack", "--json", "--pack-destination", path.resolve(destination)], {
      cwd: folder,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
    });
    return path.resolve(destination, JSON.parse(packed)[0].filename);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Bundles the program. @returns the bundled input files */
async function bundle(outdir) {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: ENTRIES,
    outdir,
    bundle: true,
    splitting: true,
    platform: "node",
    target: "node20",
    format: "esm",
    metafile: true,
    // CommonJS packages load Node's modules with `require`
    banner: {
      js: 'import { createRequire as __from } from "node:module"; const require = __from(import.meta.url);',
    },
    logLevel: "warning",
  });
  return Object.keys(metafile.inputs);
}

/** The licences of all packages in the bundle. */
function licences(inputs) {
  const found = inputs.flatMap((input) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1] ?? []);
  const texts = [...new Set(found)].toSorted().map((folder) => {
    const { name, version, license } = JSON.parse(
      readFileSync(path.join(ROOT, folder, "package.json"), "utf8"),
    );
    return `${name} ${version} (${license})\n\n${licenceText(path.join(ROOT, folder))}`;
  });
  return texts.join(`\n${"-".repeat(80)}\n\n`);
}

function licenceText(folder) {
  for (const name of ["LICENSE", "LICENSE.md", "LICENSE.txt", "LICENCE", "license", "License"])
    try {
      return readFileSync(path.join(folder, name), "utf8").trim();
    } catch {
      // try the next name
    }
  throw new Error(`${folder} has no licence file`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href)
  console.log(await packConformance(process.argv[2] ?? "."));
