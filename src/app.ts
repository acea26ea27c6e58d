import { readFile } from "node:fs/promises";
import path from "node:path";
import type { FastifyInstance } from "fastify";
import { handlers } from "../handlers/index.ts";
import type { Contract } from "./contract/call.ts";
import { createContract } from "./contract/contract.ts";
import { REQUEST_LIMITS } from "./decisions/limits.ts";
import { createEngine, type EngineCore } from "./engine.ts";
import { systemClock } from "./inference/clock.ts";
import type { Engine } from "./inference/ports.ts";
import type { ServiceOptions } from "./options/table.ts";
import { packageRoot } from "./package-root.ts";
import type { Log } from "./server/log.ts";
import { createServer } from "./server/server.ts";

export interface App {
  /** Does not listen yet. */
  readonly server: FastifyInstance;
  /** Not started yet: until then inference is answered 503. */
  readonly engine: EngineCore;
}

/** The service, ready to listen and to start. @throws ServiceError INVALID_MODEL */
export async function createApp(
  options: ServiceOptions,
  { apiKey, log }: { readonly apiKey?: string | undefined; readonly log: Log },
): Promise<App> {
  const engine = await createEngine(options, (event, details) => log.warn(details, event));
  const contract = await createContractFor(engine);
  const limits = { maxBodyBytes: REQUEST_LIMITS.maxBodyBytes };
  const server = await createServer({ contract, version: await readVersion(), apiKey, log, limits });
  return { server, engine };
}

/** The contract over an engine, without a web server. */
export async function createContractFor(engine: Engine): Promise<Contract> {
  const document = await readJsonFile("generated/openapi.json");
  return createContract({
    document,
    handlers,
    services: { engine, document, version: await readVersion(), clock: systemClock },
  });
}

async function readVersion(): Promise<string> {
  return String((await readJsonFile("package.json")).version);
}

async function readJsonFile(name: string): Promise<Record<string, unknown>> {
  return JSON.parse(await readFile(path.join(packageRoot, name), "utf8"));
}
