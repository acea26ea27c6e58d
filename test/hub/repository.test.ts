import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { ServiceError } from "../../src/errors.ts";
import { chooseFiles, externalFilesOf } from "../../src/hub/file-choice.ts";
import {
  type Repository,
  type RepositoryFile,
  readRepository,
  readRepositoryName,
} from "../../src/hub/repository.ts";

const COMMIT = "0123456789abcdef0123456789abcdef01234567";
const SHA256 = "ab".repeat(32);
const GIT_ID = "cd".repeat(20);

for (const [text, want] of [
  ["acme/Tiny", { repository: "acme/Tiny", revision: undefined }],
  [`acme/Tiny@${COMMIT}`, { repository: "acme/Tiny", revision: COMMIT }],
  ["acme/Tiny@main", undefined],
  ["tiny", undefined],
  ["acme/../x", undefined],
  ["acme/Tiny/x", undefined],
  ["https://acme/Tiny", undefined],
  ["", undefined],
] as const)
  test(`${JSON.stringify(text)} is read as a repository's name`, () =>
    assert.deepEqual(readRepositoryName(text), want));

const DESCRIBED = {
  id: "acme/Tiny",
  sha: COMMIT,
  lastModified: "2026-11-20T10:00:00.000Z",
  cardData: { license: "mit" },
  siblings: [
    { rfilename: "config.json", size: 10, blobId: GIT_ID },
    { rfilename: "onnx/model.onnx", size: 20, blobId: GIT_ID, lfs: { sha256: SHA256, size: 20 } },
  ],
};
const ASKED = { repository: "acme/Tiny", revision: undefined };

describe("the hub's description of a repository", () => {
  it("gives commit, files and license", () => {
    assert.deepEqual(readRepository(DESCRIBED, ASKED), {
      repository: "acme/Tiny",
      revision: COMMIT,
      license: "mit",
      changedOn: "2026-11-20",
      files: [
        { path: "config.json", bytes: 10, sha256: undefined, gitId: GIT_ID },
        { path: "onnx/model.onnx", bytes: 20, sha256: SHA256, gitId: undefined },
      ],
    });
  });

  it("may name the repository anew", () => {
    assert.equal(readRepository({ ...DESCRIBED, id: "acme/New" }, ASKED).repository, "acme/New");
  });

  it("with other values than expected loses only these", () => {
    const odd = { ...DESCRIBED, id: "../x", lastModified: 3, cardData: { license: "\u001b[31mevil" } };
    const read = readRepository(odd, ASKED);
    assert.deepEqual([read.repository, read.license, read.changedOn], ["acme/Tiny", "?[31mevil", undefined]);
  });

  it("leaves out files without a digest or size", () => {
    const siblings = [
      { rfilename: "a", size: 1 },
      { rfilename: "b", blobId: GIT_ID },
      { rfilename: "c", size: -1, blobId: GIT_ID },
      { rfilename: "d", size: 1, blobId: "../../x" },
      { size: 1, blobId: GIT_ID },
      null,
      "e",
    ];
    assert.deepEqual(readRepository({ ...DESCRIBED, siblings }, ASKED).files, []);
  });

  for (const [name, json, want] of [
    ["of no object", null, /has no commit/],
    ["with a short commit", { ...DESCRIBED, sha: "0123" }, /has no commit/],
    ["without files", { ...DESCRIBED, siblings: {} }, /has no list of files/],
  ] as const)
    it(`${name} is refused`, () => assert.throws(() => readRepository(json, ASKED), failed(want)));

  it("of another commit is refused", () => {
    const asked = { repository: "acme/Tiny", revision: "f".repeat(40) };
    assert.throws(() => readRepository(DESCRIBED, asked), failed(/answers with the commit 0123/));
  });
});

const file = (path: string): RepositoryFile => ({ path, bytes: 1, sha256: SHA256, gitId: undefined });
const repository = (...paths: readonly string[]): Repository => ({
  repository: "acme/Tiny",
  revision: COMMIT,
  license: undefined,
  changedOn: undefined,
  files: paths.map(file),
});
const TEXTS = ["config.json", "tokenizer.json"];

const CHOICES: readonly (readonly [string, readonly string[], string, string?])[] = [
  ["Optimum's layout", [...TEXTS, "model.onnx"], "model.onnx"],
  [
    "the layout of Transformers.js",
    [...TEXTS, "onnx/model_quantized.onnx", "onnx/model.onnx"],
    "onnx/model.onnx",
  ],
  [
    "quantized files alone",
    [...TEXTS, "onnx/model_q4.onnx", "onnx/model_quantized.onnx"],
    "onnx/model_quantized.onnx",
  ],
  ["one file of another name", [...TEXTS, "onnx/classifier.onnx"], "onnx/classifier.onnx"],
  [
    "a file that the user names",
    [...TEXTS, "onnx/model.onnx", "onnx/model_int8.onnx"],
    "onnx/model_int8.onnx",
    "onnx/model_int8.onnx",
  ],
  [
    "texts beside the graph",
    ["onnx/config.json", "onnx/tokenizer.json", "onnx/model.onnx"],
    "onnx/model.onnx",
  ],
];
for (const [name, paths, want, wanted] of CHOICES)
  test(`of ${name}, the graph is ${want}`, () => {
    const { graph, descriptions } = chooseFiles(repository(...paths), wanted);
    assert.equal(graph.path, want);
    assert.deepEqual([...descriptions.keys()], TEXTS);
  });

const REFUSED: readonly (readonly [string, readonly string[], RegExp, string?])[] = [
  [
    "no ONNX file",
    [...TEXTS, "model.safetensors"],
    /has no ONNX file\. Convert it with Optimum .*optimum-cli export onnx --model acme\/Tiny/,
  ],
  [
    "several files of other names",
    [...TEXTS, "a.onnx", "b.onnx"],
    /Choose one with --file: a\.onnx, b\.onnx/,
  ],
  ["another file than the user names", [...TEXTS, "model.onnx"], /has no ONNX file x\.onnx/, "x.onnx"],
  ["a file that is no graph", [...TEXTS, "model.onnx"], /has no ONNX file config\.json/, "config.json"],
  ["no configuration", ["tokenizer.json", "model.onnx"], /has no config\.json/],
  [
    "no fast tokenizer",
    ["config.json", "model.onnx", "vocab.txt"],
    /has no tokenizer\.json.*save_pretrained/,
  ],
];
for (const [name, paths, want, wanted] of REFUSED)
  test(`a repository with ${name} is refused`, () => {
    assert.throws(() => chooseFiles(repository(...paths), wanted), failed(want));
  });

test("data of a graph lies beside it", () => {
  const found = repository("onnx/model.onnx", "onnx/model.onnx_data", "model.onnx_data");
  const graph = file("onnx/model.onnx");
  const [data] = externalFilesOf(found, graph, ["model.onnx_data"]);
  assert.equal(data?.path, "onnx/model.onnx_data");
});
for (const name of [
  "../secret",
  "/etc/passwd",
  "sub/data",
  "missing",
  "config.json",
  "manifest.json",
  "model.onnx",
  ".",
])
  test(`data in ${name} is refused`, () => {
    const paths = ["model.onnx", "config.json", "manifest.json", "sub/data", "../secret", "/etc/passwd", "."];
    const found = repository(...paths);
    assert.throws(() => externalFilesOf(found, file("model.onnx"), [name]), failed(/no data file beside it/));
  });

function failed(message: RegExp) {
  return (error: unknown) =>
    error instanceof ServiceError && error.kind === "PULL_FAILED" && message.test(error.message);
}
