import type { Handler } from "../src/contract/call.ts";
import { healthReply } from "./health-report.ts";

/** The same as getHealth, for readiness probes. */
export const getReady: Handler<"getReady"> = async (services) => healthReply(services);
