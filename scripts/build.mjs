// Compiles src, handlers, generated, bench and packages into dist/, copies the assets of the pages, and bundles the
// playground.
import { compile, run } from "./compile.mjs";

compile("tsconfig.build.json", ["src", "handlers", "generated", "bench", "packages"]);
run("scripts/copy-assets.mjs");
await import("./build-playground.mjs");
