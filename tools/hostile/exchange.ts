import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** What a client does, in order. `end` closes its side, `reset` drops the connection. */
export type Step = string | Uint8Array | { readonly pauseMs: number } | "end" | "reset";

export interface Answer {
  readonly status: number;
  /** One element per header line, with lowercase names. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

export interface Exchange {
  /** Final answers, in order. Interim ones (100) are counted separately. */
  readonly answers: readonly Answer[];
  readonly interim: number;
  /** Bytes after the last complete answer. */
  readonly rest: string;
  /** Whether the server neither answered everything nor closed in time. */
  readonly isHung: boolean;
  readonly ms: number;
}

/**
 * Performs the steps on a new connection and reads until there are as many answers as methods. Then it closes its side
 * and waits until the server closes too, to detect additional answers.
 *
 * @param methods methods of the requests, which determine whether answers have a body
 * @param boundMs time limit of the exchange
 */
export async function exchange(
  port: number,
  steps: readonly Step[],
  methods: readonly string[],
  boundMs: number,
): Promise<Exchange> {
  const startedAt = performance.now();
  const socket = connect({ host: "127.0.0.1", port, allowHalfOpen: true, noDelay: true });
  const chunks: Buffer[] = [];
  let parsed = parseAnswers(Buffer.alloc(0), methods);
  let hasEnded = false;
  const isClosed = new Promise<boolean>((resolve) => {
    socket.on("error", () => {}); // a reset also ends the connection
    socket.on("close", () => resolve(true));
    socket.on("end", () => {
      socket.end();
      resolve(true);
    });
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      parsed = parseAnswers(Buffer.concat(chunks), methods);
      if (parsed.answers.length >= methods.length && !hasEnded) {
        hasEnded = true;
        socket.end();
      }
    });
  });
  void play(socket, steps);
  const isInTime = await Promise.race([isClosed, sleep(boundMs, false, { ref: false })]);
  socket.destroy();
  return { ...parsed, isHung: !isInTime, ms: performance.now() - startedAt };
}

async function play(socket: Socket, steps: readonly Step[]): Promise<void> {
  for (const step of steps) {
    if (!socket.writable) return;
    if (step === "end") socket.end();
    else if (step === "reset") socket.resetAndDestroy();
    else if (typeof step === "string") socket.write(step, "latin1");
    else if (step instanceof Uint8Array) socket.write(step);
    else await sleep(step.pauseMs, undefined, { ref: false });
  }
}

/** A strict parser: bytes that are not an HTTP/1.1 answer stay in `rest`. */
function parseAnswers(
  bytes: Buffer,
  methods: readonly string[],
): Pick<Exchange, "answers" | "interim" | "rest"> {
  const answers: Answer[] = [];
  let interim = 0;
  let at = 0;
  for (;;) {
    const split = bytes.indexOf("\r\n\r\n", at);
    if (split < 0) break;
    const [statusLine = "", ...lines] = bytes.subarray(at, split).toString("latin1").split("\r\n");
    const status = Number(/^HTTP\/1\.1 ([1-5]\d\d) /.exec(statusLine)?.[1]);
    if (!status) break;
    const headers = lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
    });
    if (status < 200) {
      interim += 1;
      at = split + 4;
      continue;
    }
    const lengths = headers.filter(([name]) => name === "content-length").map(([, value]) => value);
    const isBodiless = methods[answers.length] === "HEAD" || status === 204 || status === 304;
    const length = isBodiless ? 0 : Number(lengths[0] ?? "0");
    if (!Number.isSafeInteger(length) || lengths.length > 1 || bytes.length < split + 4 + length) break;
    answers.push({ status, headers, body: bytes.toString("utf8", split + 4, split + 4 + length) });
    at = split + 4 + length;
  }
  return { answers, interim, rest: bytes.toString("latin1", at, Math.min(bytes.length, at + 500)) };
}
