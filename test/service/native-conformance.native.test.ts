import assert from "node:assert/strict";
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, describe, it } from "node:test";
import { assertKept, WITHOUT_KEY } from "../../packages/conformance/test/kept.ts";
import { shallowPackage } from "../backends/shallow-model.ts";
import { embeddedModel } from "../support/package-root.ts";
import { nativeBackend } from "../support/tested-backends.ts";
import { Service } from "./service.ts";

/** Of an answer: pairs one by one take some ten times as long as a batch, and ten times that on a busy machine. */
const TIMEOUT_SECONDS = 300;
const MOST_SECONDS = 3600;
const PATIENT = ["--deadline-ms", String(2 * TIMEOUT_SECONDS * 1000)];

/** The embedded model with two layers. The scores of all are tested with test/backends/native-scores.native.test.ts. */
const modelPath = await mkdtemp(path.join(tmpdir(), "native-conformance-"));
after(() => rm(modelPath, { recursive: true }));
for (const name of Object.keys(shallowPackage.manifest.files))
  await copyFile(path.join(embeddedModel, name), path.join(modelPath, name));
await writeFile(path.join(modelPath, "manifest.json"), JSON.stringify(shallowPackage.manifest));

/** Clauses about keys that the profile seed does not have. */
const OF_FULL = /before-body|challenge/;

describe("the backend native", () => {
  for (const [name, flags, profile, skipped] of [
    [
      "keeps the whole contract, to the bit, as the reference execution",
      ["--strict", "--batch-wait-ms", "0"],
      "full",
      WITHOUT_KEY,
    ],
    ["keeps the profile seed in batches", [], "seed", WITHOUT_KEY.filter((id) => !OF_FULL.test(id))],
  ] as const) {
    it(name, async () => {
      const service = await Service.start([
        ...[...nativeBackend.flags, "--model-path", modelPath],
        ...[...PATIENT, ...flags],
      ]);
      try {
        const baseUrl = `http://127.0.0.1:${service.port}`;
        const bounds = { timeoutSeconds: TIMEOUT_SECONDS, maxSeconds: MOST_SECONDS };
        await assertKept({ baseUrl, profile, ...bounds }, skipped);
      } finally {
        assert.equal(await service.stop(), 0);
      }
    });
  }
});
