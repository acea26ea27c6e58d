/** A JSON object of the contract's document. */
export type Schema = Readonly<Record<string, unknown>>;

/** A longer chain of $refs is taken as a cycle. Chosen. */
const MAX_CHAIN = 64;
/** Keywords left out: those of OpenAPI only, or for client generators only. */
const LEFT_OUT = new Set(["discriminator", "format", "nullable", "example"]);

/**
 * Converts a schema of an OpenAPI 3.0 document to JSON Schema (draft 2020-12) without $refs, because some model APIs to
 * which hosts pass tool schemas do not resolve them.
 *
 * @param document the document that $refs point into
 * @throws Error for an unresolvable or cyclic $ref
 */
export function toJsonSchema(schema: unknown, document: Schema): Schema {
  const converted = convert(schema, document, 0);
  if (!isSchema(converted)) throw new Error("A schema of the contract is not an object.");
  return converted;
}

function convert(node: unknown, document: Schema, hops: number): unknown {
  if (hops > MAX_CHAIN) throw new Error("A schema of the contract refers to itself.");
  if (Array.isArray(node)) return node.map((item) => convert(item, document, hops + 1));
  if (!isSchema(node)) return node;
  if (typeof node.$ref === "string") return convert(lookUp(node.$ref, document), document, hops + 1);
  const members = Object.entries(node).flatMap(([name, value]) => {
    if (LEFT_OUT.has(name)) return [];
    // under `properties`, keys are member names, not keywords
    const converted =
      name === "properties" && isSchema(value)
        ? mapValues(value, (property) => convert(property, document, hops + 1))
        : convert(value, document, hops + 1);
    return [[name, converted] as const];
  });
  const copy = Object.fromEntries(members);
  return node.nullable === true ? { ...copy, type: [node.type, "null"] } : copy;
}

/** Resolves a local JSON pointer (RFC 6901) such as `#/components/schemas/Question`. */
function lookUp(pointer: string, document: Schema): unknown {
  const steps = pointer.split("/").slice(1);
  const found = steps.reduce<unknown>(
    (node, step) => (isSchema(node) ? node[step.replaceAll("~1", "/").replaceAll("~0", "~")] : undefined),
    document,
  );
  if (found === undefined) throw new Error(`The contract has nothing at ${pointer}.`);
  return found;
}

function mapValues(object: Schema, change: (value: unknown) => unknown): Schema {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]));
}

export function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
