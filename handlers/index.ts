import type { Handlers } from "../src/contract/call.ts";
import { getHealth } from "./get-health.ts";
import { getLivez } from "./get-livez.ts";
import { getOpenapi } from "./get-openapi.ts";
import { getReady } from "./get-ready.ts";
import { getTypedOpenapi } from "./get-typed-openapi.ts";
import { listModels } from "./list-models.ts";
import { rank } from "./rank.ts";
import { systemone } from "./systemone.ts";

/** All handlers by operationId. A missing one is a compile error. */
export const handlers: Handlers = {
  systemone,
  rank,
  listModels,
  getHealth,
  getReady,
  getLivez,
  getOpenapi,
  getTypedOpenapi,
};
