import { NO_TELEMETRY } from "../process/process-environment.ts";

Object.assign(process.env, NO_TELEMETRY);
