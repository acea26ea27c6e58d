import { readFile } from "node:fs/promises";
import path from "node:path";
import { packageRoot } from "../../../../src/package-root.ts";
import { at, type Json, namesOf, readJson } from "../client/json.ts";
import { type Schemas, schemasOf } from "./schemas.ts";

/** A generated OpenAPI document of the contract or of a dialect. */
export interface ContractDocument extends Schemas {
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
