import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EXAMPLES } from "../../playground/examples.ts";
import { fromFragment, toFragment } from "../../playground/link.ts";
import { fieldIds, fieldOf, spanOf } from "../../playground/places.ts";
import { parseText, toForm } from "../../playground/read-form.ts";
import { EMPTY_FORM, type Form, newQuestion, type Operation, row, toBody } from "../../playground/request.ts";

function formOf(text: string, operation: Operation = "systemone"): Form {
  const form = toForm(text, operation);
  assert.ok(typeof form !== "string", String(form));
  return form;
}

describe("the form of a request", () => {
  for (const { name, operation, body } of EXAMPLES) {
    it(`sends what the example holds: ${name}`, () => {
      assert.deepEqual(JSON.parse(toBody(formOf(body, operation))), JSON.parse(body));
    });
  }

  it("keeps the order of names like numbers, equal names, and digits of a structured state", () => {
    const text = `{
  "state": {
    "10": 1.0,
    "2": 12345678901234567890
  },
  "questions": {
    "10": {
      "type": "choice",
      "instructions": "What?",
      "criteria": {
        "2": null,
        "1": "one",
        "1": "two"
      }
    }
  }
}`;
    assert.equal(toBody(formOf(text)), text);
  });

  it("sends a state that only looks like JSON as a text", () => {
    for (const state of ["{not json}", "[1,]", '{"a": 1} and more', "5", ""]) {
      assert.equal(JSON.parse(toBody({ ...EMPTY_FORM, state })).state, state);
    }
  });

  it("sends candidates as a list until one has a label", () => {
    const candidates = [row("", "a"), row("", "b")];
    const bodyOf = (rows: Form["candidates"]) =>
      JSON.parse(toBody({ ...EMPTY_FORM, operation: "rank", candidates: rows }));
    assert.deepEqual(bodyOf(candidates).candidates, ["a", "b"]);
    assert.deepEqual(bodyOf([...candidates, row("x", "c")]).candidates, { 0: "a", 1: "b", x: "c" });
  });

  const unshown: readonly (readonly [string, string, RegExp])[] = [
    ["broken JSON", '{\n  "state": }', /not JSON: line 2, column 12/],
    ["another member", '{"state": "", "questions": {}, "top_k": 1}', /member "top_k"/],
    ["a number as state", '{"state": 1e5, "questions": {}}', /state that is a number/],
    ["an unknown type", '{"state": "", "questions": {"q": {"type": "box"}}}', /another type/],
    [
      "both names of an outcome",
      '{"state": "", "questions": {"q": {"type": "noul", "criteria": {"no": "a", "false": "b"}}}}',
      /two names/,
    ],
  ];
  for (const [name, body, says] of unshown) {
    it(`does not pretend to show ${name}`, () => assert.match(String(toForm(body, "systemone")), says));
  }
});

describe("an issue of a 422", () => {
  const labels = [row("a", ""), row("b", "x")];
  const choice = { ...newQuestion("choice", "q"), labels };
  const noul = newQuestion("noul", "n".repeat(120));
  const form: Form = { ...EMPTY_FORM, questions: [choice, noul], candidates: labels };
  const cases = [
    [["body"], undefined],
    [["body", "state"], "state"],
    [["body", "questions"], "questions"],
    [["body", "questions", "q"], fieldIds.part(choice, "name")],
    [["body", "questions", "q", "instructions"], fieldIds.part(choice, "instructions")],
    [["body", "questions", "q", "criteria"], fieldIds.part(choice, "criteria")],
    [["body", "questions", "q", "criteria", "b"], `text-${labels[1]?.id}`],
    [["body", "questions", "n".repeat(100), "criteria", "yes"], fieldIds.part(noul, "true")],
    [["body", "candidates", 1], `text-${labels[1]?.id}`],
    [["body", "candidates", "b"], `text-${labels[1]?.id}`],
    [["body", "nothing"], undefined],
  ] as const;
  for (const [loc, want] of cases) {
    it(`has its field: ${loc.join(".").slice(0, 60)}`, () => assert.equal(fieldOf(form, loc), want));
  }

  it("has its place in the text", () => {
    const text = '{"state": "", "questions": {"q": {"type": "box"}}}';
    const { tree } = parseText(text);
    assert.ok(tree);
    const at = (...loc: string[]) => {
      const { offset, length } = spanOf(tree, ["body", ...loc]);
      return text.slice(offset, offset + length);
    };
    assert.equal(at("questions", "q", "type"), '"type": "box"');
    assert.equal(at("questions", "q", "criteria"), '"q": {"type": "box"}');
  });
});

describe("a link", () => {
  it("gives back the request that it holds", async () => {
    for (const { operation, body } of EXAMPLES) {
      const fragment = await toFragment({ operation, body: `${body} 中 😀` });
      assert.match(fragment, /^#(systemone|rank)=[\w-]+$/);
      assert.deepEqual(await fromFragment(fragment), { operation, body: `${body} 中 😀` });
    }
  });

  it("of another make holds nothing", async () => {
    const whole = await toFragment({ operation: "rank", body: "{}".repeat(100) });
    for (const fragment of ["", "#", "#answer", "#rank=", "#rank=AAAA", whole.slice(0, -3), "#other=abc"])
      assert.equal(await fromFragment(fragment), undefined, fragment);
  });

  it("that unpacks to more than a body may have holds nothing", async () => {
    const bomb = await toFragment({ operation: "rank", body: " ".repeat(3_000_000) });
    assert.equal(await fromFragment(bomb), undefined);
  });
});
