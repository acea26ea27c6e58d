import { readFile } from "node:fs/promises";
import path from "node:path";
import { seededRandom } from "./seeded-random.ts";

/** A question with labelled rows. */
export interface LabelledSet {
  readonly name: string;
  /** Description of the question, for the table. */
  readonly title: string;
  readonly question: Readonly<Record<string, unknown>>;
  readonly rows: readonly { readonly state: string; readonly label: string }[];
}

/** A line of the corpus: one decision. */
interface Decision {
  readonly type: "choice" | "noul" | "score";
  readonly state: string;
  readonly instructions: string;
  readonly candidates: readonly { readonly label: string; readonly text: string }[];
  readonly answer: number;
}

/** Rows of a set. Chosen: up to 500 to fit, the others to check. */
const ROWS = 1_000;

/**
 * Three sets that the embedded model was not trained on. In the corpus their questions have many wordings; here each
 * set has a single one.
 *
 * @param folder of the extracted corpus, with `train/*.jsonl`
 */
export async function readSets(folder: string): Promise<readonly LabelledSet[]> {
  const read = async (name: string) =>
    (await readFile(path.join(folder, "train", `${name}.jsonl`), "utf8"))
      .split("\n")
      .filter((line) => line !== "")
      .map((line): Decision => JSON.parse(line));
  return [
    {
      name: "surge_toxicity",
      title: "moderation, yes/no",
      question: { type: "noul", instructions: "Is the comment toxic?" },
      rows: sample(await read("surge_toxicity"), toxicity),
    },
    {
      name: "politeness",
      title: "tone, score of 4 levels",
      question: { type: "score", instructions: "How polite is the message?", criteria: LEVELS },
      rows: sample(await read("politeness"), politeness),
    },
    {
      name: "newsgroups20",
      title: "routing, choice of 20 topics",
      question: {
        type: "choice",
        instructions: "Which discussion group does the message belong to?",
        criteria: TOPICS,
      },
      rows: sample(await read("newsgroups20"), topic),
    },
  ];
}

/** One row per state, in a fixed pseudo-random order. */
function sample(decisions: readonly Decision[], labelOf: (decision: Decision) => string | undefined) {
  const labels = new Map<string, string>();
  for (const decision of decisions) {
    const label = labelOf(decision);
    if (label !== undefined) labels.set(decision.state, label);
  }
  const random = seededRandom(1);
  return [...labels]
    .map(([state, label]) => ({ state, label, order: random() }))
    .sort((a, b) => a.order - b.order)
    .slice(0, ROWS)
    .map(({ state, label }) => ({ state, label }));
}

const HARMLESS_QUESTIONS = new Set(["The comment is harmless.", "Is the comment civil enough to stay?"]);

function toxicity({ type, instructions, candidates, answer }: Decision): string | undefined {
  const label = candidates[answer]?.label.toLowerCase().replace("_", " ");
  if (label === "toxic" || label === "not toxic") return String(label === "toxic");
  if (type !== "noul") return undefined;
  return String((label === "yes") !== HARMLESS_QUESTIONS.has(instructions));
}

const LEVELS = ["Rude or hostile", "Somewhat impolite", "Somewhat polite", "Very polite"];

function politeness({ type, candidates, answer }: Decision): string | undefined {
  return type === "score" && candidates.length === LEVELS.length ? candidates[answer]?.label : undefined;
}

const TOPICS: Readonly<Record<string, string>> = {
  "alt.atheism": "Atheism",
  "comp.graphics": "Computer graphics",
  "comp.os.ms-windows.misc": "Using Microsoft Windows",
  "comp.sys.ibm.pc.hardware": "PC hardware",
  "comp.sys.mac.hardware": "Macintosh hardware",
  "comp.windows.x": "The X Window System",
  "misc.forsale": "Things offered for sale",
  "rec.autos": "Cars",
  "rec.motorcycles": "Motorcycles",
  "rec.sport.baseball": "Baseball",
  "rec.sport.hockey": "Ice hockey",
  "sci.crypt": "Encryption and privacy",
  "sci.electronics": "Electronic circuits and components",
  "sci.med": "Medicine and health",
  "sci.space": "Space flight and astronomy",
  "soc.religion.christian": "Christian faith",
  "talk.politics.guns": "Gun rights and gun control",
  "talk.politics.mideast": "Politics of the Middle East",
  "talk.politics.misc": "Politics in general",
  "talk.religion.misc": "Religion in general",
};

function topic({ type, candidates, answer }: Decision): string | undefined {
  const label = candidates[answer]?.label ?? "";
  return type === "choice" && Object.hasOwn(TOPICS, label) ? label : undefined;
}
