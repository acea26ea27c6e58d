import type { Readable } from "node:stream";

/** Bytes that may wait to be written. */
const MOST_WAITING = 2 ** 20;

/**
 * The chunks of a body, also all that came before it broke: a stream's own iterator drops those that wait when it fails, and on a
 * line that breaks often they would be fetched again and again. It listens from the call on, so that nothing is missed.
 *
 * @returns chunks; throws what the stream failed with, after its last chunk
 */
export function arrivals(body: Readable): AsyncGenerator<Buffer> {
  const waiting: Buffer[] = [];
  let bytes = 0;
  let end: { readonly error?: unknown } | undefined;
  let wake = () => {};
  body.on("data", (chunk: Buffer) => {
    waiting.push(chunk);
    bytes += chunk.length;
    if (bytes > MOST_WAITING) body.pause();
    wake();
  });
  const finish = (how: { readonly error?: unknown }) => {
    end ??= how;
    wake();
  };
  body.on("end", () => finish({}));
  body.on("error", (error) => finish({ error }));
  body.on("close", () => finish({ error: new Error("the connection was closed") }));
  return (async function* () {
    try {
      yield* each();
    } finally {
      body.destroy();
    }
  })();

  async function* each(): AsyncGenerator<Buffer> {
    for (;;) {
      const chunk = waiting.shift();
      if (chunk !== undefined) {
        bytes -= chunk.length;
        yield chunk;
      } else if (end !== undefined) {
        if ("error" in end) throw end.error;
        return;
      } else {
        const woken = new Promise<void>((resolve) => {
          wake = resolve;
        });
        body.resume();
        await woken;
      }
    }
  }
}
