import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Issue, ServiceError } from "../../src/errors.ts";
import { readJson, readSteps } from "../../src/json/read.ts";
import { JsonNumber, type JsonValue } from "../../src/json/value.ts";
import { writeJson } from "../../src/json/write.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { parseJson } from "./parse-json.ts";

const read = (text: string) => readJson(Buffer.from(text));

async function issueOf(bytes: Uint8Array): Promise<Issue> {
  const error = await readJson(bytes).then(
    () => assert.fail("was read"),
    (error: unknown) => error,
  );
  assert.ok(error instanceof ServiceError);
  assert.equal(error.kind, "INVALID_REQUEST");
  assert.equal(error.issues.length, 1);
  const [issue] = error.issues;
  assert.ok(issue);
  return issue;
}

const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
const nestedObjects = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;

describe("readJson", () => {
  const accepted: [name: string, text: string, want: JsonValue][] = [
    ["null", "null", null],
    ["an empty object", "{}", new Map()],
    ["an empty array between white space", " \t\r\n[ \n] ", []],
    ["escapes", '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9"', '"\\/\b\f\n\r\té'],
    ["an escaped surrogate pair", '"\\ud83d\\ude00"', "😀"],
    ["a raw character beyond 16 bits", '"😀"', "😀"],
    ["an escaped NUL", '"\\u0000"', "\0"],
    ["DEL and U+2028 unescaped", '"\x7f\u2028"', "\x7f\u2028"],
    ["an integer of 400 digits", "9".repeat(400), new JsonNumber("9".repeat(400))],
    ["the largest float", "1.7976931348623157e308", new JsonNumber("1.7976931348623157e308")],
    ["a float that underflows", "1e-400", new JsonNumber("1e-400")],
    ["minus zero", "[-0,-0.0]", [new JsonNumber("-0"), new JsonNumber("-0.0")]],
    [
      "integer-like names in the order sent",
      '{"10":true,"2":false}',
      new Map([
        ["10", true],
        ["2", false],
      ]),
    ],
    [
      "names of Object.prototype as data",
      '{"__proto__":null,"constructor":1}',
      new Map<string, JsonValue>([
        ["__proto__", null],
        ["constructor", new JsonNumber("1")],
      ]),
    ],
    ["the empty name", '{"":[]}', new Map([["", []]])],
    [
      "one name in two objects",
      '[{"a":1},{"a":1}]',
      [new Map([["a", new JsonNumber("1")]]), new Map([["a", new JsonNumber("1")]])],
    ],
  ];
  for (const [name, text, want] of accepted) {
    it(`reads ${name}`, async () => assert.deepEqual(await read(text), want));
  }

  for (const levels of [99, 100]) {
    it(`reads ${levels} levels`, async () => {
      await read(nested(levels));
      await read(nestedObjects(levels));
    });
  }

  const refused: [name: string, text: string, type: Issue["type"], loc: Issue["loc"]][] = [
    ["nothing", "", "invalid_json", ["body"]],
    ["white space alone", " \n", "invalid_json", ["body"]],
    ["two values", "{} {}", "invalid_json", ["body"]],
    ["a trailing comma in an object", '{"a":1,}', "invalid_json", ["body"]],
    ["a trailing comma in an array", '{"a":[1,]}', "invalid_json", ["body", "a", 1]],
    ["a missing colon", '{"a" 1}', "invalid_json", ["body", "a"]],
    ["a name without quotes", "{a:1}", "invalid_json", ["body"]],
    ["single quotes", "['a']", "invalid_json", ["body", 0]],
    ["a line comment", "// x\n1", "invalid_json", ["body"]],
    ["brackets of two kinds", '{"a":[1}', "invalid_json", ["body", "a", 1]],
    ["an open array", "[1", "invalid_json", ["body", 1]],
    ["an open string", '{"a":"x', "invalid_json", ["body", "a"]],
    ["a string that ends in a backslash", '"\\', "invalid_json", ["body"]],
    ["a raw line break in a string", '"a\nb"', "invalid_json", ["body"]],
    ["a raw control character behind a backslash", '"\\\n"', "invalid_json", ["body"]],
    ["an unknown escape", '"\\x41"', "invalid_json", ["body"]],
    ["a short \\u escape", '"\\u12"', "invalid_json", ["body"]],
    ["an escaped lone high surrogate", '"\\ud83d"', "invalid_json", ["body"]],
    ["surrogates in the wrong order", '"\\ude00\\ud83d"', "invalid_json", ["body"]],
    ["a lone surrogate in a name", '{"a":1,"\\ud83d":1}', "invalid_json", ["body"]],
    ["NaN", '{"a":NaN}', "invalid_json", ["body", "a"]],
    ["Infinity", "[-Infinity]", "invalid_json", ["body", 0]],
    ["a float over the range", "[1e400]", "invalid_json", ["body", 0]],
    ["a leading zero", "01", "invalid_json", ["body"]],
    ["a plus sign", "+1", "invalid_json", ["body"]],
    ["a leading point", ".5", "invalid_json", ["body"]],
    ["a bare minus", "-", "invalid_json", ["body"]],
    ["a literal that goes on", "nulls", "invalid_json", ["body"]],
    ["a vertical tab between values", "[\v1]", "invalid_json", ["body", 0]],
    ["a byte order mark", "\ufeff{}", "invalid_json", ["body"]],
    ["a name twice", '{"a":1,"b":2,"a":3}', "duplicate_member", ["body", "a"]],
    [
      "a name twice, once escaped",
      '{"x":[0,{"a":1,"\\u0061":3}]}',
      "duplicate_member",
      ["body", "x", 1, "a"],
    ],
    ["__proto__ twice", '{"__proto__":1,"__proto__":1}', "duplicate_member", ["body", "__proto__"]],
    ["101 levels of arrays", nested(101), "nesting_too_deep", ["body", ...Array(100).fill(0)]],
    ["101 levels of objects", nestedObjects(101), "nesting_too_deep", ["body", ...Array(100).fill("a")]],
    ["a million brackets", "[".repeat(1e6), "nesting_too_deep", ["body", ...Array(100).fill(0)]],
  ];
  for (const [name, text, type, loc] of refused) {
    it(`refuses ${name}`, async () => {
      const issue = await issueOf(Buffer.from(text));
      assert.deepEqual({ type: issue.type, loc: issue.loc }, { type, loc });
    });
  }

  const brokenBytes: [name: string, bytes: number[]][] = [
    ["a lone continuation byte", [0x22, 0x80, 0x22]],
    ["an overlong form", [0x22, 0xc0, 0xaf, 0x22]],
    ["a surrogate in UTF-8", [0x22, 0xed, 0xa0, 0x80, 0x22]],
    ["a sequence cut short", [0x22, 0xe2, 0x82]],
    ["UTF-16", [0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]],
  ];
  for (const [name, bytes] of brokenBytes) {
    it(`refuses ${name}`, async () =>
      assert.equal((await issueOf(Uint8Array.from(bytes))).type, "invalid_json"));
  }

  it("says where reading stopped, and nothing of the content", async () => {
    const { msg } = await issueOf(Buffer.from('{"secret": hidden}'));
    assert.match(msg, /at character 12 of 18/);
    assert.doesNotMatch(msg, /secret|hidden/);
  });
});

describe("reading random texts", () => {
  it("agrees with JSON.parse, and refuses beyond that only what I-JSON forbids", () => {
    const random = seededRandom(2).next;
    const strictTypes = new Set<string>();
    for (let round = 0; round < 3000; round++) {
      const text = mutate(randomDocument(random, 3), random);
      const issue = refusalOf(() => parseJson(text));
      const native = refusalOf(() => JSON.parse(text));
      if (native) assert.ok(issue, `must refuse ${text}`);
      else if (!issue) assert.deepEqual(JSON.parse(writeJson(parseJson(text))), JSON.parse(text), text);
      else strictTypes.add(issue instanceof ServiceError ? (issue.issues[0]?.type ?? "") : "other");
      if (issue) assert.ok(issue instanceof ServiceError, `must not crash on ${text}`);
    }
    assert.ok([...strictTypes].every((type) => type === "duplicate_member" || type === "invalid_json"));
  });
});

describe("reading strings of any length", () => {
  it("agrees with JSON.parse wherever quotes, escapes and control characters stand", () => {
    const random = seededRandom(3);
    const pieces = ["a", "b", " ", "\\n", '\\"', "\\\\", "\\u00e9", "é", "漢", "😀"];
    const bad = ['"', "\u0000", "\n", "\u001f", "\\x", "\\"];
    let refused = 0;
    for (let round = 0; round < 4000; round++) {
      const plain = Array.from({ length: random.below(100) }, () => "x");
      const at = () => random.below(plain.length + 1);
      for (let some = random.below(6); some > 0; some--)
        plain.splice(at(), 0, pieces[random.below(10)] ?? "");
      if (random.below(3) === 0) plain.splice(at(), 0, bad[random.below(6)] ?? "");
      const text = `["${plain.join("")}"]`;
      const native = refusalOf(() => JSON.parse(text));
      if (native) refused += 1;
      if (native) assert.ok(refusalOf(() => parseJson(text)) instanceof ServiceError, text);
      else assert.deepEqual(parseJson(text), JSON.parse(text), text);
    }
    assert.ok(refused > 500, `${refused}`);
  });
});

describe("readSteps", () => {
  const megabytes = 2 ** 21;
  const bodies: [name: string, text: string][] = [
    ["empty arrays", `[${"[],".repeat(megabytes / 3 - 2)}[]]`],
    ["numbers", `[${"1,".repeat(megabytes / 2 - 2)}1]`],
    ["short strings", `["${'a","'.repeat(megabytes / 4 - 2)}"]`],
    ["members", `{${Array.from({ length: 150_000 }, (_, i) => `"name ${i}":1`).join()}}`],
  ];
  for (const [name, text] of bodies) {
    it(`stops for a look at the clock every 16,384 characters of ${name}`, () => {
      let count = 0;
      for (const _ of readSteps(text)) count += 1;
      // A stop comes after the token that crosses the line, so slightly fewer than the quotient.
      assert.ok(count >= Math.floor((text.length / 16_384) * 0.99), `${count} steps`);
    });
  }
});

function refusalOf(read: () => unknown): unknown {
  try {
    read();
    return undefined;
  } catch (error) {
    return error;
  }
}

function randomDocument(random: () => number, depth: number): string {
  const pick = (choices: string[]) => choices[Math.floor(random() * choices.length)] ?? "0";
  const space = () => pick(["", "", " ", "\n\t "]);
  const list = (make: (i: number) => string) =>
    Array.from({ length: Math.floor(random() * 4) }, (_, i) => space() + make(i) + space()).join();
  const kind = random();
  if (depth > 0 && kind < 0.3) return `[${list(() => randomDocument(random, depth - 1))}]`;
  if (depth > 0 && kind < 0.6) {
    return `{${list((i) => `"${pick(["a", "7", "\\u00e9", "😀", "__proto_", ""])}${i}"${space()}:${randomDocument(random, depth - 1)}`)}}`;
  }
  return pick([
    "true",
    "false",
    "null",
    "0",
    "-1.5e3",
    "12.25",
    "1E-7",
    '""',
    '"a\\n\\"b"',
    '"\\ud83d\\ude00"',
    '"ж"',
  ]);
}

function mutate(text: string, random: () => number): string {
  const at = Math.floor(random() * text.length);
  const insert =
    ["", "", ",", ":", '"', "[", "}", "\\", "0", "e", "\u0001", " "][Math.floor(random() * 12)] ?? "";
  return text.slice(0, at) + insert + text.slice(at + Math.floor(random() * 2));
}
