import { REQUEST_LIMITS } from "../../src/decisions/request.ts";
import { type Family, type HostileCase, pick, post, type Random, SMALL, SMALL_RANK } from "./cases.ts";
import { MARK } from "./judge.ts";

const PATHS = ["/v1/systemone", "/v1/rank"] as const;

/** A case with a body for one of the inference operations. */
function toModel(
  family: string,
  random: Random,
  body: string | Uint8Array,
  statuses: readonly number[],
  target: string = pick(random, PATHS),
): HostileCase {
  return {
    family,
    steps: post(target, body),
    requests: [{ method: "POST", target, statuses }],
    answers: [1, 1],
  };
}

/** A ranking with this JSON text as its state. */
const withState = (json: string) => `{"state":${json},"candidates":["a","b"]}`;

const BROKEN_UTF8 = [
  "80",
  "c0 80",
  "c1 bf",
  "e0 80 80",
  "ed a0 80",
  "ed bf bf",
  "f0 80 80 80",
  "f4 90 80 80",
  "f5 80 80 80",
  "fe",
  "ff",
  "c3",
  "e2 82",
  "f0 9f 92",
].map((hex) => Buffer.from(hex.replaceAll(" ", ""), "hex"));
const BAD_NUMBERS = [
  "1e400",
  "-1e309",
  "1e99999",
  "01",
  "+1",
  ".5",
  "1.",
  "1e",
  "0x10",
  "NaN",
  "Infinity",
  "-",
  "--1",
  "1_0",
  "1,0",
  `1${"0".repeat(400)}.5`,
];
const ODD_NUMBERS = [
  "-0",
  "-0.0",
  "1e-400",
  "0e99999",
  "5e-324",
  "1.7976931348623157e308",
  "1E+2",
  "9007199254740993",
  "123456789".repeat(20),
];
const LONE = ["\\ud800", "\\udfff", "\\ud800x", "\\ude00\\ud83d", "\\ud83d\\u0041", "\\uD83D\\uD83D\\uDE00"];
const NOT_JSON = [
  "",
  " ",
  "{",
  "}",
  "[]]",
  "{}{}",
  "{'a':1}",
  '{"a":1,}',
  "{a:1}",
  '{"a" 1}',
  "/**/{}",
  '{"state":"x"}//',
  "nul",
  "\u00a0{}",
  '{"a":"\u0001"}',
  '{"a":"\\x41"}',
  '"\\u12"',
  "\ufeff{}",
  "undefined",
  "<a/>",
  "a=b&c=d",
];
const ODD_TEXTS = [
  "\\u0000",
  "\\u202e\\u2066",
  "\\u200b",
  "\\ud83d\\ude00",
  "\u{1f468}\u200d\u{1f469}",
  "\uffff",
  "\\n\\r\\t\\u2028",
  "e\u0301".repeat(50),
  "a".repeat(3000),
  "#".repeat(500),
  "[MASK][CLS][SEP]",
  "%s%n{{7*7}}$(jndi)",
  "'; DROP TABLE x;--",
];
const ODD_NAMES = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "0",
  "-1",
  "1e3",
  "length",
  "then",
  "\\u0000",
  " ",
  "\ud83d\ude00",
  "a".repeat(300),
];
const VALUES = [
  "null",
  "true",
  "0",
  "-1.5",
  '""',
  '" "',
  `"${MARK}"`,
  "[]",
  "{}",
  "[null]",
  "[[]]",
  '{"":0}',
  '["a","a"]',
  '["a","b"]',
  '{"a":"x","b":"y"}',
  '"choice"',
  '"noul"',
  '"score"',
  `"${"x".repeat(70_000)}"`,
];

/** A JSON value of arrays and objects, nested to this depth. */
function nested(random: Random, depth: number): string {
  const opens: string[] = [];
  const closes: string[] = [];
  for (let level = 0; level < depth; level += 1) {
    const isArray = random.below(2) === 0;
    opens.push(isArray ? "[" : '{"a":');
    closes.push(isArray ? "]" : "}");
  }
  return `${opens.join("")}1${closes.reverse().join("")}`;
}

/** A small random JSON text. */
function anyJson(random: Random, depth = 0): string {
  const kind = random.below(depth > 3 ? 3 : 5);
  if (kind < 2) return pick(random, VALUES);
  if (kind === 2) return `"${pick(random, ODD_TEXTS)}"`;
  const parts = Array.from({ length: random.below(4) }, () => anyJson(random, depth + 1));
  if (kind === 3) return `[${parts.join(",")}]`;
  return `{${parts.map((part, at) => `"${pick(random, ODD_NAMES)}${at}":${part}`).join(",")}}`;
}

/** A request with the contract's members and random values. */
function anyRequest(random: Random): string {
  const member = (name: string) => (random.below(6) === 0 ? "" : `"${name}":${anyJson(random)}`);
  const question = () =>
    `{${[`"type":"${pick(random, ["choice", "noul", "score"])}"`, member("instructions"), member("criteria")].filter((part) => part !== "").join(",")}}`;
  const questions = random.below(3) === 0 ? anyJson(random) : `{"${pick(random, ODD_NAMES)}":${question()}}`;
  const names = ["state", "question", "candidates", "model", "context", "answers", "temperature"];
  const members = names.filter(() => random.below(3) === 0).map((name) => `"${name}":${anyJson(random)}`);
  return `{${[`"questions":${questions}`, ...members].join(",")}}`;
}

export const bodyCases: Readonly<Record<string, Family>> = {
  "broken UTF-8": (random) => {
    const whole = Buffer.from(pick(random, [SMALL, SMALL_RANK]));
    const at = whole.indexOf("late") + random.below(4);
    const body = Buffer.concat([whole.subarray(0, at), pick(random, BROKEN_UTF8), whole.subarray(at)]);
    return toModel("broken UTF-8", random, body, [422]);
  },
  "another encoding": (random) => {
    const body = pick(random, [
      Buffer.from(SMALL, "utf16le"),
      Buffer.from(`\ufeff${SMALL}`, "utf16le"),
      Buffer.from(`\ufeff${SMALL}`, "utf8"),
      Buffer.from(SMALL).swap16.call(Buffer.from(`${SMALL} `.slice(0, SMALL.length - (SMALL.length % 2)))),
    ]);
    return toModel("another encoding", random, body, [422]);
  },
  "deep JSON": (random) => {
    const depth = pick(random, [2, 50, 90, 97, 101, 102, 500, 5_000, 100_000]);
    return toModel(
      "deep JSON",
      random,
      withState(nested(random, depth)),
      depth > 100 ? [422] : [200],
      "/v1/rank",
    );
  },
  "deep JSON without an end": (random) =>
    toModel(
      "deep JSON without an end",
      random,
      pick(random, ["[", '{"a":', '{"state":[']).repeat(1 + random.below(50_000)),
      [422],
    ),
  "wide JSON": (random) => {
    const count = pick(random, [1_000, 5_000, 20_000]);
    const member = (at: number) => pick(random, [`"a${at}":0`]);
    const state = pick(random, [
      () => `[${Array.from({ length: count }, (_, at) => at).join(",")}]`,
      () => `{${Array.from({ length: count }, (_, at) => member(at)).join(",")}}`,
      () => `"${"a ".repeat(count)}"`,
    ])();
    return toModel("wide JSON", random, withState(state), [200, 422], "/v1/rank");
  },
  "many questions or candidates": (random) => {
    const { maxQuestions, maxCandidates } = REQUEST_LIMITS;
    const beyond = 1 + random.below(2_000);
    const questions = Array.from(
      { length: maxQuestions + beyond },
      (_, at) => `"q${at}":{"type":"noul","instructions":"x"}`,
    );
    const candidates = Array.from({ length: maxCandidates + beyond }, (_, at) => `"${at}"`);
    return random.below(2) === 0
      ? toModel(
          "many questions or candidates",
          random,
          `{"state":"x","questions":{${questions.join(",")}}}`,
          [422],
          "/v1/systemone",
        )
      : toModel(
          "many questions or candidates",
          random,
          `{"state":"x","candidates":[${candidates.join(",")}]}`,
          [422],
          "/v1/rank",
        );
  },
  "a number that JSON or float64 does not have": (random) =>
    toModel(
      "a number that JSON or float64 does not have",
      random,
      withState(pick(random, BAD_NUMBERS)),
      [422],
      "/v1/rank",
    ),
  "an odd number": (random) =>
    toModel("an odd number", random, withState(pick(random, ODD_NUMBERS)), [200], "/v1/rank"),
  "a name twice": (random) => {
    const [one, two] = pick(random, [
      ["state", "state"],
      ["state", "st\\u0061te"],
      ["a", "\\u0061"],
      ["__proto__", "__proto__"],
    ]);
    const inner = `{"${one}":1,"${two}":2}`;
    const body =
      one === "state"
        ? `{"candidates":["a","b"],${inner.slice(1)}`
        : withState(random.below(2) === 0 ? inner : `[${inner}]`);
    return toModel("a name twice", random, body, [422], "/v1/rank");
  },
  "a lone surrogate": (random) => {
    const text = `"${pick(random, LONE)}"`;
    const body = random.below(2) === 0 ? withState(text) : withState(`{${text}:1}`);
    return toModel("a lone surrogate", random, body, [422], "/v1/rank");
  },
  "an odd text": (random) =>
    toModel("an odd text", random, withState(`"x ${pick(random, ODD_TEXTS)} ${MARK}"`), [200], "/v1/rank"),
  "an odd name": (random) => {
    const name = pick(random, ODD_NAMES);
    const question = '{"type":"choice","instructions":"x","criteria":{"a":"x","b":"y"}}';
    const body = pick(random, [
      `{"state":{"${name}":1},"questions":{"${name}":${question}}}`,
      `{"state":"x","questions":{"${name}":${question.replace('"a"', `"${name}"`)}}}`,
    ]);
    return toModel("an odd name", random, body, [200], "/v1/systemone");
  },
  "an unknown member": (random) => {
    const name = pick(random, ODD_NAMES);
    return toModel(
      "an unknown member",
      random,
      `{"${name}":${anyJson(random)},${SMALL.slice(1)}`,
      [422],
      "/v1/systemone",
    );
  },
  "no JSON": (random) => toModel("no JSON", random, pick(random, NOT_JSON), [422]),
  "cut JSON": (random) =>
    toModel("cut JSON", random, SMALL.slice(0, 1 + random.below(SMALL.length - 1)), [422]),
  "JSON of other types": (random) => toModel("JSON of other types", random, anyJson(random), [422]),
  "a request of any values": (random) =>
    toModel("a request of any values", random, anyRequest(random), [200, 422]),
  "a body too large": (random) => {
    const target = pick(random, PATHS);
    const bytes = Buffer.alloc(2_097_153 + random.below(1000), 0x20);
    return {
      family: "a body too large",
      steps: post(target, bytes),
      requests: [{ method: "POST", target, statuses: [413] }],
      answers: [1, 1],
    };
  },
};
