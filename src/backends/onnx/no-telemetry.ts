import { NO_TELEMETRY } from "./process-environment.ts";

Object.assign(process.env, NO_TELEMETRY);
