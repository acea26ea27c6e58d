import path from "node:path";
import { fileURLToPath } from "node:url";

/** Folder of the checkout. */
export const packageRoot = path.join(path.dirname(fileURLToPath(import.meta.url)), "..", "..");
export const embeddedModel = path.join(packageRoot, "model");
