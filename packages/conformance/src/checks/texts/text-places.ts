import type { Trial } from "../../trial/trial.ts";
import { freshState } from "../scored.ts";
import { effectAt, effectOfRanking, isAlike, VALUE_PLACES } from "./places.ts";
import { HELD_SHOWN, HELD_TEXTS, type Spelling } from "./spellings.ts";

/** Compares values with their rendered texts, at each place, in as few requests as possible. */
export async function compareAtPlaces(trial: Trial, spellings: readonly Spelling[]): Promise<void> {
  await trial.each(VALUE_PLACES, async (place) => {
    for (const group of distinct(spellings, place.most(trial.facts.limits))) {
      const given = await effectAt(
        trial,
        place,
        group.map(([json]) => json),
      );
      const like = await effectAt(
        trial,
        place,
        group.map(([, text]) => JSON.stringify(text)),
      );
      trial.expect(
        isAlike(given, like),
        `${given.scores} and ${given.tokens} tokens for ${group.map(([json]) => json).join()}, ` +
          `but ${like.scores} and ${like.tokens} for the texts`,
        given.inferred,
      );
    }
  });
}

/** Groups of at most `most` spellings. No group has two with the same text, since candidates must differ. */
function distinct(spellings: readonly Spelling[], most: number): readonly (readonly Spelling[])[] {
  const groups: Spelling[][] = [];
  for (const spelling of spellings) {
    const free = groups.find(
      (group) => group.length < most && group.every(([, text]) => text !== spelling[1]),
    );
    if (free === undefined) groups.push([spelling]);
    else free.push(spelling);
  }
  return groups;
}

/** Expects that strings that contain JSON are not parsed, at any place. */
export async function checkTextsStay(trial: Trial): Promise<void> {
  const [held, values] = [HELD_TEXTS.map(([given]) => given), HELD_TEXTS.map(([, value]) => value)];
  await trial.each(VALUE_PLACES, async (place) => {
    const [one, other] = [await effectAt(trial, place, held), await effectAt(trial, place, values)];
    for (const [index, part] of one.parts.entries())
      trial.expect(
        part !== other.parts[index],
        `${held[index]} has the scores ${part}, and so has ${values[index]}`,
        one.inferred,
      );
  });
  const state = JSON.stringify(freshState());
  const rankings = HELD_TEXTS.flatMap(([given, value], index) => {
    const text = JSON.stringify(HELD_SHOWN[index]);
    const candidates = (first: string) => `{"state":${state},"candidates":[${first},"another"]}`;
    const question = (asked: string) =>
      `{"state":${state},"question":${asked},"candidates":["one","another"]}`;
    return [
      { name: `${given} as a candidate`, one: candidates(given), other: candidates(text) },
      { name: `${given} as the question of a ranking`, one: question(given), other: question(value) },
    ];
  });
  await trial.each(rankings, async ({ one, other }) => {
    const [seen, like] = [await effectOfRanking(trial, one), await effectOfRanking(trial, other)];
    trial.expect(!isAlike(seen, like), "the same scores and tokens as for what it holds", seen.inferred);
  });
}
