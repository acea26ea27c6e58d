import { Readable, type Writable } from "node:stream";
import { isJSONRPCNotification, isJSONRPCRequest, type JSONRPCMessage } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { ServiceError } from "../errors.ts";
import { idTwice, keyOf, readMessage, type SentArguments } from "./messages.ts";
import { createMcpServer, type McpParts } from "./server.ts";

/** Maximum size of a message. Chosen: twice the largest body after escaping. */
const MAX_LINE_BYTES = 16 * 2 ** 20;
const NEWLINE = 0x0a;

export interface StdioOptions extends McpParts {
  readonly input: AsyncIterable<Uint8Array>;
  readonly output: Writable;
  /** Called for invalid messages; must not write to `output`. */
  readonly onError: (error: Error) => void;
}

/**
 * Serves one connection: one message per line, in both directions.
 *
 * @returns when the input has ended and every request has been answered
 */
export async function serveOverStdio({ input, output, onError, ...parts }: StdioOptions): Promise<void> {
  const requests = new OpenRequests();
  const transport = new CountingTransport(requests, Readable.from(skeletons(input, requests)), output);
  const takeArguments = (id: unknown): SentArguments => requests.take(id);
  const closed = new Promise<void>((resolve) => {
    const server = serveStdio(() => createMcpServer(parts, { takeArguments }), {
      transport,
      maxSubscriptions: 0,
      onerror: onError,
    });
    const tellClosed = transport.onclose;
    transport.onclose = () => {
      tellClosed?.();
      resolve(server.close());
    };
  });
  await closed;
}

/** The unanswered requests, with the arguments of tool calls that have not started. */
class OpenRequests {
  readonly #open = new Map<string, SentArguments>();
  #onEmpty = () => {};

  add(id: unknown, given: SentArguments): void {
    const key = keyOf(id);
    this.#open.set(key, this.#open.has(key) ? idTwice() : given);
  }

  take(id: unknown): SentArguments {
    const key = keyOf(id);
    const given = this.#open.get(key);
    if (this.#open.has(key) && !(given instanceof ServiceError)) this.#open.set(key, undefined);
    return given;
  }

  end(id: unknown): void {
    this.#open.delete(keyOf(id));
    if (this.#open.size === 0) this.#onEmpty();
  }

  async allEnded(): Promise<void> {
    if (this.#open.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
  }
}

/** The SDK's transport, extended to report when a request has been answered. */
class CountingTransport extends StdioServerTransport {
  readonly #requests: OpenRequests;

  constructor(requests: OpenRequests, input: Readable, output: Writable) {
    super(input, output, { maxBufferSize: 2 * MAX_LINE_BYTES });
    this.#requests = requests;
  }

  override async send(message: JSONRPCMessage): Promise<void> {
    await super.send(message);
    if (!("method" in message) && "id" in message) this.#requests.end(message.id);
  }
}

/** The messages for the SDK, without the arguments of calls. Ends when all are answered. */
async function* skeletons(input: AsyncIterable<Uint8Array>, requests: OpenRequests): AsyncGenerator<Buffer> {
  for await (const line of linesOf(input)) {
    if (line.every((byte) => byte === 0x20 || byte === 0x0d)) continue;
    yield await skeletonOf(line, requests);
  }
  await requests.allEnded();
}

async function skeletonOf(line: Buffer, requests: OpenRequests): Promise<Buffer> {
  try {
    const { plain, calls } = await readMessage(line);
    note(plain, calls, requests);
    return Buffer.from(`${JSON.stringify(plain)}\n`);
  } catch (error) {
    if (error instanceof ServiceError) return Buffer.concat([line, Buffer.from("\n")]); // the SDK reports the error
    throw error;
  }
}

function note(message: unknown, calls: ReadonlyMap<string, SentArguments>, requests: OpenRequests): void {
  if (isJSONRPCRequest(message)) requests.add(message.id, calls.get(keyOf(message.id)));
  // a cancelled request gets no answer
  else if (isJSONRPCNotification(message) && message.method === "notifications/cancelled")
    requests.end(message.params?.requestId);
}

/** @throws ServiceError BODY_TOO_LARGE for a line that does not end */
async function* linesOf(input: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let rest: Buffer[] = [];
  let restBytes = 0;
  for await (const chunk of input) {
    let bytes = Buffer.from(chunk);
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE)) {
      yield Buffer.concat([...rest, bytes.subarray(0, end)]);
      rest = [];
      restBytes = 0;
      bytes = bytes.subarray(end + 1);
    }
    rest.push(bytes);
    restBytes += bytes.length;
    if (restBytes > MAX_LINE_BYTES)
      throw new ServiceError("BODY_TOO_LARGE", `A message may have at most ${MAX_LINE_BYTES} bytes.`);
  }
  if (restBytes > 0) yield Buffer.concat(rest); // the last line of a file without a newline
}
