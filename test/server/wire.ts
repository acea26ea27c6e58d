import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** An answer as it came over the wire. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The parsed body; undefined where there is none. */
  readonly body: { readonly detail?: unknown; readonly [name: string]: unknown };
}

/** A client that sends bytes as they are given and reads answers one by one. */
export class WireClient {
  readonly socket: Socket;
  #received = Buffer.alloc(0);
  #isEnded = false;
  error: NodeJS.ErrnoException | undefined;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on("data", (chunk) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      socket.emit("progress");
    });
    socket.on("end", () => {
      this.#isEnded = true;
      socket.emit("progress");
    });
    socket.on("error", (error) => {
      this.error = error;
    });
    socket.on("close", () => {
      this.#isEnded = true;
      socket.emit("progress");
    });
  }

  static async open(port: number): Promise<WireClient> {
    const socket = connect({ host: "127.0.0.1", port, allowHalfOpen: true });
    await once(socket, "connect");
    return new WireClient(socket);
  }

  /** Resolves when the bytes are handed to the system: everything before has been taken by the peer's buffers. */
  async send(...parts: (string | Uint8Array)[]): Promise<void> {
    for (const part of parts) {
      await new Promise<void>((resolve) => {
        this.socket.write(part, () => resolve()); // a failed write is seen in `error`
      });
    }
  }

  /** The next final or interim answer. @throws Error when the connection ends before */
  async read(method = "GET"): Promise<WireAnswer> {
    for (;;) {
      const answer = this.#take(method);
      if (answer !== undefined) return answer;
      if (this.#isEnded) throw new Error(`connection ended after: ${this.#received.toString("latin1")}`);
      await once(this.socket, "progress");
    }
  }

  /** Waits until the server has ended its side. */
  async ended(): Promise<void> {
    while (!this.#isEnded) await once(this.socket, "progress");
  }

  close(): void {
    this.socket.destroy();
  }

  #take(method: string): WireAnswer | undefined {
    const split = this.#received.indexOf("\r\n\r\n");
    if (split < 0) return undefined;
    const [statusLine = "", ...lines] = this.#received.subarray(0, split).toString("latin1").split("\r\n");
    const headers = Object.fromEntries(
      lines.map((line) => [
        line.slice(0, line.indexOf(":")).toLowerCase(),
        line.slice(line.indexOf(":") + 1).trim(),
      ]),
    );
    const status = Number(statusLine.split(" ")[1]);
    const length = status < 200 || method === "HEAD" ? 0 : Number(headers["content-length"]);
    const end = split + 4 + length;
    if (this.#received.length < end) return undefined;
    const text = this.#received.subarray(split + 4, end).toString("utf8");
    this.#received = this.#received.subarray(end);
    const body: WireAnswer["body"] =
      headers["content-type"] === "application/json" && text !== "" ? JSON.parse(text) : {};
    return { status, headers, text, body };
  }
}

/** The head of a request: request line, Host, and the given lines. */
export function head(line: string, ...lines: string[]): string {
  return [`${line} HTTP/1.1`, "Host: localhost", ...lines, "", ""].join("\r\n");
}

/** Resolves when a server of this process has read what was sent to it before: it then answers what comes later. */
export async function untilRead(port: number): Promise<void> {
  const client = await WireClient.open(port);
  await client.send(head("GET /nothing"));
  await client.read();
  client.close();
}
