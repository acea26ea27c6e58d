// Compiles src, handlers, generated and bench into dist/, and copies the assets of the pages.
import { compile, run } from "./compile.mjs";

compile("tsconfig.build.json", ["src", "handlers", "generated", "bench"]);
run("scripts/copy-assets.mjs");
