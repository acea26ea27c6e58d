import { MODEL_ID } from "./fast-engine.ts";
import { faults, on, type PlantedFault } from "./planted-fault.ts";
import { eachAnswer, eachColumn, eachOf, eachRow, rowsOf, setRows } from "./planting.ts";
import { inner, numbersOf, reorder, type TreeMap } from "./tree.ts";

const rename = (column: TreeMap, to: (name: string) => string) => {
  const members = [...column].map(([name, value]) => [to(name), value] as const);
  column.clear();
  for (const [name, value] of members) column.set(name, value);
};
const change = (map: TreeMap, to: (value: number) => number) => {
  for (const [name, value] of map) map.set(name, to(Number(value)));
};

/** Faults in the content of answers. */
export const ANSWER_FAULTS: readonly PlantedFault[] = faults({
  "probabilities rounded to six digits: arithmetic.confidence": eachAnswer((answer) =>
    change(inner(answer, "probabilities"), (p) => Number(p.toFixed(6))),
  ),
  "confidence rounded to three digits: arithmetic.confidence": eachAnswer(
    (a) => void a.set("confidence", Number(Number(a.get("confidence")).toFixed(3))),
  ),
  "probabilities in percent: systemone.schema, arithmetic.softmax": eachAnswer((answer) =>
    change(inner(answer, "probabilities"), (p) => 100 * p),
  ),
  "scores that are already divided by the temperature: arithmetic.softmax, scores.rank-as-rubric, texts.levels":
    eachAnswer((answer) => change(inner(answer, "scores"), (score) => score / 4.136820402388508)),
  "choice is always the first label: arithmetic.choice": eachOf(
    "choice",
    (a) => void a.set("choice", [...inner(a, "scores").keys()][0] ?? ""),
  ),
  "of tied labels the last is the choice: systemone.ties": eachOf("choice", (answer) => {
    const best = [...inner(answer, "scores")].reduce((a, b) => (Number(b[1]) >= Number(a[1]) ? b : a));
    answer.set("choice", best[0]);
  }),
  "choice is the description: arithmetic.choice, systemone.ties": eachOf(
    "choice",
    (a) => void a.set("choice", "Wants money back"),
  ),
  "noul is a boolean: systemone.answers.noul, arithmetic.noul": eachOf(
    "noul",
    (a) => void a.set("noul", Number(a.get("noul")) >= 0.5),
  ),
  "outcomes named no and yes: systemone.answers.outcomes, arithmetic.noul": eachColumn("noul", (column) =>
    rename(column, (name) => (name === "true" ? "yes" : "no")),
  ),
  "true before false: systemone.answers.outcomes, texts.noul-bare": eachColumn("noul", (column) =>
    reorder(column, (names) => names.reverse()),
  ),
  "levels named by their descriptions: systemone.answers.labels, arithmetic.score": eachColumn(
    "score",
    (column) => rename(column, (name) => `level ${name}`),
  ),
  "levels named from one: systemone.answers.labels, arithmetic.score": eachColumn("score", (column) =>
    rename(column, (name) => String(Number(name) + 1)),
  ),
  "scores left out: systemone.answers.labels, order.scores, answers.every-schema, docs.openapi-answers":
    eachAnswer((answer) => void answer.delete("scores")),
  "scores as texts: systemone.answers.choice, systemone.answers.score": eachAnswer((answer) => {
    const scores = inner(answer, "scores");
    for (const [name, value] of scores) scores.set(name, String(value));
  }),
  "scores as a list: systemone.answers.score, order.scores": eachAnswer(
    (a) => void a.set("scores", numbersOf(inner(a, "scores"))),
  ),
  "a legend in score answers: systemone.schema": eachOf("score", (a) => void a.set("legend", new Map())),
  "an id in answers: systemone.schema, rank.schema": on.answer((body) => void body.set("id", "answer-1")),
  "temperature rounded: systemone.temperature": on.answer(
    (body) => void (body.has("temperature") && body.has("answers") && body.set("temperature", 4.1368)),
  ),
  "another probabilities_source in rankings: rank.probabilities-source": on.answer(
    (body) => void (body.has("ranked") && body.set("probabilities_source", "softmax")),
  ),
  "rankings without model: model.full-id, rank.schema": on.answer(
    (body) => void (body.has("ranked") && body.delete("model")),
  ),
  "latency_ms in microseconds: systemone.latency, rank.latency, headers.server-timing": on.answer(
    (body) => void (body.has("usage") && body.set("latency_ms", Number(body.get("latency_ms")) * 1000)),
  ),
  "latency_ms as a text: systemone.latency, rank.latency": on.answer(
    (body) => void (body.has("usage") && body.set("latency_ms", `${body.get("latency_ms")} ms`)),
  ),
  "the model without its revision: model.id-form, systemone.model": on.answer(
    (body) => void (body.has("usage") && body.set("model", String(body.get("model")).split("@")[0] ?? "")),
  ),
  "another revision of the model in answers to questions: systemone.model, model.full-id": on.answer(
    (body) => void (body.has("answers") && body.set("model", `${MODEL_ID.split("@")[0]}@${"0".repeat(40)}`)),
  ),
  "the model by the name that the request used: model.without-revision, model.listed-aliases": on.answer(
    (body, _operation, request) => {
      const asked = /"model":"([^"]+)"/.exec(request)?.[1];
      if (asked !== undefined && body.has("usage")) body.set("model", asked);
    },
  ),
  "answers sorted by name: order.answers": on.answer((body) =>
    reorder(inner(body, "answers"), (names) => names.sort()),
  ),
  "question names in small letters: systemone.answers.names, order.odd-names": on.answer((body) =>
    rename(inner(body, "answers"), (name) => name.toLowerCase()),
  ),
  "rankings in the order of the request: rank.ranks": on.answer((body) => {
    const rows = rowsOf(body).sort((a, b) => Number(a.get("candidate")) - Number(b.get("candidate")));
    setRows(body, rows);
  }),
  "ranks from zero: rank.ranks": eachRow((row) => void row.set("rank", Number(row.get("rank")) - 1)),
  "labels of a list as numbers: rank.rows": eachRow((row) => {
    if (/^\d+$/.test(String(row.get("candidate")))) row.set("candidate", Number(row.get("candidate")));
  }),
  "rows without their texts: rank.rows": eachRow((row) => void row.delete("text")),
  "labels of a list from one: rank.list-labels": on.answer((body, _operation, request) => {
    if (!/"(candidates|answers)":\[/.test(request)) return;
    for (const row of rowsOf(body)) row.set("candidate", String(Number(row.get("candidate")) + 1));
  }),
  "only the ten best: rank.list-labels": on.answer((body) => setRows(body, rowsOf(body).slice(0, 10))),
  "labels and texts mixed up by one: rank.labels": on.answer((body) => {
    const rows = rowsOf(body);
    const texts = rows.map((row) => row.get("text") ?? "");
    for (const [index, row] of rows.entries()) row.set("text", texts[(index + 1) % texts.length] ?? "");
  }),
  "total_tokens left out: systemone.usage, rank.usage": on.answer(
    (body) => void inner(body, "usage").delete("total_tokens"),
  ),
  "output_tokens counts the candidates: usage.total": on.answer((body) => {
    const usage = inner(body, "usage");
    if (usage.size === 0) return;
    usage.set("output_tokens", 2);
    usage.set("total_tokens", Number(usage.get("input_tokens")) + 2);
  }),
  "input_tokens of the state counted once: usage.nothing-shared": on.scores((scored, request) => {
    const pairs = request.questions.reduce((sum, { candidates }) => sum + candidates.length, 0);
    const words = request.state.text.split(/\s+/).length;
    return { ...scored, inputTokens: Math.max(1, scored.inputTokens - (pairs - 1) * words) };
  }),
  "input_tokens with a fixed overhead for each request: usage.additive": on.scores((scored) => ({
    ...scored,
    inputTokens: scored.inputTokens + 7,
  })),
  "cached_pairs always 0: usage.cached-pairs": on.scores((scored) => ({ ...scored, cachedPairs: 0 })),
});
