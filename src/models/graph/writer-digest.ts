import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

let digest: Promise<string> | undefined;

/** A digest over the code that writes graphs, so that graphs of other versions are not reused. */
export function writerDigest(): Promise<string> {
  digest ??= digestOfCode();
  return digest;
}

async function digestOfCode(): Promise<string> {
  const here = path.dirname(fileURLToPath(import.meta.url));
  const hash = createHash("sha256");
  for (const folder of [
    here,
    path.join(here, "../architectures"),
    path.join(here, "../weights"),
    path.join(here, "../../onnx"),
  ]) {
    for (const name of (await readdir(folder, { recursive: true })).sort()) {
      if (/\.(js|ts)$/.test(name)) hash.update(name).update(await readFile(path.join(folder, name)));
    }
  }
  return hash.digest("hex");
}
