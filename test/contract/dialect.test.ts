import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Ajv } from "ajv";
import type { Document } from "openapi-backend";
import { dialects } from "../../handlers/dialects.ts";
import { handlers } from "../../handlers/index.ts";
import { createContract } from "../../src/contract/contract.ts";
import { forAjv } from "../../src/contract/openapi.ts";
import { assertValid, readDocument } from "./document.ts";

describe("every dialect", () => {
  for (const { name, handlers: own, modelNames: _, ...rules } of dialects) {
    const document = readDocument(name);

    it(`${name} has a document that is valid OpenAPI 3.0`, () => assertValid(document));

    it(`${name} has a handler for each operation, under its base path`, async () => {
      const parts = { document, handlers: own, services: {} as never, rules }; // no handler runs here
      const contract = await createContract({ ...parts, isLazy: true });
      assert.ok(contract.routes.length > 0);
      for (const { path } of contract.routes) assert.ok(path.startsWith(rules.basePath ?? ""), path);
      await assert.rejects(createContract({ ...parts, handlers: {} }), /Operations without a handler/);
    });

    it(`${name} shows examples that fit their schemas`, () => {
      const ajv = new Ajv({ strict: false, allErrors: true, discriminator: true, validateFormats: false });
      ajv.addSchema(forAjv(document as unknown as Document), "document"); // the committed document
      let shown = 0;
      const check = (node: unknown): void => {
        if (typeof node !== "object" || node === null) return;
        const { schema, examples, ...others } = node as Record<string, unknown>;
        for (const { value } of Object.values((examples ?? {}) as Record<string, { value: unknown }>)) {
          const text = JSON.stringify(schema).replaceAll('"#/', '"document#/');
          const validate = ajv.compile(forAjv(JSON.parse(text)));
          assert.ok(validate(value), `${ajv.errorsText(validate.errors)}: ${JSON.stringify(value)}`);
          shown += 1;
        }
        Object.values(others).forEach(check);
      };
      check(document);
      assert.ok(shown > 0);
    });
  }

  it("has operationIds of its own", () => {
    const ids = [handlers, ...dialects.map((dialect) => dialect.handlers)].flatMap((all) => Object.keys(all));
    assert.equal(new Set(ids).size, ids.length);
  });
});
