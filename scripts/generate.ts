import { readFile, writeFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import openapiTS, { astToString } from "openapi-typescript";
import { parse } from "yaml";
import { manifestSchema } from "../src/models/package/manifest-schema.ts";
import { configSchema } from "../src/options/config-file.ts";
import { rootUrl } from "./root-url.ts";

/**
 * Writes the generated files: `generated/types.ts` and `generated/openapi.json` from the contract,
 * `generated/model-manifest.schema.json` from the schema of model packages, `generated/config.schema.json` from the options.
 *
 *     node --import tsx scripts/generate.ts            writes
 *     node --import tsx scripts/generate.ts --check    exits 1 if a file is stale
 */

const CONTRACT = new URL("openapi/openapi.yaml", rootUrl);
const TYPES = new URL("generated/types.ts", rootUrl);
const DOCUMENT = new URL("generated/openapi.json", rootUrl);
const MANIFEST_SCHEMA = new URL("generated/model-manifest.schema.json", rootUrl);

const CONFIG_SCHEMA = new URL("generated/config.schema.json", rootUrl);

const TYPES_HEADER = "// Generated from openapi/openapi.yaml by `npm run generate`. Do not edit.\n\n";

export interface GeneratedFile {
  readonly url: URL;
  readonly text: string;
}

/** The expected generated files. The result is deterministic. */
export async function generate(): Promise<readonly GeneratedFile[]> {
  const document = parse(await readFile(CONTRACT, "utf8"));
  const types = astToString(await openapiTS(structuredClone(document), { immutable: true }));
  return [
    { url: TYPES, text: TYPES_HEADER + types },
    { url: DOCUMENT, text: `${JSON.stringify(document, null, 2)}\n` },
    { url: MANIFEST_SCHEMA, text: `${JSON.stringify(publicSchema(), null, 2)}\n` },
    { url: CONFIG_SCHEMA, text: `${JSON.stringify(configSchema(), null, 2)}\n` },
  ];
}

/** The schema of manifest.json in standard JSON Schema. */
function publicSchema(): unknown {
  return { $schema: "http://json-schema.org/draft-07/schema#", ...(standard(manifestSchema) as object) };
}

/** Removes the two keywords that exist only in OpenAPI. `oneOf` is equivalent to the discriminator. */
function standard(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(standard);
  if (typeof schema !== "object" || schema === null) return schema;
  const { discriminator: _, nullable, ...rest } = schema as Record<string, unknown>;
  const entries = Object.entries(rest).map(([name, value]) => [name, standard(value)]);
  const plain = Object.fromEntries(entries);
  return nullable === true ? { ...plain, type: [plain.type, "null"] } : plain;
}

/** Names of the generated files on disk that differ from the expected ones. */
export async function staleFiles(): Promise<readonly string[]> {
  const stale: string[] = [];
  for (const { url, text } of await generate()) {
    const present = await readFile(url, "utf8").catch(() => undefined); // a missing file is stale too
    if (present !== text) stale.push(url.pathname.slice(rootUrl.pathname.length));
  }
  return stale;
}

async function main(): Promise<void> {
  if (!process.argv.includes("--check")) {
    for (const { url, text } of await generate()) await writeFile(url, text);
    return;
  }
  const stale = await staleFiles();
  if (stale.length === 0) return;
  console.error(`Stale: ${stale.join(", ")}. Run \`npm run generate\`.`);
  process.exitCode = 1;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await main();
