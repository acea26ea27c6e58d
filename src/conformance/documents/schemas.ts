import { Ajv, type ValidateFunction } from "ajv";
import { at, type Json, toPlain } from "../client/json.ts";

/** Schemas of an OpenAPI document. */
export interface Schemas {
  /** What does not fit the named schema, in words; undefined where everything fits. */
  misfit(schema: string, value: Json): string | undefined;
  /** The same of the schema at this path of the document: `paths`, `/health`, `get`, ... */
  misfitAt(place: readonly string[], value: Json): string | undefined;
}

/** Reads what JSON Schema can say; formats and mappings are for people and generators. Compiles a schema when it is first asked for. */
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
  return {
    misfitAt,
    misfit: (schema, value) => misfitAt(["components", "schemas", schema], value),
  };
}

/** ajv's `discriminator` refuses a mapping, which client generators want. */
function withoutMappings(value: unknown): object {
  const text = JSON.stringify(value, (name, member) =>
    name === "discriminator" && typeof member?.propertyName === "string"
      ? { propertyName: member.propertyName }
      : member,
  );
  return JSON.parse(text);
}
