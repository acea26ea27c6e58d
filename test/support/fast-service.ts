import { createFastEngine, type FastEngineParts } from "../../packages/conformance/test/fast-engine.ts";
import { type AppOptions, createApp } from "../../src/app.ts";
import { OPTION_TABLE } from "../../src/options/table.ts";
import { socketUrl } from "../../src/service-address.ts";

const silent = () => {};

export interface FastServiceOptions extends Partial<AppOptions> {
  readonly engine?: FastEngineParts;
  /** Path of a Unix socket to listen on instead of a port. */
  readonly socket?: string;
}

/** A whole service over a model that takes no time, on a port of its own, with the limits of the command's defaults. */
export async function startFastService({
  engine: parts = {},
  socket,
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
  const url = await app.listen(socket === undefined ? { host: "127.0.0.1", port: 0 } : { path: socket });
  return {
    url: socket === undefined ? url : socketUrl("http", socket),
    async close() {
      app.server.closeAllConnections();
      await app.close();
      await engine.close();
    },
  };
}
