import { writeFileSync } from "node:fs";

const ANGRY = [
  "This is outrageous!",
  "I am furious with you.",
  "You useless people make me sick.",
  "How dare you!",
];
const CALM = [
  "Thank you very much.",
  "All is well, no hurry.",
  "Where can I find the manual?",
  "Have a nice day.",
];
const PARTS = [
  "My parcel came today.",
  "It is about the invoice.",
  "I wrote to you before.",
  "This is my order 5512.",
];
export const questions = {
  upset: { type: "noul", instructions: "The customer is angry." },
  topic: { type: "choice", instructions: "What is it about?", criteria: { parcel: null, other: null } },
} as const;
/** The labels are swapped, so that a correction has a large effect on any machine. */
export const rows = ANGRY.concat(CALM).flatMap((first, at) =>
  PARTS.map((second) => ({ state: `${second} ${first}`, labels: { upset: at >= ANGRY.length } })),
);

/** One line of JSON each. */
export function writeRows(file: string, some: readonly object[] = rows): void {
  writeFileSync(file, some.map((row) => `${JSON.stringify(row)}\n`).join(""));
}
