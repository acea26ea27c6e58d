import type { AddressInfo } from "node:net";
import { type AppOptions, createApp } from "../../src/app.ts";
import { OPTION_TABLE } from "../../src/options/table.ts";
import { createFastEngine, type FastEngineParts } from "../conformance/fast-engine.ts";

const silent = () => {};

export interface FastServiceOptions extends Partial<AppOptions> {
  readonly engine?: FastEngineParts;
}

/** A whole service over a model that takes no time, on a port of its own, with the limits of the command's defaults. */
export async function startFastService({
  engine: parts = {},
  ...options
}: FastServiceOptions = {}): Promise<{ readonly url: string; close(): Promise<void> }> {
  const engine = await createFastEngine(0, parts);
  const app = await createApp(engine, {
    maxConnections: OPTION_TABLE.maxConnections.default,
    headersTimeoutMs: OPTION_TABLE.headersTimeoutMs.default,
    bodyMemoryMb: OPTION_TABLE.bodyMemoryMb.default,
    log: { debug: silent, info: silent, warn: silent, error: silent },
    ...options,
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as AddressInfo; // it listens on TCP
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      app.server.closeAllConnections();
      await app.close();
      await engine.close();
    },
  };
}
