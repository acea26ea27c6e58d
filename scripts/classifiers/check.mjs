// Compares the service with transformers' own pipelines in PyTorch, on random models of every family of classifiers and
// rerankers, exported by Optimum: probabilities differ by at most 1e-4.
//
//     DECISION_PYTHON=... npm run check:classifiers       a Python that has PyTorch; the other packages are installed into
//                                                         node_modules/.cache once
//     CLASSIFIERS_PYTHON=... npm run check:classifiers    a Python that has all of them
//
// `make_models.py FOLDER --golden` makes the models in test/golden/classifiers, which tests use without Python.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const ROOT = path.join(import.meta.dirname, "../..");
const PACKAGES = [
  "optimum-onnx==0.1.0",
  "transformers==4.57.6",
  "onnx==1.23.2",
  "onnxruntime==1.32.0",
  "sentencepiece==0.2.3",
];
const TOLERANCE = 1e-4;

const folder = mkdtempSync(path.join(tmpdir(), "classifiers-"));
try {
  execFileSync(pythonWithPackages(), [path.join(import.meta.dirname, "make_models.py"), folder], {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1" },
  });
  const { models } = JSON.parse(readFileSync(path.join(folder, "expected.json"), "utf8"));
  for (const [name, cases] of Object.entries(models)) await check(name, cases);
} finally {
  rmSync(folder, { recursive: true });
}

function pythonWithPackages() {
  if (process.env.CLASSIFIERS_PYTHON) return process.env.CLASSIFIERS_PYTHON;
  const withTorch = process.env.DECISION_PYTHON;
  if (!withTorch) throw new Error("set DECISION_PYTHON to a Python that has PyTorch");
  const venv = path.join(ROOT, "node_modules/.cache/classifiers-1");
  const python = path.join(venv, "bin/python");
  if (existsSync(path.join(venv, "complete"))) return python;
  const tell = (program, code) => execFileSync(program, ["-c", code], { encoding: "utf8" }).trim();
  execFileSync(withTorch, ["-m", "venv", "--clear", venv], { stdio: "inherit" });
  // PyTorch has gigabytes: it is used where it is
  const torch = tell(withTorch, "import os, torch; print(os.path.dirname(os.path.dirname(torch.__file__)))");
  const site = tell(python, "import site; print(site.getsitepackages()[0])");
  writeFileSync(path.join(site, "torch.pth"), `${torch}\n`);
  execFileSync(python, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...PACKAGES], {
    stdio: "inherit",
  });
  writeFileSync(path.join(venv, "complete"), "");
  return python;
}

async function check(name, cases) {
  const { createDecider } = await import("../../dist/src/library/index.js");
  const target = path.join(folder, `${name}-package`);
  const args = ["bin/decision.js", "model", "import", path.join(folder, name), "--output", target];
  execFileSync(process.execPath, args, { cwd: ROOT, stdio: ["ignore", "ignore", "inherit"] });
  const decider = await createDecider({ modelPath: target });
  let largest = 0;
  let spread = 0;
  let count = 0;
  try {
    for (const each of cases)
      for (const [found, wanted] of await answersTo(decider, each)) {
        if (found.length !== wanted.length) throw new Error(`${name}: another number of candidates`);
        for (const [at, probability] of wanted.entries())
          largest = Math.max(largest, Math.abs(found[at] - probability));
        spread = Math.max(spread, Math.max(...wanted) - Math.min(...wanted));
        count += wanted.length;
      }
  } finally {
    await decider.close();
  }
  console.log(`${name}: ${count} probabilities, largest difference ${largest.toExponential(1)}`);
  // equal probabilities would show nothing
  if (!(spread > 0.02)) throw new Error(`${name}: all probabilities are nearly equal`);
  if (!(largest < TOLERANCE)) throw new Error(`${name}: differs from transformers by more than ${TOLERANCE}`);
}

/** Pairs of found and expected probabilities. */
async function answersTo(decider, { rank, systemone, probabilities }) {
  if (systemone !== undefined) {
    const { answers } = await decider.decide(systemone);
    return Object.entries(probabilities).map(([question, wanted]) => [
      Object.values(answers[question].probabilities),
      wanted,
    ]);
  }
  const { ranked } = await decider.rank(rank);
  const found = rank.candidates.map(
    (_, at) => ranked.find(({ candidate }) => candidate === String(at)).probability,
  );
  return [[found, probabilities]];
}
