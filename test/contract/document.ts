import { readFileSync } from "node:fs";
import path from "node:path";
import { type Document, OpenAPIBackend } from "openapi-backend";
import { forAjv } from "../../src/contract/openapi.ts";
import { packageRoot } from "../support/package-root.ts";

interface Described {
  readonly description?: string;
}
export interface Schema extends Described {
  readonly [keyword: string]: unknown;
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
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly headers: Readonly<Record<string, Header>>;
  };
}
type PathItem = { readonly parameters?: unknown } & Readonly<Record<string, Operation>>;
type Json = Readonly<Record<string, unknown>>;

/** A committed document: of a dialect, `openapi` for generators, or `openapi.typed`. */
export function readDocument(name: string): Json {
  return JSON.parse(readFileSync(path.join(packageRoot, `generated/${name}.json`), "utf8"));
}

/** The contract, as the service is given it. */
export const document = readDocument("openapi.typed");

/** The same with headers, answers and examples in place of references to them; schemas keep theirs. */
export const resolvedDocument = resolvedFrom(document);

export const operations = operationsOf(resolvedDocument);

export function resolvedFrom(document: Json): ContractDocument {
  return resolved(document, document) as ContractDocument; // the committed documents have these parts
}

export function operationsOf({ paths }: ContractDocument): readonly Operation[] {
  return Object.values(paths).flatMap(({ parameters: _, ...item }) => Object.values(item));
}

function resolved(node: unknown, document: Json): unknown {
  if (Array.isArray(node)) return node.map((item) => resolved(item, document));
  if (!isRecord(node)) return node;
  if (typeof node.$ref === "string" && !node.$ref.startsWith("#/components/schemas/")) {
    return resolved(lookUp(node.$ref, document), document);
  }
  return Object.fromEntries(Object.entries(node).map(([name, value]) => [name, resolved(value, document)]));
}

function lookUp(reference: string, document: Json): unknown {
  return reference
    .split("/")
    .slice(1)
    .reduce<unknown>((place, name) => (isRecord(place) ? place[name] : undefined), document);
}

function isRecord(value: unknown): value is Json {
  return typeof value === "object" && value !== null;
}

/** @throws unless the document is valid OpenAPI 3.0, and ajv takes what the service makes of its schemas */
export async function assertValid(document: Json): Promise<void> {
  const definition = document as unknown as Document; // what is being tested
  Object.assign(new OpenAPIBackend({ definition }), { document: definition }).validateDefinition();
  const adapted = { definition: forAjv(definition), strict: true, quick: true };
  await new OpenAPIBackend({ ...adapted, ajvOpts: { discriminator: true } }).init();
}
