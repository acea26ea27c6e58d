import { readFile } from "node:fs/promises";
import path from "node:path";
import { packageRoot } from "../../package-root.ts";
import { type Json, readJson } from "../client/json.ts";
import { type Schemas, schemasOf } from "./schemas.ts";

/** A generated OpenAPI document of the contract or of a dialect. */
export interface ContractDocument extends Schemas {
  readonly json: Json;
}

/** The contract, and the documents of the dialects. */
export type DocumentName = "openapi" | "typesafe" | "rerank";

const loaded = new Map<DocumentName, Promise<ContractDocument>>();

/** A document of this package, read when first needed and then kept. */
export function ownContract(name: DocumentName = "openapi"): Promise<ContractDocument> {
  const known = loaded.get(name) ?? load(name);
  loaded.set(name, known);
  return known;
}

async function load(name: DocumentName): Promise<ContractDocument> {
  const json = readJson(await readFile(path.join(packageRoot, `generated/${name}.json`), "utf8"));
  if (json === undefined) throw new Error(`generated/${name}.json is not valid JSON`);
  return { json, ...schemasOf(json) };
}
