import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

export const CALLERS = 6;

/** Sends one request after another until it is stopped, and compares each answer. */
export function callers(url, bodies, expected, tolerance) {
  const load = { good: 0, failed: 0, kinds: new Set() };
  let isOver = false;
  const call = async (number) => {
    for (let turn = number; !isOver; turn += CALLERS) {
      const at = turn % bodies.length;
      const { status, text } = await ask(url, bodies[at]);
      if (status === 200) {
        assert.ok(distance(JSON.parse(text).answers, expected[at]) <= tolerance, "a wrong answer");
        load.good += 1;
      } else {
        assert.ok(status === 500 || status === 503, `${status} ${text}`);
        load.failed += 1;
        load.kinds.add(`${status} ${JSON.parse(text).error?.code ?? ""}`.trim());
        await sleep(100);
      }
    }
  };
  const calls = Promise.all(Array.from({ length: CALLERS }, (_, number) => call(number)));
  load.end = () => {
    isOver = true;
    return calls;
  };
  return load;
}

/** Requests with states of many lengths in several languages, and one to five questions of each type. */
export function requests() {
  const texts = [
    "You are all useless. I want to speak to a manager now!",
    "Die Rechnung wurde zweimal abgebucht, bitte erstatten Sie den Betrag.",
    "注文した商品がまだ届きません。いつ届きますか? 🚚",
    "Thanks, everything arrived on time. ",
  ];
  const questions = {
    angry: { type: "noul", instructions: "The customer is angry." },
    intent: {
      type: "choice",
      instructions: "What does the customer want?",
      criteria: { refund: "Money back", delivery: "To know where the parcel is", other: "Something else" },
    },
    urgency: {
      type: "score",
      instructions: "How urgent is this?",
      criteria: ["can wait", "this week", "today"],
    },
    long: { type: "noul", instructions: `It is about this: ${"an order of last week, ".repeat(12)}or not.` },
  };
  const names = Object.keys(questions);
  return Array.from({ length: 24 }, (_, at) => ({
    state: `Ticket ${at}. ${texts[at % texts.length].repeat(1 + (at % 7) * 3)}`,
    questions: Object.fromEntries(
      names.slice(0, 1 + (at % names.length)).map((name) => [name, questions[name]]),
    ),
  }));
}

/**
 * Maximum difference between the numbers of two equal structures, relative for numbers above 1; infinite if the
 * structures differ.
 */
export function distance(left, right) {
  if (typeof left === "number" && typeof right === "number")
    return Math.abs(left - right) / Math.max(1, Math.abs(right));
  if (left === null || right === null || typeof left !== "object" || typeof right !== "object")
    return left === right ? 0 : Number.POSITIVE_INFINITY;
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return Number.POSITIVE_INFINITY;
  return Math.max(0, ...keys.map((key) => distance(left[key], right[key])));
}

export async function ask(url, body) {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${url}/v1/systemone`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}
