import { pathToFileURL } from "node:url";
import { packageRoot } from "../src/package-root.ts";

/** URL of the checkout, also if a script runs compiled. */
export const rootUrl = pathToFileURL(`${packageRoot}/`);
