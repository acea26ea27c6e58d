import { readdir, readFile, writeFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import openapiTS, { astToString, type OpenAPI3 } from "openapi-typescript";
import { parse } from "yaml";
import { manifestSchema } from "../src/models/package/manifest-schema.ts";
import { configSchema } from "../src/options/config-file.ts";
import { tuningSchema } from "../src/tuning/tuning-file.ts";
import { conformancePage } from "./conformance-page.ts";
import { rootUrl } from "./root-url.ts";

/**
 * Writes the generated files: `generated/types.ts`, `generated/openapi.typed.json` and `generated/openapi.json` from
 * the contract, `generated/NAME.ts` and `generated/NAME.json` from the document of each dialect,
 * `generated/model-manifest.schema.json` from the schema of model packages, `generated/config.schema.json` from the
 * options, `generated/tuning.schema.json` from the schema of tuning files, `docs/conformance.md` from the checks.
 *
 *     node --import tsx scripts/generate.ts            writes
 *     node --import tsx scripts/generate.ts --check    exits 1 if a file is stale
 */

const DOCUMENTS = new URL("openapi/", rootUrl);

interface GeneratedFile {
  readonly url: URL;
  readonly text: string;
}

/** The expected generated files. The result is deterministic. */
async function generate(): Promise<readonly GeneratedFile[]> {
  const names = (await readdir(DOCUMENTS)).filter((name) => name.endsWith(".yaml")).sort();
  const documents = await Promise.all(names.map(generateFrom));
  const schemas = [
    generatedFile("model-manifest.schema.json", asJson(publicSchema(manifestSchema))),
    generatedFile("tuning.schema.json", asJson(publicSchema(tuningSchema))),
    generatedFile("config.schema.json", asJson(configSchema())),
  ];
  const page = { url: new URL("docs/conformance.md", rootUrl), text: conformancePage() };
  return [...documents.flat(), ...schemas, page];
}

/** Types and JSON of one document. The contract, openapi.yaml, has its types in types.ts and a second, plain form. */
async function generateFrom(file: string): Promise<readonly GeneratedFile[]> {
  const name = file.slice(0, -".yaml".length);
  const read = async (name: string) => parse(await readFile(new URL(name, DOCUMENTS), "utf8"));
  const document = bundled(await read(file), await read(CONTRACT));
  const typed = typedForm(document);
  const types = astToString(await openapiTS(structuredClone(typed), { immutable: true }));
  const header = `// Generated from openapi/${file} by \`npm run generate\`. Do not edit.\n\n`;
  const isContract = file === CONTRACT;
  return [
    generatedFile(isContract ? "types.ts" : `${name}.ts`, header + types),
    generatedFile(isContract ? `${name}.typed.json` : `${name}.json`, asJson(typed)),
    ...(isContract ? [generatedFile(`${name}.json`, asJson(plainForm(document)))] : []),
  ];
}

function generatedFile(name: string, text: string): GeneratedFile {
  return { url: new URL(`generated/${name}`, rootUrl), text };
}

const asJson = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

const CONTRACT = "openapi.yaml";
/** Member of a schema: what client generators get in its place. */
const IN_PLAIN = "x-plain";

/** A document as it is, for readers, validators and TypeScript. */
function typedForm(document: OpenApi): OpenApi {
  return JSON.parse(JSON.stringify(document, (name, value) => (name === IN_PLAIN ? undefined : value)));
}

/**
 * A document for client generators, some of which fail on unions that have no discriminator. It has no header
 * parameters either: generators make them arguments of every call.
 */
function plainForm(document: OpenApi): OpenApi {
  const simplified = (_name: string, value: unknown) => {
    if (!isObject(value) || !(IN_PLAIN in value)) return value;
    const { [IN_PLAIN]: plain, description } = value;
    return { description, ...(isObject(plain) ? plain : {}) };
  };
  const { components, ...simple } = JSON.parse(JSON.stringify(document, simplified));
  const { parameters: _, ...others } = components;
  for (const item of Object.values(simple.paths)) if (isObject(item)) delete item.parameters;
  return { ...simple, components: others };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * A document with copies of the components that it takes from the plain contract by `$ref:
 * openapi.yaml#/components/KIND/NAME`.
 */
function bundled(document: OpenApi, plain: OpenApi): OpenApi {
  const whole: OpenApi = JSON.parse(JSON.stringify(document).replaceAll(`"${CONTRACT}#/`, '"#/'));
  for (let isWhole = false; !isWhole; ) {
    isWhole = true;
    for (const [, kind = "", name = ""] of JSON.stringify(whole).matchAll(/"#\/components\/(\w+)\/(\w+)"/g)) {
      whole.components[kind] ??= {};
      if (whole.components[kind][name] !== undefined) continue;
      const taken = plain.components[kind]?.[name];
      if (taken === undefined) throw new Error(`neither document has components/${kind}/${name}`);
      whole.components[kind][name] = taken;
      isWhole = false;
    }
  }
  return whole;
}

/** An OpenAPI document, as far as it is used here. */
type OpenApi = OpenAPI3 & { readonly components: Record<string, Record<string, unknown>> };

/** A schema of files, converted to standard JSON Schema. */
function publicSchema(schema: unknown): unknown {
  return { $schema: "http://json-schema.org/draft-07/schema#", ...(standard(schema) as object) };
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
  const names = (await generate()).map(async ({ url, text }) => {
    const present = await readFile(url, "utf8").catch(() => undefined); // a missing file is stale too
    return present === text ? [] : [url.pathname.slice(rootUrl.pathname.length)];
  });
  return (await Promise.all(names)).flat();
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  if (process.argv.includes("--check")) {
    const stale = await staleFiles();
    if (stale.length > 0) console.error(`Stale: ${stale.join(", ")}. Run \`npm run generate\`.`);
    process.exitCode = Math.min(stale.length, 1);
  } else for (const { url, text } of await generate()) await writeFile(url, text);
}
