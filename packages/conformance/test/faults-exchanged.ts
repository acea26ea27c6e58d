import type { OutgoingReply } from "../../../src/contract/call.ts";
import {
  REQUEST_LIMITS,
  type RenderedQuestion,
  type RenderedRequest,
} from "../../../src/decisions/request.ts";
import type { Fault } from "./faulty-service.ts";
import { faults, on, type PlantedFault } from "./planted-fault.ts";
import { rowsOf } from "./planting.ts";
import { inner, readTree } from "./tree.ts";

const { maxQuestions } = REQUEST_LIMITS;

/** The form of a question: its candidates' labels. */
const formOf = ({ candidates }: RenderedQuestion) => candidates.map(({ label }) => label).join("\n");
const nameOf = ({ question }: RenderedQuestion) => String(question.loc[2]);
const isNoul = (question: RenderedQuestion) => formOf(question) === "false\ntrue";
const isRubric = ({ candidates }: RenderedQuestion) =>
  candidates.every(({ label, loc }, index) => label === String(index) && loc[1] === "questions");

/**
 * Gives a question the scores of another one. @param source the other's index, or its own if no other has the same form
 */
function scoresOf(source: (place: number, request: RenderedRequest) => number): Fault {
  return on.scores((scored, request) => ({
    ...scored,
    scores: scored.scores.map((own, place) => {
      const other = source(place, request);
      const [here, there] = [request.questions[place], request.questions[other]];
      if (here === undefined || there === undefined || formOf(here) !== formOf(there)) return own;
      return scored.scores[other] ?? own;
    }),
  }));
}
/** Places of the questions of the same form, this one included. */
const placesAlike = (place: number, { questions }: RenderedRequest) => {
  const own = questions[place];
  return questions.flatMap((other, index) =>
    own !== undefined && formOf(own) === formOf(other) ? [index] : [],
  );
};
/** The last question whose name comes to the same. */
const lastNamed = (write: (name: string) => string) =>
  scoresOf((place, { questions }) => {
    const names = questions.map((question) => write(nameOf(question)));
    return names.lastIndexOf(names[place] ?? "");
  });
/** Scores of the questions that are meant, in another order. */
const reordered = (
  isMeant: (question: RenderedQuestion) => boolean,
  order: (scores: readonly number[], question: RenderedQuestion) => readonly number[],
): Fault =>
  on.scores((scored, request) => ({
    ...scored,
    scores: scored.scores.map((scores, place) => {
      const question = request.questions[place];
      return question !== undefined && isMeant(question)
        ? Float32Array.from(order([...scores], question))
        : scores;
    }),
  }));

/** Correct answers that belong to another question, label or request. */
export const EXCHANGED_FAULTS: readonly PlantedFault[] = [
  ...faults({
    "names that differ in white space share an answer: scores.own-question": lastNamed((name) => name.trim()),
    "the first answer of a form given to all of that form: scores.whole-instructions": scoresOf(
      (place, request) => placesAlike(place, request)[0] ?? place,
    ),
    "the second half of the most questions answered like the first: scores.own-place, scores.own-place.bits":
      scoresOf((place, { questions }) =>
        questions.length === maxQuestions ? place % (maxQuestions / 2) : place,
      ),
    "levels of a rubric from the other end: scores.rank-as-rubric, texts.levels": reordered(isRubric, (s) =>
      s.toReversed(),
    ),
    "yes and no exchanged: texts.noul-bare, texts.noul-described": reordered(isNoul, (s) => s.toReversed()),
    "labels of a ranking in the order of JavaScript's objects: rank.odd-labels": on.answer(
      (body, _operation, request) => {
        const labels = [...inner(readTree(request), "candidates").keys()];
        const asObject = Object.keys(Object.fromEntries(labels.map((label) => [label, 0])));
        for (const row of rowsOf(body)) {
          const at = labels.indexOf(String(row.get("candidate")));
          if (at >= 0) row.set("candidate", asObject[at] ?? "");
        }
      },
    ),
  }),
  ...faults(
    {
      "two requests side by side get each other's answers: scores.own-request": partners(),
    },
    {
      only: ["scores.own-request", "scores.own-request.bits"],
    },
  ),
];

/** Swaps the answers of concurrent requests with the same question names. */
function partners(): Fault {
  const waiting = new Map<string, { reply: OutgoingReply; take: (reply: OutgoingReply) => void }>();
  return on.reply((reply, { operationId }) => {
    if (operationId !== "systemone" || reply.status !== 200) return reply;
    const names = [...inner(readTree(reply.body), "answers").keys()].join("\n");
    const other = waiting.get(names);
    if (other !== undefined) {
      waiting.delete(names);
      other.take(reply);
      return other.reply;
    }
    return new Promise((take) => {
      waiting.set(names, { reply, take });
      setTimeout(() => {
        if (waiting.get(names)?.reply === reply) waiting.delete(names);
        take(reply);
      }, 15);
    });
  });
}
