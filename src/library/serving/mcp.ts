import { createContractFor } from "../../app.ts";
import type { Contract } from "../../contract/call.ts";
import { createEngine, type EngineCore, type EngineLog } from "../../engine.ts";
import type { AskService } from "../../mcp/call-tool.ts";
import { mcpParts } from "../../mcp/parts.ts";
import { askRemote } from "../../mcp/remote.ts";
import type { ServiceOptions } from "../../options/table.ts";
import type { Log } from "../../server/log.ts";
import { serviceAddress } from "../../service-address.ts";
import { checkTuning } from "../checks.ts";

/** The URL of a service, or the options of a local engine. */
export type McpSource = { readonly url: string } | { readonly options: ServiceOptions };

export interface McpParts {
  /** Key for the service at the URL. */
  readonly apiKey: string | undefined;
  /** Token for the server at `remoteUrl` of the options. */
  readonly remoteToken?: string | undefined;
  readonly log: Log;
}

/**
 * Serves MCP over standard input and output until the input ends. Writes only protocol messages to standard output.
 *
 * @throws ServiceError INVALID_OPTION | INVALID_MODEL | BACKEND_FAILED
 */
export async function serveMcp(source: McpSource, { apiKey, remoteToken, log }: McpParts): Promise<void> {
  const onError = ({ message }: Error) => log.warn({ reason: message }, "mcp");
  const { serveOverStdio } = await import("../../mcp/stdio.ts"); // imported here, so that no other command loads the protocol's SDK
  const { stdin: input, stdout: output } = process;
  if ("url" in source) {
    const ask = askRemote(serviceAddress(source.url), apiKey);
    const parts = await mcpParts();
    await serveOverStdio({ ...parts, ask, input, output, onError });
    return;
  }
  await checkTuning(source.options); // reported now, instead of at the first listing of the tools
  const engine = new LazyEngine(source.options, log, remoteToken);
  try {
    const parts = await mcpParts();
    const onUse = () => engine.open();
    const ask: AskService = async (asked) => (await engine.open()).call({ ...asked, requestId: "local" });
    await Promise.race([serveOverStdio({ ...parts, ask, onUse, input, output, onError }), engine.failed]);
  } finally {
    await engine.close();
  }
}

/**
 * An engine that loads its model when the tools are first listed: some hosts start a process only to ask for the
 * protocol revision.
 */
class LazyEngine {
  readonly #options: ServiceOptions;
  readonly #log: Log;
  readonly #remoteToken: string | undefined;
  #engine: Promise<EngineCore> | undefined;
  #contract: Promise<Contract> | undefined;
  #fail: (error: unknown) => void = () => {};
  /** Never resolves. @throws ServiceError INVALID_OPTION | INVALID_MODEL | BACKEND_FAILED */
  readonly failed = new Promise<never>((_resolve, reject) => {
    this.#fail = reject;
  });

  constructor(options: ServiceOptions, log: Log, remoteToken: string | undefined) {
    this.#options = options;
    this.#log = log;
    this.#remoteToken = remoteToken;
  }

  /** Loads the model, once, and resolves with the contract. */
  open(): Promise<Contract> {
    if (this.#contract === undefined) {
      const log: EngineLog = (event, details) => this.#log.warn(details, event);
      this.#engine = createEngine(this.#options, log, { remoteToken: this.#remoteToken });
      this.#contract = this.#engine.then(async (engine) => {
        const [contract] = await Promise.all([createContractFor(engine), engine.start()]);
        return contract;
      });
      this.#contract.catch(this.#fail);
    }
    return this.#contract;
  }

  async close(): Promise<void> {
    const engine = await this.#engine?.catch(() => undefined);
    await engine?.close();
  }
}
