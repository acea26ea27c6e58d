import { readFile } from "node:fs/promises";
import path from "node:path";
import { packageRoot } from "../package-root.ts";
import { type Json, readJson } from "./json.ts";
import { type Schemas, schemasOf } from "./schemas.ts";

/** The contract's own document, as it is generated. */
export interface ContractDocument extends Schemas {
  readonly json: Json;
}

let loaded: Promise<ContractDocument> | undefined;

/** The contract that this package comes with, read once; most of the profile `seed` needs none of it. */
export function ownContract(): Promise<ContractDocument> {
  loaded ??= load();
  return loaded;
}

async function load(): Promise<ContractDocument> {
  const json = readJson(await readFile(path.join(packageRoot, "generated/openapi.json"), "utf8"));
  if (json === undefined) throw new Error("generated/openapi.json is no JSON");
  return { json, ...schemasOf(json) };
}
