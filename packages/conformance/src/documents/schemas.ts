import { Ajv, type ValidateFunction } from "ajv";
import { at, type Json, toPlain } from "../client/json.ts";

/** Schemas of an OpenAPI document. */
export interface Schemas {
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
