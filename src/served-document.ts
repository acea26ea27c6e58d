import { answerChoice, answerNoul, answerScore } from "./decisions/answers.ts";
import { probabilities } from "./decisions/probabilities.ts";
import type { ModelFacts } from "./inference/ports.ts";

type Members = Readonly<Record<string, unknown>>;

/** What the written contract says of the model that its examples are of. */
interface WrittenFacts {
  readonly id: string;
  readonly names: readonly string[];
  readonly temperature: number;
  readonly maxCandidateTokens: number;
}

/** Titles of examples of the embedded model, and what they are called where another one is served: its scores are not known here. */
const TITLES: Readonly<Record<string, string>> = {
  "Answers of the embedded model to the example request": "What answers look like; the scores are made up",
  "The embedded model's ranking of the labelled candidates":
    "What a ranking looks like; the scores are made up",
  "The embedded model": "The served model",
};
const DEFAULT_PORT = 8700;
/** Said of the embedded model. */
const WRITTEN_LIMITS = "2,048 and 768 with the embedded model";
const BEYOND = 34;

/**
 * The contract as one server gives it: what it says and shows of a model is true for the model that is served. Operations, schemas
 * and statuses are the same for every model.
 *
 * @param document the bundled contract, whose examples are of the embedded model
 * @param port     where it is going to listen, if that is known
 */
export function servedDocument(document: Members, model: ModelFacts, port?: number): Members {
  const written = writtenFacts(document);
  if (written === undefined) return document; // of a test: it shows no model
  const served = record(rewrite(document, written, model));
  if (!port || port === DEFAULT_PORT) return served;
  const server = { url: `http://127.0.0.1:${port}`, description: "Where this service listens" };
  return { ...served, servers: [server] }; // clients take their address from here
}

/** From the example of /health. */
function writtenFacts(document: Members): WrittenFacts | undefined {
  const ready = record(at(document, "components", "examples", "Ready", "value"));
  const { model: id, aliases, temperature } = ready;
  const maxCandidateTokens = at(ready, "limits", "max_candidate_tokens");
  if (typeof id !== "string" || typeof temperature !== "number" || typeof maxCandidateTokens !== "number")
    return undefined;
  const names = Array.isArray(aliases) ? aliases.map(String) : [];
  return { id, names, temperature, maxCandidateTokens };
}

function rewrite(node: unknown, written: WrittenFacts, model: ModelFacts): unknown {
  if (typeof node === "string") return rewriteText(node, written, model);
  if (Array.isArray(node)) return node.map((item) => rewrite(item, written, model));
  if (!isRecord(node)) return node;
  const shown = showsModel(node, written) ? ofModel(node, written, model) : node;
  return Object.fromEntries(
    Object.entries(shown).map(([name, value]) => [name, rewrite(value, written, model)]),
  );
}

function rewriteText(text: string, written: WrittenFacts, { id, temperature, limits }: ModelFacts): string {
  const { maxStateQuestionTokens: most, maxCandidateTokens: mostOfOne } = limits;
  const title = id === written.id ? undefined : TITLES[text];
  if (title !== undefined) return title;
  const got = (limit: number) => `at most ${limit} tokens, special tokens included; got ${limit + BEYOND}`;
  return text
    .replaceAll(written.id, () => id) // a function: a name may hold a $
    .replaceAll(String(written.temperature), String(temperature))
    .replace(WRITTEN_LIMITS, `${counted(most)} and ${counted(mostOfOne)} with the model that is served here`)
    .replace(got(written.maxCandidateTokens), got(mostOfOne));
}

const counted = (count: number) => count.toLocaleString("en-US");

/** An example's value, or a part of one, that has a member which is of a model. */
function showsModel(node: Members, { id, names }: WrittenFacts): boolean {
  const { model, id: listed } = node;
  return model === id || listed === id || (typeof model === "string" && names.includes(model));
}

function ofModel(node: Members, written: WrittenFacts, model: ModelFacts): Members {
  const told: Record<string, unknown> = {
    id: model.id,
    name: model.id,
    // a request may name it by a short alias, an answer never does
    model: node.model === written.id ? model.id : (model.aliases[2] ?? model.aliases[0]),
    aliases: model.aliases,
    temperature: model.temperature,
    model_version: model.version,
    description: model.description,
    release_date: model.releaseDate,
    revision: model.revision,
    limits: {
      ...record(node.limits),
      max_state_question_tokens: model.limits.maxStateQuestionTokens,
      max_candidate_tokens: model.limits.maxCandidateTokens,
    },
  };
  const changed = Object.entries(node).map(([name, value]) => [name, name in told ? told[name] : value]);
  const shown = record(Object.fromEntries(changed));
  return model.temperature === written.temperature ? shown : atTemperature(shown, model.temperature);
}

/** The same scores with the probabilities that they have at another temperature. */
function atTemperature(shown: Members, temperature: number): Members {
  if (Array.isArray(shown.ranked)) {
    const rows = shown.ranked.map(record);
    const shares = probabilities(
      Float32Array.from(rows, ({ score }) => Number(score)),
      temperature,
    );
    return { ...shown, ranked: rows.map((row, at) => ({ ...row, probability: shares[at] })) };
  }
  if (!isRecord(shown.answers)) return shown;
  const answers = Object.entries(shown.answers).map(([name, answer]) => [
    name,
    answerAt(record(answer), temperature),
  ]);
  return { ...shown, answers: Object.fromEntries(answers) };
}

function answerAt(answer: Members, temperature: number): unknown {
  const labels = Object.keys(record(answer.scores));
  const scores = Float32Array.from(Object.values(record(answer.scores)), Number);
  const computed =
    answer.type === "choice"
      ? answerChoice(labels, scores, temperature)
      : answer.type === "noul"
        ? answerNoul(scores, temperature)
        : answerScore(scores, temperature);
  const plain = Object.entries(computed).map(([name, value]) => [
    name,
    value instanceof Map ? Object.fromEntries(value) : value,
  ]);
  return Object.fromEntries(plain);
}

function at(node: unknown, ...names: readonly string[]): unknown {
  return names.reduce<unknown>((place, name) => (isRecord(place) ? place[name] : undefined), node);
}

const record = (node: unknown): Members => (isRecord(node) ? node : {});

function isRecord(node: unknown): node is Members {
  return typeof node === "object" && node !== null && !Array.isArray(node);
}
