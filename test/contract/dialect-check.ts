import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { Ajv } from "ajv";
import type { Document } from "openapi-backend";
import { forAjv } from "../../src/contract/schema.ts";
import { packageRoot } from "../support/package-root.ts";

type Json = Readonly<Record<string, unknown>>;
const at = (node: unknown, ...steps: readonly string[]): unknown =>
  steps.reduce<unknown>((place, step) => (place as Json | undefined)?.[step], node);

/** The committed document of a dialect. */
export function dialectDocument(name: string): Json {
  return JSON.parse(readFileSync(path.join(packageRoot, `generated/${name}.json`), "utf8"));
}

/**
 * A check that an answer is one that a dialect's document declares: status, required headers, body.
 *
 * @param name of the dialect
 */
export function dialectCheck(name: string) {
  const document = dialectDocument(name);
  const ajv = new Ajv({ strict: false, allErrors: true, discriminator: true, validateFormats: false });
  ajv.addSchema(forAjv(document as unknown as Document), "document"); // the committed document
  const resolve = (node: unknown): unknown => {
    const reference = at(node, "$ref");
    return typeof reference === "string" ? at(document, ...reference.split("/").slice(1)) : node;
  };
  return (operationId: string, status: number, headers: Json, body: unknown): void => {
    const operations = Object.values(document.paths as Json).flatMap((item) => Object.values(item as Json));
    const operation = operations.find((one) => at(one, "operationId") === operationId);
    const answer = resolve(at(operation, "responses", String(status)));
    assert.ok(answer, `${operationId} does not declare status ${status}`);
    for (const [header, declared] of Object.entries((at(answer, "headers") ?? {}) as Json)) {
      if (at(resolve(declared), "required") === true) {
        assert.notEqual(headers[header], undefined, `${operationId} ${status} lacks the header ${header}`);
      }
    }
    const schema = JSON.stringify(at(answer, "content", "application/json", "schema"));
    const validate = ajv.compile(forAjv(JSON.parse(schema.replaceAll('"#/', '"document#/'))));
    assert.ok(validate(body), `body of ${operationId} ${status}: ${ajv.errorsText(validate.errors)}`);
  };
}
