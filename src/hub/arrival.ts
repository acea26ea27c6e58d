import type { Readable } from "node:stream";

/** Maximum bytes waiting to be written. */
const MOST_WAITING = 2 ** 20;

/**
 * The chunks of a body, including all chunks received before an error. A stream's own iterator drops waiting chunks on
 * an error; on an unstable connection they would be fetched repeatedly. Listens from the call on, so no chunk is
 * missed.
 *
 * @returns chunks; throws the stream's error after its last chunk
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
