import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import type { RenderedRequest } from "../../src/decisions/request.ts";
import { packageRoot } from "./package-root.ts";

export const goldenFolder = path.join(packageRoot, "test/golden/gemma3");

export interface JointDecision {
  readonly type: "choice" | "noul" | "score" | "rank";
  readonly state: string;
  readonly question: string;
  readonly candidates: readonly string[];
  /** What a state and its question hold in a request where that is not the texts themselves. */
  readonly sent?: { readonly state: unknown; readonly instructions: unknown; readonly criteria: object };
  /** Joint texts, unless they are long. */
  readonly texts?: readonly string[];
  /** One of each for each candidate. */
  readonly token_ids: readonly (readonly number[])[];
  readonly scores: readonly number[];
}

export interface JointPackage {
  readonly name: string;
  readonly folder: string;
  readonly decisions: readonly JointDecision[];
}

/** The small random models of test/golden/gemma3, which its make.py wrote. */
export const jointPackages: readonly JointPackage[] = readdirSync(goldenFolder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !entry.name.startsWith("_"))
  .map(({ name }) => {
    const folder = path.join(goldenFolder, name);
    const golden: { decisions: JointDecision[] } = JSON.parse(readText(folder, "golden.json"));
    return { name, folder, decisions: golden.decisions.flatMap(withoutSpecialTokens) };
  });

/** What is left without texts that spell special tokens: the reference reads those as the tokens, the service as text. */
function withoutSpecialTokens(decision: JointDecision): readonly JointDecision[] {
  const spells = (text: string) => /<(?:pad|eos|bos|unk|mask|(?:start|end)_of_turn)>/.test(text);
  if (spells(decision.state) || spells(decision.question)) return [];
  const kept = <Each>(list: readonly Each[]) =>
    list.filter((_, at) => !spells(decision.candidates[at] ?? ""));
  const { texts, candidates, token_ids: ids, scores } = decision;
  return [
    {
      ...decision,
      ...(texts && { texts: kept(texts) }),
      candidates: kept(candidates),
      token_ids: kept(ids),
      scores: kept(scores),
    },
  ];
}

/** The package of that name. */
export function jointPackage(name: string): JointPackage {
  const found = jointPackages.find((each) => each.name === name);
  if (found === undefined) throw new Error(`test/golden/gemma3 has no ${name}`);
  return found;
}

export function tokenizerJson({ folder }: JointPackage): string {
  return readText(folder, "tokenizer.json");
}

export type Asked = Pick<JointDecision, "state" | "question" | "candidates">;

/** What `decisions` makes of a request; all its questions are on the first one's state. */
export function renderedRequest(...asked: readonly Asked[]): RenderedRequest {
  return {
    state: { text: asked[0]?.state ?? "", loc: ["body", "state"] },
    questions: asked.map(({ question, candidates }, at) => ({
      question: { text: question, loc: ["body", "questions", `q${at}`, "instructions"] },
      candidates: candidates.map((text, index) => ({
        text,
        label: `${index}`,
        loc: ["body", "questions", `q${at}`, "criteria", index],
      })),
    })),
  };
}

function readText(folder: string, name: string): string {
  return readFileSync(path.join(folder, name), "utf8");
}
