import { readFile } from "node:fs/promises";
import path from "node:path";
import { packageRoot } from "../support/package-root.ts";

interface Described {
  readonly description?: string;
}
export interface Schema extends Described {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
}
export interface Header extends Described {
  readonly required?: boolean;
  readonly schema: Schema;
  readonly example?: unknown;
}
export interface Media {
  readonly schema: Schema;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}
export interface Answer extends Described {
  readonly headers: Readonly<Record<string, Header>>;
  readonly content: Readonly<Record<string, Media>>;
}
export interface Operation extends Described {
  readonly operationId: string;
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, Answer>>;
}
export interface ContractDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const text = await readFile(path.join(packageRoot, "generated/openapi.json"), "utf8");

/** The bundled contract, as the service is given it. */
export const document: Readonly<Record<string, unknown>> = JSON.parse(text);

/** The same with headers, answers and examples in place of references to them; schemas keep theirs. */
export const resolvedDocument = resolved(document) as unknown as ContractDocument; // openapi.yaml has these parts

export const operations: readonly Operation[] = Object.values(resolvedDocument.paths).flatMap((item) =>
  Object.values(item),
);

function resolved(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(resolved);
  if (!isRecord(node)) return node;
  if (typeof node.$ref === "string" && !node.$ref.startsWith("#/components/schemas/")) {
    return resolved(lookUp(node.$ref));
  }
  return Object.fromEntries(Object.entries(node).map(([name, value]) => [name, resolved(value)]));
}

function lookUp(reference: string): unknown {
  return reference
    .split("/")
    .slice(1)
    .reduce<unknown>((place, name) => (isRecord(place) ? place[name] : undefined), document);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
