import type { Handler } from "../src/contract/call.ts";
import { healthReply } from "./health-report.ts";

/** Whether the service takes requests, with its counters. */
export const getHealth: Handler<"getHealth"> = async (services) => healthReply(services);
