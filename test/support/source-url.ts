import path from "node:path";
import { pathToFileURL } from "node:url";
import { packageRoot } from "./package-root.ts";

/** Where a program in a process of its own imports a compiled module of src from, quoted: `backends/onnx/runtime/runtime`. */
export function quotedUrl(module: string): string {
  return JSON.stringify(pathToFileURL(path.join(packageRoot, "dist/src", `${module}.js`)).href);
}
