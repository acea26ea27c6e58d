import { readFile } from "node:fs/promises";
import path from "node:path";
import { Ajv, type ValidateFunction } from "ajv";
import { packageRoot } from "../../../src/package-root.ts";
import type { Reply } from "./client/exchange.ts";
import { at, isList, isMap, type Json, namesOf, readJson, show, toPlain } from "./client/json.ts";

/** A generated OpenAPI document of the contract or of a dialect. */
interface ContractDocument extends Schemas {
  readonly json: Json;
}

/** The contract, and the documents of the dialects. */
export type DocumentName = "openapi" | "openapi.typed" | "typesafe" | "rerank";

const loaded = new Map<DocumentName, Promise<ContractDocument>>();

/** A document of this package, read when first needed and then kept. */
export function ownContract(name: DocumentName = "openapi"): Promise<ContractDocument> {
  const known = loaded.get(name) ?? load(name);
  loaded.set(name, known);
  return known;
}

/** A server may do without it. */
const OPTIONAL_PATH = "/openapi.typed.json";

/** The paths of the contract that a served document must have. */
export function pathsOf(contract: Json, served: Json | undefined): readonly string[] {
  const hasOptional = at(served, "paths", OPTIONAL_PATH) !== undefined;
  return namesOf(at(contract, "paths")).filter((path) => path !== OPTIONAL_PATH || hasOptional);
}

async function load(name: DocumentName): Promise<ContractDocument> {
  const json = readJson(await readFile(path.join(packageRoot, `generated/${name}.json`), "utf8"));
  if (json === undefined) throw new Error(`generated/${name}.json is not valid JSON`);
  return { json, ...schemasOf(json) };
}

/** Schemas of an OpenAPI document. */
interface Schemas {
  /** Describes how the value violates the named schema; undefined if it fits. */
  misfit(schema: string, value: Json): string | undefined;
  /** The same for the schema at a path of the document: `paths`, `/health`, `get`, ... */
  misfitAt(place: readonly string[], value: Json): string | undefined;
}

/** Validators for the schemas of a document, compiled on first use. `format` and discriminator mappings are ignored. */
export function schemasOf(document: Json): Schemas {
  const ajv = new Ajv({ strict: false, allErrors: false, validateFormats: false, discriminator: true });
  ajv.addSchema(withoutMappings(toPlain(document)), "contract");
  const compiled = new Map<string, ValidateFunction>();
  const misfitAt = (place: readonly string[], value: Json) => {
    const pointer = place.map((step) => step.replaceAll("~", "~0").replaceAll("/", "~1")).join("/");
    let validate = compiled.get(pointer);
    if (validate === undefined) {
      if (at(document, ...place) === undefined) throw new Error(`no schema ${pointer}`);
      validate = ajv.compile({ $ref: `contract#/${encodeURI(pointer)}` });
      compiled.set(pointer, validate);
    }
    if (validate(toPlain(value))) return undefined;
    const [error] = validate.errors ?? [];
    const extra = error?.params.additionalProperty;
    return `${error?.instancePath || "the body"} ${error?.message}${extra === undefined ? "" : `: ${extra}`}`;
  };
  return { misfitAt, misfit: (schema, value) => misfitAt(["components", "schemas", schema], value) };
}

/** Removes discriminator mappings, which client generators need but ajv refuses. */
function withoutMappings(value: unknown): object {
  const text = JSON.stringify(value, (name, member) =>
    name === "discriminator" && typeof member?.propertyName === "string"
      ? { propertyName: member.propertyName }
      : member,
  );
  return JSON.parse(text);
}

/**
 * Describes how an answer differs from what a document declares; undefined if it fits.
 *
 * @param operation the operation's place in the document: `paths`, a path, a method
 * @param isStrict whether an undeclared status or a missing schema is a misfit too
 */
export function misfitOf(
  document: Json,
  schemas: Schemas,
  operation: readonly string[],
  { status, json }: Reply,
  isStrict: boolean,
): string | undefined {
  const place = [...operation, "responses", String(status)];
  const given = at(document, ...place);
  if (given === undefined) return isStrict ? "a status that the document does not have" : undefined;
  const body = [...placeOf(document, place), "content", "application/json"];
  if (at(document, ...body, "schema") === undefined)
    return isStrict && isMap(given) ? "no schema" : undefined;
  if (json === undefined) return "no JSON";
  try {
    return schemas.misfitAt([...body, "schema"], json);
  } catch (error) {
    return isStrict ? `an invalid schema: ${error instanceof Error ? error.message : error}` : undefined;
  }
}

/** The same place, or the one that a `$ref` there points to. */
export function placeOf(document: Json, place: readonly string[]): readonly string[] {
  const reference = at(document, ...place, "$ref");
  if (typeof reference !== "string") return place;
  return reference
    .replace(/^#\//, "")
    .split("/")
    .map((step) => decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Keywords left out of the comparison: descriptive, or specific to one server. */
const WORDS = new Set(["description", "title", "summary", "example", "examples", "default", "externalDocs"]);

/** Describes the first difference between two documents or schemas; undefined if they differ in descriptions only. */
export function difference(
  wanted: Json | undefined,
  served: Json | undefined,
  place: readonly string[],
): string | undefined {
  const where = place.join("/");
  if (isMap(wanted) && isMap(served)) {
    // under `properties`, names such as `title` are members, not keywords
    const isOfNames = ["properties", "schemas"].includes(place.at(-1) ?? "");
    const isSaid = (name: string) => !isOfNames && (WORDS.has(name) || name.startsWith("x-"));
    for (const name of new Set([...wanted.keys(), ...served.keys()])) {
      if (isSaid(name)) continue;
      const found = difference(wanted.get(name), served.get(name), [...place, name]);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (isList(wanted) && isList(served)) {
    const inOrder = ["required", "enum"].includes(place.at(-1) ?? "")
      ? [wanted, served].map(sorted)
      : [wanted, served];
    const [one = [], other = []] = inOrder;
    for (let index = 0; index < Math.max(one.length, other.length); index += 1) {
      const found = difference(one[index], other[index], [...place, String(index)]);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  return wanted === served ? undefined : `${where} is ${show(served)}, in the contract ${show(wanted)}`;
}

function sorted(list: readonly Json[]): readonly Json[] {
  return list.toSorted((one, other) => (String(one) < String(other) ? -1 : 1));
}
