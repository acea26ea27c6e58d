import { once } from "node:events";
import type { Writable } from "node:stream";
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCMessage,
  ProtocolErrorCode,
  type Transport,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { ServiceError } from "../errors.ts";
import {
  idTwice,
  type Refusal,
  readMessage,
  type SentArguments,
  writeRefusal,
  writeWithIds,
} from "./messages.ts";
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
  const lines = new Lines(input, output);
  await new Promise<void>((resolve) => {
    const server = serveStdio(
      () => createMcpServer(parts, { takeArguments: (id) => lines.take(String(id)) }),
      {
        transport: lines,
        maxSubscriptions: 0,
        onerror: onError,
      },
    );
    const tellClosed = lines.onclose;
    lines.onclose = () => {
      tellClosed?.();
      resolve(server.close());
    };
  });
}

/**
 * A transport over lines. Unlike the SDK's, it keeps ids and arguments as they were sent, answers every line that is no
 * message, and closes only when all requests that it has read are answered.
 */
class Lines implements Transport {
  readonly #input: AsyncIterable<Uint8Array>;
  readonly #output: Writable;
  /** The unanswered requests by id, with the arguments of tool calls that have not started. */
  readonly #open = new Map<string, SentArguments>();
  #isClosed = false;
  #onAnswered = () => {};
  onclose?: Transport["onclose"];
  onerror?: Transport["onerror"];
  onmessage?: Transport["onmessage"];

  constructor(input: AsyncIterable<Uint8Array>, output: Writable) {
    this.#input = input;
    this.#output = output;
  }

  async start(): Promise<void> {
    this.#output.on("error", (error) => this.#fail(error));
    this.#readAll().then(
      () => this.close(),
      (error: unknown) => this.#fail(error),
    );
  }

  async send(message: JSONRPCMessage): Promise<void> {
    await this.#write(writeWithIds(message));
    if (!("method" in message) && "id" in message) this.#end(String(message.id));
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onclose?.();
  }

  /** Returns and forgets the arguments of a call. */
  take(id: string): SentArguments {
    const given = this.#open.get(id);
    if (this.#open.has(id) && !(given instanceof ServiceError)) this.#open.set(id, undefined);
    return given;
  }

  #end(id: string): void {
    this.#open.delete(id);
    this.#onAnswered();
  }

  #fail(error: unknown): void {
    this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    this.close();
  }

  async #write(text: string): Promise<void> {
    if (!this.#output.write(`${text}\n`)) await once(this.#output, "drain");
  }

  async #readAll(): Promise<void> {
    for await (const line of linesOf(this.#input)) {
      if (!line.every((byte) => byte === 0x20 || byte === 0x0d)) await this.#read(line);
    }
    while (this.#open.size > 0)
      await new Promise<void>((resolve) => {
        this.#onAnswered = resolve;
      });
  }

  async #read(line: Buffer): Promise<void> {
    const read = await readMessage(line);
    if ("error" in read) return this.#refuse(read);
    const { plain: message, calls } = read;
    if (isJSONRPCRequest(message)) {
      const id = String(message.id);
      this.#open.set(id, this.#open.has(id) ? idTwice() : calls.get(id));
    } else if (isJSONRPCNotification(message)) {
      // a cancelled request gets no answer
      if (message.method === "notifications/cancelled") this.#end(String(message.params?.requestId));
    } else if (!isJSONRPCResponse(message)) {
      const error = {
        code: ProtocolErrorCode.InvalidRequest,
        message: "Expected one message of JSON-RPC 2.0.",
      };
      return this.#refuse({ id: null, error });
    }
    this.onmessage?.(message);
  }

  async #refuse(refusal: Refusal): Promise<void> {
    this.onerror?.(new Error(refusal.error.message));
    await this.#write(writeRefusal(refusal));
  }
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
      throw new ServiceError(
        "BODY_TOO_LARGE",
        `Expected a message of at most ${MAX_LINE_BYTES} bytes, got more.`,
      );
  }
  if (restBytes > 0) yield Buffer.concat(rest); // the last line of a file without a newline
}
