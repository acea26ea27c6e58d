import { runSliced, type SliceOptions } from "../../json/slices.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../json/value.ts";
import { renderText, stateValue } from "../texts.ts";

/** What a part is of the state. */
export type PartUnit = "field" | "item" | "sentence" | "word";

/** A part of a state, and the state without it. */
export interface StatePart {
  readonly unit: PartUnit;
  readonly text: string;
  /** Rendered. */
  readonly without: string;
}

/** Chosen: as many as people look at; a request costs that many more states. */
const MAX_PARTS = 32;

/**
 * The parts of a state as it was sent.
 *
 * @returns as `statePartsOf`
 * @throws ServiceError CANCELLED once `signal` is aborted
 */
export async function readStateParts(
  sent: JsonValue,
  maxRows: number,
  options: Pick<SliceOptions, "signal"> = {},
): Promise<readonly StatePart[]> {
  return statePartsOf(await runSliced(stateValue(sent), options), maxRows);
}

/**
 * The parts of a state: members, items, sentences of texts, or the words of a single sentence. Neighbours are one part
 * where there would be too many.
 *
 * @param state   as `stateValue` gives it
 * @param maxRows as in `renderText`; the whole state has no more
 * @returns [parts] at least two, or none where nothing can be left out
 */
function statePartsOf(state: JsonValue, maxRows: number): readonly StatePart[] {
  const { atoms, without } = split(state);
  if (atoms.length < 2) return [];
  const count = Math.min(atoms.length, MAX_PARTS);
  return Array.from({ length: count }, (_, at) => {
    const part = atoms.slice((at * atoms.length) / count, ((at + 1) * atoms.length) / count);
    return {
      unit: part[0]?.unit ?? "word",
      text: part
        .map(({ text }) => text)
        .join(part[0]?.separator ?? "")
        .trim(),
      without: renderText(without(new Set(part)), maxRows) ?? "",
    };
  });
}

/** What is left out as a whole. */
interface Atom {
  readonly unit: PartUnit;
  readonly text: string;
  /** Between it and its neighbour. */
  readonly separator: string;
}

interface Split {
  readonly atoms: readonly Atom[];
  without(left: ReadonlySet<Atom>): JsonValue;
}

function split(value: JsonValue): Split {
  if (typeof value === "string") {
    const sentences = splitText(value, "sentence");
    return sentences.atoms.length > 1 ? sentences : splitText(value, "word");
  }
  if (isJsonObject(value)) return splitMembers([...value], (members) => new Map(members), "field");
  if (isJsonArray(value)) {
    const members = value.map((item, at): Member => [String(at), item]);
    return splitMembers(members, (kept) => kept.map(([, item]) => item), "item");
  }
  return whole(value);
}

type Member = readonly [name: string, value: JsonValue];

/** A member that is a text of several sentences is split into them; the only member is split as if it stood alone. */
function splitMembers(
  members: readonly Member[],
  join: (members: readonly Member[]) => JsonObject | readonly JsonValue[],
  unit: PartUnit,
): Split {
  const splits = members.map((member) => {
    const [, value] = member;
    const inner =
      members.length === 1
        ? split(value)
        : typeof value === "string"
          ? splitText(value, "sentence")
          : whole(value);
    const rendered = renderText(join([member]), Number.POSITIVE_INFINITY) ?? "";
    const self: Atom = { unit, text: rendered, separator: "\n" };
    return { member, inner, atoms: inner.atoms.length > 1 ? inner.atoms : [self] };
  });
  return {
    atoms: splits.flatMap(({ atoms }) => atoms),
    without: (left) =>
      join(
        splits.flatMap(({ member, inner, atoms }): readonly Member[] => {
          if (atoms.every((atom) => left.has(atom))) return [];
          return [atoms === inner.atoms ? [member[0], inner.without(left)] : member];
        }),
      ),
  };
}

/** The white space behind a sentence or a word belongs to it. */
function splitText(text: string, unit: "sentence" | "word"): Split {
  const pieces =
    unit === "sentence"
      ? Array.from(SENTENCES.segment(text), ({ segment }) => segment)
      : (text.match(/\S+\s*/g) ?? []);
  const atoms: Atom[] = pieces
    .filter((piece) => piece.trim() !== "")
    .map((piece) => ({ unit, text: piece, separator: "" }));
  return {
    atoms,
    without: (left) =>
      atoms
        .filter((atom) => !left.has(atom))
        .map(({ text }) => text)
        .join(""),
  };
}

const SENTENCES = new Intl.Segmenter("en", { granularity: "sentence" });

const whole = (value: JsonValue): Split => ({ atoms: [], without: () => value });
