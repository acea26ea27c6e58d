import type { Document } from "openapi-backend";
import { isRecord } from "../records.ts";

/**
 * A copy of the document, adapted to ajv.
 *
 * - Without `mapping` of discriminators, which client generators need but ajv refuses. The one-value enums have the
 *   same effect.
 * - With `type: object` in unions, because ajv applies a discriminator to objects only and accepts any other value.
 * - With a union of types as one schema of all their keywords, each of which applies to one type: so an error concerns
 *   the type that was sent, not every member.
 * - Without `security`, because the server checks keys before the body is read.
 */
export function forAjv(document: Document): Document {
  return adapted(document) as Document; // the same shape
}

function adapted(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(adapted);
  if (!isRecord(node)) return node;
  const copy = Object.fromEntries(
    Object.entries(node)
      .filter(([name]) => name !== "security")
      .map(([name, value]) => [name, adapted(value)]),
  );
  if (isRecord(node.discriminator))
    return { ...copy, type: "object", discriminator: { propertyName: node.discriminator.propertyName } };
  return { ...copy, ...unionOfTypes(copy) };
}

/** The members of a union of different types, as one schema. */
function unionOfTypes({ oneOf }: Readonly<Record<string, unknown>>): object {
  if (!Array.isArray(oneOf)) return {};
  const types = oneOf.map((member) => member.type);
  if (new Set(types).size < types.length || types.includes(undefined)) return {};
  return { ...Object.assign({}, ...oneOf), oneOf: undefined, type: types };
}
