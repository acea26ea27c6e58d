import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, it } from "node:test";
import ts from "typescript";
import { packageRoot } from "../support/package-root.ts";

// within the package, so that it finds itself by its name, through its exports
const folder = path.join(packageRoot, "dist", `examples-${process.pid}`);
mkdirSync(folder);
after(() => rmSync(folder, { recursive: true }));

/** The examples of the page as one program. */
const page = readFileSync(path.join(packageRoot, "docs/library.md"), "utf8");
const program = [...page.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code]) => code).join("\n");
const source = path.join(folder, "examples.ts");
writeFileSync(source, program);
const wrong = path.join(folder, "wrong.ts");
writeFileSync(wrong, program.replace("answers.intent.choice)", 'answers.intent.choice === "technical")'));

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  types: ["node"],
  strict: true,
  skipLibCheck: true,
};

const compiled = ts.createProgram([source, wrong], OPTIONS);

/** Messages of the compiler about a file, which it has written. */
function compile(file: string): readonly string[] {
  const { diagnostics } = compiled.emit(compiled.getSourceFile(file));
  const found = ts.getPreEmitDiagnostics(compiled, compiled.getSourceFile(file));
  return [...found, ...diagnostics].map(({ messageText }) =>
    ts.flattenDiagnosticMessageText(messageText, "\n"),
  );
}

it("the examples of docs/library.md compile and print what their comments say", () => {
  assert.deepEqual(compile(source), []);
  const expected = [...program.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, printed]) => printed);
  assert.ok(expected.length >= 10);
  const { stdout, stderr, status } = spawnSync(process.execPath, [path.join(folder, "examples.js")], {
    encoding: "utf8",
  });
  assert.equal(status, 0, stderr);
  assert.deepEqual(stdout.trimEnd().split("\n"), expected);
});

it("a label that nobody asked for does not compile through the package's exports", () => {
  assert.match(compile(wrong).join("\n"), /"refund" \| "cancel".*no overlap/s);
});
