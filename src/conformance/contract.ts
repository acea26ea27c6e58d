import { readFile } from "node:fs/promises";
import path from "node:path";
import { Ajv, type ValidateFunction } from "ajv";
import { packageRoot } from "../package-root.ts";
import { at, type Json, readJson, toPlain } from "./json.ts";

/** The contract's own document, as it is generated. */
export interface ContractDocument {
  readonly json: Json;
  /** What does not fit the named schema, in words; undefined where everything fits. */
  misfit(schema: string, value: Json): string | undefined;
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
  // what the document says beyond JSON Schema (formats, nullable, mappings) is not for the validator
  const ajv = new Ajv({ strict: false, allErrors: false, validateFormats: false, discriminator: true });
  ajv.addSchema(withoutMappings(toPlain(json)), "contract");
  const compiled = new Map<string, ValidateFunction>();
  return {
    json,
    misfit(schema, value) {
      let validate = compiled.get(schema);
      if (validate === undefined) {
        if (at(json, "components", "schemas", schema) === undefined) throw new Error(`no schema ${schema}`);
        validate = ajv.compile({ $ref: `contract#/components/schemas/${schema}` });
        compiled.set(schema, validate);
      }
      if (validate(toPlain(value))) return undefined;
      const [error] = validate.errors ?? [];
      const extra = error?.params.additionalProperty;
      return `${error?.instancePath || "the body"} ${error?.message}${extra === undefined ? "" : `: ${extra}`}`;
    },
  };
}

/** ajv's `discriminator` refuses a mapping, which client generators want. */
function withoutMappings(value: unknown): object {
  const text = JSON.stringify(value, (name, member) =>
    name === "discriminator" ? { propertyName: member.propertyName } : member,
  );
  return JSON.parse(text);
}
