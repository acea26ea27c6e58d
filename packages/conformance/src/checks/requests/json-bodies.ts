import { type Check, checksOf } from "../../trial/check.ts";
import { type Cases, refuses, takes, toRank } from "../cases.ts";

const QUESTION = '{"type":"noul","instructions":"i"}';

/** A body with the given JSON text as its state. */
function withState(state: string): string {
  return `{"state":${state},"questions":{"q":${QUESTION}}}`;
}
const WHOLE = withState('"s"');

/** A body with these bytes in the middle of a string. */
function withBytes(...bytes: readonly number[]): Uint8Array {
  const [before = "", behind = ""] = withState('"s HERE"').split("HERE");
  return Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(behind)]);
}

/** Bodies with these JSON texts as their states. */
function states(given: Readonly<Record<string, string>>): Cases {
  return Object.fromEntries(Object.entries(given).map(([name, state]) => [name, withState(state)]));
}

/** Checks of what is accepted as JSON. */
export const JSON_CHECKS: readonly Check[] = [
  ...checksOf("interface: Errors", {
    "json.invalid": refuses("A body that is not JSON is 422.", {
      "a truncated object": WHOLE.slice(0, -1),
      "truncated within a string": '{"state":"abc',
      words: "state and questions",
      "single quotes": withState("'s'"),
      "a name without quotes": WHOLE.replace('"state"', "state"),
      "a comma at an object's end": `${WHOLE.slice(0, -1)},}`,
      "text after the object": `${WHOLE} more`,
      "form data": "state=s&questions=1",
      "truncated, in a ranking": toRank('{"state":"s","candidates":["a","b"]'),
    }),
  }),
  ...checksOf("interface: SystemoneRequest", {
    "json.no-object": refuses("The body itself is an object.", {
      "an array": "[]",
      "an array of the object": `[${WHOLE}]`,
      "a number": "5",
      null: "null",
      "a boolean": "true",
      "a string that holds the object": JSON.stringify(WHOLE),
      "an array, in a ranking": toRank("[]"),
    }),
  }),
  ...checksOf("contract: Requests", {
    "json.grammar": refuses("JSON is exactly RFC 8259, without extensions of lenient parsers.", {
      ...states({
        "a leading zero": "01",
        "a plus sign": "+1",
        "a fraction without an integer part": ".5",
        "a decimal point without digits": "1.",
        "an exponent without digits": "1e",
        hexadecimal: "0x10",
        "a separator": "1_000",
        True: "True",
        undefined: "undefined",
        "two commas": "[1,,2]",
        "a comma at an array's end": "[1,]",
        "the wrong bracket": "[1}",
        "a missing comma": '{"a":1 "b":2}',
        "a raw line break in a string": '"a\nb"',
        "a raw tab": '"a\tb"',
        "a raw NUL byte": '"a\u0000b"',
        "an unknown escape": '"\\x41"',
        "a short escape": '"\\u12"',
        "a block comment": "/* x */ 1",
      }),
      "a line comment": `${WHOLE}// x`,
      "a second object": `${WHOLE}${WHOLE}`,
      "a bracket after the object": `${WHOLE}}`,
      "a form feed as white space": `\f${WHOLE}`,
      "a no-break space": `\u00a0${WHOLE}`,
      "a NUL byte after the object": `${WHOLE}\u0000`,
    }),
    "json.empty": refuses("An empty body is 422.", {
      nothing: "",
      "white space": " \r\n\t ",
      "nothing to rank": toRank(""),
    }),
    "json.numbers": refuses(
      "NaN, Infinity and floats beyond the range of float64 are refused.",
      states({
        NaN: "NaN",
        Infinity: "Infinity",
        "-Infinity": "[-Infinity]",
        "1e400": "1e400",
        "-1e400, nested": '{"a":[-1e400]}',
        "just past the largest": "1.7976931348623159e308",
        "a long float": `${"9".repeat(400)}.0`,
      }),
    ),
    "json.unicode": refuses("A body is UTF-8 without a byte order mark and without lone surrogates.", {
      "a byte order mark": `\ufeff${WHOLE}`,
      "UTF-16": Buffer.from(WHOLE, "utf16le"),
      "the byte FF": withBytes(0xff),
      "a lone continuation byte": withBytes(0x80),
      "Latin-1": withBytes(0xe9),
      "an overlong encoding of a slash": withBytes(0xc0, 0xaf),
      "a sequence cut off": withBytes(0xe2, 0x82),
      "a surrogate encoded in UTF-8": withBytes(0xed, 0xa0, 0x80),
      "past U+10FFFF": withBytes(0xf4, 0x90, 0x80, 0x80),
      ...states({
        "a high surrogate alone": '"\\ud800"',
        "a low surrogate alone": '"\\uDFFF"',
        "a surrogate pair in reverse order": '"\\ude00\\ud83d"',
        "a surrogate in a name": '{"\\ud800":1}',
      }),
    }),
    "json.duplicates": refuses("Member names are unique in each object.", {
      "at the top level": `{"state":"s",${WHOLE.slice(1)}`,
      "at the top level, one of them escaped": `{"st\\u0061te":"s",${WHOLE.slice(1)}`,
      "a question": `{"state":"s","questions":{"q":${QUESTION},"q":${QUESTION}}}`,
      "in a question": '{"state":"s","questions":{"q":{"type":"noul","type":"noul","instructions":1}}}',
      "a label":
        '{"state":"s","questions":{"q":{"type":"choice","instructions":1,"criteria":{"a":"x","b":"y","a":"z"}}}}',
      ...states({
        "in the state": '{"a":1,"a":1}',
        "deep in the state": '[[{"a":{"b":1,"c":2,"b":3}}]]',
        "an integer-like name": '{"1":1,"1":2}',
        "the name __proto__": '{"__proto__":1,"__proto__":2}',
      }),
      "a candidate": toRank('{"state":"s","candidates":{"a":"x","b":"y","\\u0061":"z"}}'),
    }),
    "json.extremes": takes(
      "Integers of any length, every float64 and any member name are accepted.",
      states({
        "an integer of 1,000 digits": "9".repeat(1000),
        "a negative one": `-${"9".repeat(300)}`,
        "the largest float": "1.7976931348623157e308",
        "the smallest float": "5e-324",
        "zero with a large exponent": "0e400",
        "a float of many digits": `0.${"1".repeat(2000)}`,
        "-0": "-0",
        "-0.0": "-0.0",
        "an escaped zero": '"\\u0000 a"',
        "a noncharacter": '"\uffff a"',
        "an escaped noncharacter": '"\\ufffe a"',
        "an empty name": '{"":1}',
        "__proto__ and constructor": '{"__proto__":{"a":1},"constructor":{"prototype":1}}',
        "names that differ in Unicode normalization only": '{"é":1,"e\\u0301":2}',
        "a string that begins like an object": '"{\\"a\\": 1"',
      }),
    ),
  }),
  ...checksOf("interface: paths", {
    "json.valid": takes("Every valid JSON notation is accepted.", {
      "white space around the object": `\r\n\t ${WHOLE} \n`,
      "escaped names": WHOLE.replace('"state"', '"\\u0073tate"'),
      ...states({
        "an escaped surrogate pair": '"\\ud83d\\ude00"',
        "a raw character beyond U+FFFF": '"😀"',
        "each short escape": '"\\"\\\\\\/\\b\\f\\n\\r\\t x"',
        "line separators": '"\u2028\u2029\u007f x"',
        "1E+2": "1E+2",
        "brackets in a string": JSON.stringify(`x${"[{".repeat(200)}`),
        "equal names in different objects": '[{"a":1},{"a":{"a":2}}]',
      }),
    }),
  }),
];
