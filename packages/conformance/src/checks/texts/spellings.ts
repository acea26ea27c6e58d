/** A JSON text and the string that it must be rendered to. */
export type Spelling = readonly [json: string, text: string];

export const SCALARS: readonly Spelling[] = [
  ["5", "5"],
  ["-12", "-12"],
  ["-0", "0"],
  ["true", "true"],
  ["false", "false"],
  ["12345678901234567890123", "12345678901234567890123"],
  ['"  padded\\n"', "padded"],
  ['" \\u0085padded\\u00a0\\u001f"', "padded"],
];
export const FLOATS: readonly Spelling[] = [
  ["1.0", "1.0"],
  ["100.0", "100.0"],
  ["1E2", "100.0"],
  ["0.1", "0.1"],
  ["1e16", "1e+16"],
  ["123456789012345680.0", "1.2345678901234568e+17"],
  ["0.0001", "0.0001"],
  ["0.00001", "1e-05"],
  ["-0.0", "-0.0"],
  ["5e-324", "5e-324"],
];
export const STRUCTURES: readonly Spelling[] = [
  ['{"order":1,"paid":true}', "order: 1\n\npaid: true"],
  ['{"b":1,"a":2}', "b: 1\n\na: 2"],
  ['{"10":"x","2":"y"}', "10: x\n\n2: y"],
  ['["kettle","cups"]', "- kettle\n- cups"],
  [
    '{"items":["kettle",{"n":1,"m":[2]}],"x":{"y":null}}',
    "items:\n  - kettle\n  -\n    n: 1\n    m:\n      - 2\n\nx:\n  y:",
  ],
  ['{"a":{"b":{"c":1}}}', "a:\n  b:\n    c: 1"],
  ['{"a":{},"b":[]}', "a: \n\nb:"],
  ['{"__proto__":1}', "__proto__: 1"],
  ['{"__proto__":1,"a":{"__proto__":2,"b":3}}', "__proto__: 1\n\na:\n  __proto__: 2\n  b: 3"],
];
/** String states that contain JSON, and the JSON that they must be treated as. */
export const HELD: readonly Spelling[] = [
  ['"{\\"a\\":1,\\"b\\":[true]}"', '{"a":1,"b":[true]}'],
  ['"  [1.0, 1e16]"', "[1.0,1e16]"],
  ['"{\\"2\\":1,\\"1\\":2}"', '{"2":1,"1":2}'],
];
/** String states that contain other JSON, and the value that they must not be parsed to. */
export const STAY_TEXTS: readonly Spelling[] = [
  ['"1e2"', "1e2"],
  ['"100.00"', "100.00"],
  ['"\\"quoted\\""', '"quoted"'],
  ['"null"', "null"],
  ['{"a":"{\\"b\\":1}"}', '{"a":{"b":1}}'],
  ['["[1,2]"]', "[[1,2]]"],
];
/** Texts with white space around them, as strings and as rendered values, and the trimmed text. */
export const PADDED: readonly Spelling[] = [
  ['"  late\\n"', "late"],
  ['"\\t past due"', "past due"],
  ['"over \\n\\n"', "over"],
  ['"\\u00a0on time\\u2003"', "on time"],
  ['{"a":" x  "}', "a:  x"],
  ['["y",""]', "- y\n-"],
  ['{"b":null}', "b:"],
];
/** Strings that contain JSON, and the values that they must not be parsed to. */
export const HELD_TEXTS: readonly Spelling[] = [
  ['"{\\"a\\":{\\"b\\":[1]}}"', '{"a":{"b":[1]}}'],
  ['"[\\"x\\",{\\"y\\":2}]"', '["x",{"y":2}]'],
  ['" {\\"c\\": true} "', '{"c":true}'],
  ['"1e2"', "1e2"],
  ['"\\"word\\""', '"word"'],
];
/** The rendered texts of those values. */
export const HELD_SHOWN = ["a:\n  b:\n    - 1", "- x\n-\n  y: 2", "c: true", "100.0", "word"];
export const CANDIDATES = ["one thing", "another one", "order 1 is paid"];
/** JSON texts of states that all differ. */
export const STATES = [
  ...['{"a":1,"b":2}', '{"b":2,"a":1}', "[1,2]", "[2,1]", '{"a":[1,2]}', "5", "5.5", "true", "false"],
  "[[1],2]",
];
