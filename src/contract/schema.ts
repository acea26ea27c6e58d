import type { Document } from "openapi-backend";

/**
 * A copy of the document, adapted to ajv.
 *
 * - Without `mapping` of discriminators, which client generators need but ajv refuses. The one-value enums have the same effect.
 * - With `type: object` in unions, because ajv applies a discriminator to objects only and accepts any other value.
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
  if (!isRecord(node.discriminator)) return copy;
  return { ...copy, type: "object", discriminator: { propertyName: node.discriminator.propertyName } };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
