import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Ajv } from "ajv";
import { viewerOf } from "../../src/json/views.ts";
import { parseJson } from "./parse-json.ts";

const document = {
  components: {
    schemas: {
      Any: { description: "Any JSON value." },
      Body: {
        type: "object",
        additionalProperties: false,
        required: ["state"],
        properties: {
          state: { $ref: "#/components/schemas/Any" },
          model: { type: "string" },
          size: { type: "number" },
          tags: { type: "array", maxItems: 2, items: { type: "string" } },
          questions: {
            type: "object",
            maxProperties: 3,
            additionalProperties: { $ref: "#/components/schemas/Question" },
          },
          either: { oneOf: [{ type: "string" }, { type: "array", items: {} }] },
        },
      },
      Question: {
        oneOf: [{ $ref: "#/components/schemas/Left" }, { $ref: "#/components/schemas/Right" }],
        discriminator: { propertyName: "type" },
      },
      Left: {
        type: "object",
        additionalProperties: false,
        required: ["type"],
        properties: {
          type: { type: "string", enum: ["left"] },
          criteria: { type: "object", additionalProperties: {} },
        },
      },
      Right: {
        type: "object",
        additionalProperties: false,
        required: ["type"],
        properties: { type: { type: "string", enum: ["right"] }, levels: { type: "array", items: {} } },
      },
    },
  },
};
const bodySchema = document.components.schemas.Body;
const viewer = viewerOf(bodySchema, document);
const views = (text: string) => viewer(parseJson(text));
const convert = (text: string) => views(text).plain;
/** Plain data in the text form of JSON, Maps shown as what they are. */
const show = (value: unknown) =>
  JSON.stringify(value, (_, item: unknown) =>
    item instanceof Map ? `Map ${[...item.keys()].join()}` : item,
  );

describe("the plain view", () => {
  const cases: [name: string, text: string, want: string][] = [
    ["any JSON passes as it is", '{"state":{"a":1}}', '{"state":"Map a"}'],
    ["numbers become numbers where the schema types them", '{"size":2.50}', '{"size":2.5}'],
    ["an object where a string belongs becomes an empty one", '{"model":{"a":{"b":1}}}', '{"model":{}}'],
    ["an array where a string belongs becomes an empty one", '{"model":[1,[2]]}', '{"model":[]}'],
    ["an array where an object belongs becomes an empty one", '{"questions":[1]}', '{"questions":[]}'],
    ["an array keeps one item over its bound", '{"tags":["a","b","c","d"]}', '{"tags":["a","b","c"]}'],
    [
      "a map keeps one member over its bound",
      '{"questions":{"a":1,"b":1,"c":1,"d":1,"e":1}}',
      '{"questions":{"a":1,"b":1,"c":1,"d":1}}',
    ],
    [
      "a union follows its discriminator",
      '{"questions":{"q":{"type":"left","criteria":{"x":{}}}}}',
      '{"questions":{"q":{"type":"left","criteria":{"x":"Map "}}}}',
    ],
    [
      "a union with an unknown tag keeps the tag",
      '{"questions":{"q":{"type":"up"}}}',
      '{"questions":{"q":{"type":"up"}}}',
    ],
    ["a union without discriminator goes by kind", '{"either":[{}]}', '{"either":["Map "]}'],
  ];
  for (const [name, text, want] of cases) it(name, () => assert.equal(show(convert(text)), want));

  it("makes __proto__ and constructor plain members", () => {
    const plain = convert('{"questions":{"__proto__":null,"constructor":null}}');
    const questions: unknown = Reflect.get(Object(plain), "questions");
    assert.deepEqual(Object.keys(Object(questions)), ["__proto__", "constructor"]);
    assert.equal(Object.getPrototypeOf(questions), null);
  });

  it("never walks into what the schema does not look at", () => {
    const wide = `{${Array.from({ length: 100_000 }, (_, i) => `"${i}":{}`).join()}}`;
    for (const text of [wide, `{"model":${wide}}`, `{"questions":${wide}}`, `{"questions":{"q":${wide}}}`]) {
      assert.ok((show(convert(text)) ?? "").length < 1000);
    }
  });

  it("refuses a reference to nothing", () =>
    assert.throws(() => viewerOf({ $ref: "#/components/schemas/None" }, document), /nothing at/));

  const judged: [text: string, keyword: string | undefined][] = [
    ['{"state":{"a":1},"questions":{"__proto__":{"type":"left"}}}', undefined],
    ['{"state":1,"__proto__":1}', "additionalProperties"],
    ['{"state":1,"questions":{"a":{},"b":{},"c":{},"d":{}}}', "maxProperties"],
    ['{"state":1,"questions":{"a":{"type":"up"}}}', "discriminator"],
  ];
  it("shows ajv what is wrong", () => {
    const ajv = new Ajv({ discriminator: true, strict: false });
    const validate = ajv.compile({ ...document, $ref: "#/components/schemas/Body" });
    for (const [text, keyword] of judged) {
      validate(convert(text));
      assert.equal(validate.errors?.[0]?.keyword, keyword, text);
    }
  });
});

describe("the ordered view", () => {
  it("has the caller's own names in the order sent, integer-like ones too, and all else as the plain view has it", () => {
    const { ordered } = views(
      '{"state":{"a":1},"size":2.50,"questions":{"10":{"type":"right","levels":[1]},"2":1}}',
    );
    const { state, questions, ...others } = ordered as Record<string, unknown>;
    assert.ok(state instanceof Map && questions instanceof Map);
    assert.deepEqual([...questions.keys()], ["10", "2"]);
    assert.equal(questions.get("10").type, "right");
    assert.deepEqual(others, { size: 2.5 });
  });

  it("has __proto__ as a member like any other", () => {
    const { ordered } = views('{"questions":{"__proto__":{"type":"left","criteria":{"__proto__":1}}}}');
    const { questions } = ordered as {
      questions: ReadonlyMap<string, { criteria: ReadonlyMap<string, unknown> }>;
    };
    assert.deepEqual([...(questions.get("__proto__")?.criteria.keys() ?? [])], ["__proto__"]);
  });
});
