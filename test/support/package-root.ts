import path from "node:path";
import { packageRoot } from "../../src/package-root.ts";

export { packageRoot };
export const embeddedModel = path.join(packageRoot, "model");
