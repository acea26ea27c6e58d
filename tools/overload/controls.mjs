// Planted faults of the service, to show that the measurement detects them. Loaded into the service process with
// `--import`; the query contains the folder of the compiled service and the fault's name.

import { syncBuiltinESMExports } from "node:module";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

const { searchParams } = new URL(import.meta.url);
const dist = (file) => import(pathToFileURL(path.join(searchParams.get("dist"), file)));

const faults = {
  /** A full queue is noticed only after the body has been read, parsed and validated. */
  async "late-refusals"() {
    const { EngineCore } = await dist("src/inference/engine-core.js");
    EngineCore.prototype.isFull = () => false;
  },
  /** The inference process competes with the service for the processors. */
  async "equal-priority"() {
    os.setPriority = () => {};
    syncBuiltinESMExports();
  },
  /** Memory for incoming bodies is unlimited. */
  async "unbounded-bodies"() {
    const { BodyBudget } = await dist("src/server/wire/bodies.js");
    BodyBudget.prototype.reserve = () => ({ grow() {}, complete() {}, release() {} });
  },
};
await faults[searchParams.get("fault")]();
