import type { Document } from "openapi-backend";

/**
 * A copy of the document that ajv takes as it is meant.
 *
 * - ajv refuses a discriminator's `mapping`, which client generators need; the one-value enums say the same.
 * - With a discriminator ajv looks at objects only and lets everything else pass: unions get `type: object`.
 * - Keys are checked by the server before the body is read, not here: no security.
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
  if (!isRecord(node.discriminator)) return copy;
  return { ...copy, type: "object", discriminator: { propertyName: node.discriminator.propertyName } };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
