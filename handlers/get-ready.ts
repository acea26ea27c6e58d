import type { Handler } from "../src/contract/call.ts";
import { healthReply } from "./health-report.ts";

/** The same as getHealth, under the name that orchestrators ask for. */
export const getReady: Handler<"getReady"> = async (_call, services) => healthReply(services);
