import type { BackendFacts, BatchScores } from "../../inference/backend.ts";
import type { FromProcess, Refusal, RunnerCounters, ToProcess } from "../process/messages.ts";

/**
 * Messages to and from the Python worker. The other side is native/decision_native/wire.py. All integers are little endian:
 *
 *     "DN01" | uint32 header bytes | uint32 payload bytes | header: JSON in UTF-8 | payload
 *
 * The payload of `score` is the tokens of the nodes in order, int32. The payload of `scored` is the scores, then the
 * vectors, float32. Other messages have none.
 */
const MARK = Buffer.from("DN01");
/** Bytes of the mark and both sizes. */
const HEAD_BYTES = 12;

/** Headers of the worker's messages. */
type Header =
  | { readonly type: "loaded"; readonly facts: BackendFacts }
  | { readonly type: "refused"; readonly message: string; readonly reason: Refusal }
  | ({ readonly type: "scored"; readonly id: number; readonly pairs: number; readonly width: number } & Pick<
      BatchScores,
      "forwards" | "cachedTokens"
    > &
      RunnerCounters)
  | { readonly type: "failed"; readonly id: number; readonly message: string }
  | ({ readonly type: "pong" } & RunnerCounters);

/** Encodes a message to the worker. */
export function writeFrame(message: ToProcess): Buffer {
  if (message.type !== "score") return frame(message, new Uint8Array(0));
  const { type, id, nodes } = message;
  const { tokens, lengths, parents, keys } = nodes;
  const payload = new Uint8Array(tokens.buffer, tokens.byteOffset, tokens.byteLength);
  return frame({ type, id, lengths: [...lengths], parents: [...parents], keys }, payload);
}

function frame(header: object, payload: Uint8Array): Buffer {
  const text = Buffer.from(JSON.stringify(header));
  const sizes = Buffer.alloc(8);
  sizes.writeUInt32LE(text.length, 0);
  sizes.writeUInt32LE(payload.length, 4);
  return Buffer.concat([MARK, sizes, text, payload]);
}

/** Reassembles messages from the chunks of a stream. */
export class FrameReader {
  readonly #receive: (message: FromProcess) => void;
  #pieces: Buffer[] = [];
  #bytes = 0;
  /** Bytes needed for the next step of parsing, so that chunks are joined only once per message. */
  #needed = 1;

  constructor(receive: (message: FromProcess) => void) {
    this.#receive = receive;
  }

  /** @throws Error if the bytes are not a message */
  add(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    for (let rest = this.#next(); rest !== undefined; rest = this.#next()) this.#receive(rest);
  }

  #next(): FromProcess | undefined {
    if (this.#bytes < this.#needed) return undefined;
    const all = this.#joined();
    const mark = all.subarray(0, MARK.length);
    if (!mark.equals(MARK.subarray(0, mark.length)))
      throw new Error("the inference process sent an invalid message");
    if (this.#bytes < HEAD_BYTES) return undefined;
    const headerBytes = all.readUInt32LE(4);
    const end = HEAD_BYTES + headerBytes + all.readUInt32LE(8);
    this.#needed = end;
    if (this.#bytes < end) return undefined;
    this.#needed = 1;
    this.#pieces = [all.subarray(end)];
    this.#bytes -= end;
    const header: Header = JSON.parse(all.toString("utf8", HEAD_BYTES, HEAD_BYTES + headerBytes));
    return messageOf(header, all.subarray(HEAD_BYTES + headerBytes, end));
  }

  #joined(): Buffer {
    const [first] = this.#pieces;
    if (first !== undefined && this.#pieces.length === 1) return first;
    const joined = Buffer.concat(this.#pieces, this.#bytes);
    this.#pieces = [joined];
    return joined;
  }
}

function messageOf(header: Header, payload: Buffer): FromProcess {
  if (header.type !== "scored") return header;
  const { pairs, width, ...rest } = header;
  const numbers = new Float32Array(new Uint8Array(payload).buffer); // a copy: the bytes may be unaligned
  if (numbers.length !== pairs * (1 + width)) throw new Error("the inference process sent too few scores");
  return {
    ...rest,
    scores: numbers.subarray(0, pairs),
    ...(width > 0 && { vectors: numbers.subarray(pairs) }),
  };
}
