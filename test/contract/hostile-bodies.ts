import { gzipSync } from "node:zlib";
import type { ContentCoding } from "../../src/contract/bodies/body.ts";

/** A body that is made to be expensive. */
export interface HostileBody {
  readonly name: string;
  /** Undefined: identity. */
  readonly coding: ContentCoding | undefined;
  readonly bytes: Uint8Array;
}

const QUESTION = '{"type":"noul","instructions":"?"}';
const around = (state: string) => `{"questions":{"q":${QUESTION}},"state":${state}}`;
const fill = (piece: string, size: number) => piece.repeat(Math.ceil(size / piece.length));
const items = (item: string) => (size: number) => around(`[${fill(`${item},`, size)}${item}]`);
const text = (piece: string) => (size: number) => around(`"${fill(piece, size)}"`);
const members = (size: number, make: (at: number) => string) => {
  const count = Math.ceil(size / make(0).length);
  return Array.from({ length: count }, (_, at) => make(at)).join(",");
};
const asked = (questions: string) => `{"state":"a","questions":{${questions}}}`;
const criteria = (type: string, given: string) =>
  asked(`"q":{"type":"${type}","instructions":"?","criteria":${given}}`);

/** What fills a text, as JSON writes it. */
const PIECES: Readonly<Record<string, string>> = {
  letters: "a",
  words: "a ",
  "escaped newlines": "\\n",
  "escaped quotes": '\\"',
  "escaped halves of pairs": "\\ud83d",
  "null characters": "\\u0000",
  emoji: "😀",
  accents: "e\u0301",
  "one letter of eighteen": "\ufdfa",
  "unknown signs": "𓀀",
  "opening brackets": "[",
  digits: "7",
};
/** Places of a text, which is given as JSON. */
const PLACES: Readonly<Record<string, (text: string) => string>> = {
  "a question's name": (name) => asked(`${name}:${QUESTION}`),
  instructions: (text) => asked(`"q":{"type":"noul","instructions":${text}}`),
  "a label": (label) => criteria("choice", `{${label}:null,"b":null}`),
  "a description": (text) => criteria("choice", `{"a":${text},"b":null}`),
  "a level": (text) => criteria("score", `["a",${text}]`),
};
const LONG_TEXTS = Object.entries(PLACES).flatMap(([place, put]) =>
  Object.entries(PIECES).map(
    ([name, piece]) => [`${name} in ${place}`, (size: number) => put(`"${fill(piece, size)}"`)] as const,
  ),
);

/** JSON of about the given size. */
const JSON_SHAPES: Readonly<Record<string, (size: number) => string>> = {
  "opening brackets": (size) => fill("[", size),
  "opening braces": (size) => fill('{"a":', size),
  "98 levels, again and again": items(`${"[".repeat(97)}1${"]".repeat(97)}`),
  "objects of 97 levels": items(`${'{"a":'.repeat(97)}1${"}".repeat(97)}`),
  "empty objects": items("{}"),
  "empty arrays": items("[]"),
  "objects of one member": items('{"a":1}'),
  "numbers of one digit": items("1"),
  "numbers of twenty digits": items("12345678901234567890"),
  "small floats": items("1.25e-300"),
  "negative zeros": items("-0.0"),
  "one number": (size) => around(fill("7", size)),
  "one long fraction": (size) => around(`0.${fill("3", size)}`),
  "one long exponent": (size) => around(`1e-${fill("9", size)}`),
  "a number beyond float64": (size) => around(`${fill("9", size)}.0`),
  "empty strings": items('""'),
  literals: items("null"),
  "members with ascending numbers as names": (size) =>
    around(`{${members(size, (at) => `"${at + 100_000}":${at}`)}}`),
  "members with descending numbers as names": (size) =>
    around(`{${members(size, (at) => `"${4_294_967_290 - at}":0`)}}`),
  "names like __proto__": (size) => around(`{${members(size, (at) => `"__proto__${at}":{}`)}}`),
  "one name twice at the end": (size) => around(`{${members(size, (at) => `"n${at}":0`)},"n0":1}`),
  "one name, always the same": (size) => around(`{${fill('"a":1,', size)}"a":1}`),
  "one long name": (size) => around(`{"${fill("n", size)}":1}`),
  "white space": (size) => around(fill(" \t\n\r", size)),
  "a string without an end": (size) => `{"state":"${fill("a", size)}`,
  "escaped newlines": text("\\n"),
  "escaped quotes": text('\\"'),
  "escaped letters": text("\\u00e9"),
  "escaped surrogate pairs": text("\\ud83d\\ude00"),
  "escaped halves of pairs": text("\\ud83d"),
  "an escape at the end of many letters": (size) => around(`"${fill("a", size)}\\n"`),
  emoji: text("😀"),
  accents: text("e\u0301"),
  spaces: text(" "),
  "punctuation and null characters": text(".\\u0000"),
  "JSON in a string": (size) => around(JSON.stringify(`[${fill('{"a":1},', size)}0]`)),
  "brackets in a string": (size) => around(JSON.stringify(fill("[", size))),
  "unknown members": (size) => `{"state":"a",${members(size, (at) => `"m${at}":1`)}}`,
  "aliases and their names": (size) =>
    `{"context":"${fill("a", size)}","state":1,"answers":[],"candidates":[]}`,
  "a long name of the model": (size) => `{"model":"${fill("a", size)}",${around("1").slice(1)}`,
  "faulty questions": (size) => asked(members(size, (at) => `"q${at}":{"type":"no"}`)),
  "whole questions, too many": (size) => asked(members(size, (at) => `"q${at}":${QUESTION}`)),
  "labels, too many": (size) => criteria("choice", `{${members(size, (at) => `"l${at}":null`)}}`),
  "levels, too many": (size) => criteria("score", `[${members(size, (at) => `"${at}"`)}]`),
  "levels, all the same": (size) => criteria("score", `["${fill("a", size / 2)}","${fill("a", size / 2)}"]`),
  "an array for an object": (size) => asked(`"q":[${fill("1,", size)}1]`),
  "a byte order mark": (size) => `\ufeff${around(`"${fill("a", size)}"`)}`,
  ...Object.fromEntries(LONG_TEXTS),
};

/** Frames and members that are made to be expensive for a decoder. Sizes in bytes. */
const ZSTD_MAGIC = [0x28, 0xb5, 0x2f, 0xfd];
/** A window of 8 MiB, the largest. */
const LARGE = [...ZSTD_MAGIC, 0, 13 << 3];
const bytesOf = (...parts: (readonly number[] | Uint8Array)[]) =>
  Buffer.concat(parts.map((part) => Uint8Array.from(part)));
const again = (piece: readonly number[], size: number) =>
  Buffer.alloc(Math.floor(size / piece.length) * piece.length, Uint8Array.from(piece));
const block = (type: number, content: readonly number[], isLast = false, size = content.length) => {
  const header = (size << 3) | (type << 1) | (isLast ? 1 : 0);
  return [header & 255, (header >> 8) & 255, header >> 16, ...content];
};
const END = block(0, [], true);
/** A literal, then sequences of one code each, which take no bits. */
const sequences = (count: number, [lengths, offsets, matches]: readonly [number, number, number]) => [
  ...[1 << 3, 0x41],
  ...[255, (count - 0x7f00) & 255, (count - 0x7f00) >> 8],
  ...[0b01010100, lengths, offsets, matches, 0x80],
];
const HUFFMAN = [0x12, 0x00, 0x01, 131, 0x11, 0x11, 0x03, 0];

const ZSTD_SHAPES: Readonly<Record<string, (size: number) => Uint8Array>> = {
  "empty frames of the largest window": (size) => again([...LARGE, ...END], size),
  "empty frames of one segment": (size) => again([...ZSTD_MAGIC, 0x20, 0, ...END], size),
  "frames of one byte": (size) => again([...LARGE, ...block(0, [0x20], true)], size),
  "skippable frames": (size) => again([0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0], size),
  "a skippable frame that ends nowhere": () => bytesOf([0x50, 0x2a, 0x4d, 0x18, 255, 255, 255, 255]),
  "empty raw blocks": (size) => bytesOf(LARGE, again(block(0, []), size), END),
  "empty repeated blocks": (size) => bytesOf(LARGE, again(block(1, [0x20], false, 0), size), END),
  "raw blocks of one byte": (size) => bytesOf(LARGE, again(block(0, [0x20]), size), END),
  "repeated blocks of 128 KiB": (size) => bytesOf(LARGE, again(block(1, [0x20], false, 131_072), size), END),
  "a repeated block that is too long": () => bytesOf(LARGE, block(1, [0x20], true, 131_073)),
  "the longest matches": () => bytesOf(LARGE, block(2, sequences(90_000, [0, 1, 52]), true)),
  "the most sequences": () => bytesOf(LARGE, block(2, sequences(0x17eff, [0, 1, 0]), true)),
  "the longest literals": () => bytesOf(LARGE, block(2, sequences(90_000, [35, 1, 0]), true)),
  "offsets beyond the window": () => bytesOf(LARGE, block(2, sequences(40_000, [0, 31, 0]), true)),
  "Huffman tables": (size) => bytesOf(LARGE, again(block(2, HUFFMAN), size), END),
  "frames with Huffman tables": (size) => again([...LARGE, ...block(2, HUFFMAN, true)], size),
  "a window of 2 GB": () => bytesOf(ZSTD_MAGIC, [0, 21 << 3], END),
  "content of 2 ** 63 bytes": () => bytesOf(ZSTD_MAGIC, [0xe0, 0, 0, 0, 0, 0, 0, 0, 0x80], END),
  "more content than there is": () => bytesOf(ZSTD_MAGIC, [0xa0, 0, 0, 1, 0], END),
  "frames that name a dictionary": (size) => again([...ZSTD_MAGIC, 1, 0x68, 7, ...END], size),
};

const EMPTY_MEMBER = gzipSync("");
const GZIP_SHAPES: Readonly<Record<string, (size: number) => Uint8Array>> = {
  "empty members": (size) => again([...EMPTY_MEMBER], size),
  "zeros, a thousand to one": (size) => gzipSync(Buffer.alloc(size * 100)),
  "members of zeros": (size) => again([...gzipSync(Buffer.alloc(1000))], size),
  "empty stored blocks": (size) =>
    bytesOf(EMPTY_MEMBER.subarray(0, 10), again([0, 0, 0, 255, 255], size), [3, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
  "a name without an end": (size) => bytesOf([0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3], again([97], size)),
  "a member and rubbish": (size) => bytesOf(EMPTY_MEMBER, again([97], size)),
};

/** Raw blocks, since Node.js 20 cannot write zstd. */
function asZstd(bytes: Uint8Array): Uint8Array {
  const blocks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += 65_536) {
    blocks.push(Uint8Array.from(block(0, [...bytes.subarray(at, at + 65_536)])));
  }
  return bytesOf(LARGE, ...blocks, END);
}

/** Bodies of about the given size: each shape of JSON in each coding, and what is hostile by its coding. */
export function* hostileBodies(size: number): Generator<HostileBody> {
  for (const [name, make] of Object.entries(JSON_SHAPES)) {
    const bytes = Buffer.from(make(size));
    yield { name, coding: undefined, bytes };
    yield { name, coding: "gzip", bytes: gzipSync(bytes) };
    yield { name, coding: "zstd", bytes: asZstd(bytes) };
  }
  for (const [name, make] of Object.entries(ZSTD_SHAPES)) yield { name, coding: "zstd", bytes: make(size) };
  for (const [name, make] of Object.entries(GZIP_SHAPES)) yield { name, coding: "gzip", bytes: make(size) };
}
