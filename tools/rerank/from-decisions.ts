import { readFile } from "node:fs/promises";

/** A question with texts that answer it and texts that do not. */
export interface Query {
  readonly query: string;
  readonly answers: readonly string[];
  /** Texts on the same subject that do not answer the question. */
  readonly near: readonly string[];
  readonly far: readonly string[];
}

/** The members of a line of a corpus of decisions that are used here. */
interface Decision {
  readonly set: string;
  readonly type: string;
  readonly state: unknown;
  readonly instructions: unknown;
  readonly candidates: readonly { readonly text: string }[];
  readonly answer: number;
}

interface Pair {
  readonly question: string;
  readonly passage: string;
}

const OTHERS = 7;
/**
 * Longer passages are left out. Chosen: the service reads them in parts, which questions about single passages do not.
 */
const MOST_CHARACTERS = 1_000;

/**
 * Makes queries from choices about a passage: the question is the query, its passage the answer, and the next seven
 * passages of the same set are the other documents. Uses the first short passages of each set.
 *
 * @param file JSON lines
 */
export async function queriesFromDecisions(
  file: string,
  sets: readonly string[],
  perSet: number,
): Promise<Query[]> {
  const lines = (await readFile(file, "utf8")).split("\n").filter((line) => line.trim() !== "");
  const decisions: Decision[] = lines.map((line) => JSON.parse(line));
  return sets.flatMap((set) => {
    const pairs = distinct(decisions.filter((one) => one.set === set).flatMap(pairOf));
    if (pairs.length <= OTHERS) throw new Error(`${file} has only ${pairs.length} passages of ${set}`);
    return pairs.slice(0, perSet).map(({ question, passage }, at) => {
      const others = [...pairs.slice(at + 1), ...pairs.slice(0, at)].slice(0, OTHERS);
      return { query: question, answers: [passage], near: [], far: others.map((other) => other.passage) };
    });
  });
}

/** Words in front of the question that ask to answer from the passage. */
const PREAMBLE = /^(Read the passage\.|Which answer does the passage give\?|[^:：]{1,60}[:：])\s*/;

/** The question is the right candidate if all candidates are questions, otherwise the instructions. */
function pairOf({ type, state, instructions, candidates, answer }: Decision): Pair[] {
  if (type !== "choice" || typeof state !== "string" || typeof instructions !== "string") return [];
  const texts = candidates.map(({ text }) => text.trim());
  const asked = texts.every(isQuestion) ? texts[answer] : instructions.replace(PREAMBLE, "");
  if (asked === undefined || !isQuestion(asked) || asked.includes("these questions")) return [];
  const passage = passageOf(state);
  return passage.length > MOST_CHARACTERS ? [] : [{ question: asked, passage }];
}

/** Some states are an object with the passage in it, written as JSON. */
function passageOf(state: string): string {
  if (!state.startsWith("{")) return state.replace(/^(Context|Document|Text|Passage): /, "");
  const [longest = state] = Object.values(JSON.parse(state))
    .filter((value) => typeof value === "string")
    .toSorted((one, other) => other.length - one.length);
  return longest;
}

function isQuestion(text: string): boolean {
  return /([?？؟]|か。?)$/.test(text.trim());
}

/** The first pair of each passage. */
function distinct(pairs: readonly Pair[]): Pair[] {
  return [...new Map(pairs.toReversed().map((pair) => [pair.passage, pair])).values()].toReversed();
}
