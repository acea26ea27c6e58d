import type { Handlers } from "../src/contract/call.ts";
import { getOpenapi, getTypedOpenapi } from "./documents.ts";
import { getHealth, getLivez, getReady } from "./health.ts";
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
