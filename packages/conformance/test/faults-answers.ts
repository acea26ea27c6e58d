import { MODEL_ID } from "./fast-engine.ts";
import { faults, on, type PlantedFault } from "./planted-fault.ts";
import {
  answersOf,
  eachAnswer,
  eachColumn,
  eachOf,
  eachRow,
  resoften,
  rowsOf,
  setRows,
  softmaxAt,
} from "./planting.ts";
import { inner, mapsIn, numbersOf, reorder, type TreeMap } from "./tree.ts";

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
  "the softmax without its temperature: arithmetic.softmax, systemone.every-answer": eachAnswer(
    (answer) => void resoften(answer, 1),
  ),
  "the softmax of a ranking at another temperature: arithmetic.softmax": on.answer((body) => {
    const rows = rowsOf(body);
    const shares = softmaxAt(
      rows.map((row) => Number(row.get("score"))),
      4,
    );
    for (const [index, row] of rows.entries()) row.set("probability", shares[index] ?? 0);
  }),
  "probabilities rounded to two digits: arithmetic.softmax": eachAnswer((answer) =>
    change(inner(answer, "probabilities"), (p) => Number(p.toFixed(2))),
  ),
  "probabilities rounded to six digits: arithmetic.confidence": eachAnswer((answer) =>
    change(inner(answer, "probabilities"), (p) => Number(p.toFixed(6))),
  ),
  "probabilities computed in float32: arithmetic.confidence": on.answer((body) => {
    for (const answer of answersOf(body)) change(inner(answer, "probabilities"), Math.fround);
    for (const row of rowsOf(body)) row.set("probability", Math.fround(Number(row.get("probability"))));
  }),
  "confidence of a noul is the probability of true: arithmetic.confidence": eachOf(
    "noul",
    (a) => void a.set("confidence", a.get("noul") ?? null),
  ),
  "confidence is the margin to the second: arithmetic.confidence": eachAnswer((answer) => {
    const [first = 0, second = 0] = numbersOf(inner(answer, "probabilities")).sort((a, b) => b - a);
    answer.set("confidence", first - second);
  }),
  "confidence rounded to three digits: arithmetic.confidence": eachAnswer(
    (a) => void a.set("confidence", Number(Number(a.get("confidence")).toFixed(3))),
  ),
  "probabilities in percent: systemone.schema, arithmetic.softmax": eachAnswer((answer) =>
    change(inner(answer, "probabilities"), (p) => 100 * p),
  ),
  "scores that are already divided by the temperature: arithmetic.softmax, scores.rank-as-rubric, texts.levels":
    eachAnswer((answer) => change(inner(answer, "scores"), (score) => score / 4.136820402388508)),
  "choice is the label with the smallest score: arithmetic.choice": eachOf("choice", (answer) => {
    const worst = [...inner(answer, "scores")].reduce((a, b) => (Number(b[1]) < Number(a[1]) ? b : a));
    answer.set("choice", worst[0]);
  }),
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
  "noul is 0 or 1: arithmetic.noul": eachOf(
    "noul",
    (a) => void a.set("noul", Math.round(Number(a.get("noul")))),
  ),
  "noul is the probability of false: arithmetic.noul": eachOf(
    "noul",
    (a) => void a.set("noul", 1 - Number(a.get("noul"))),
  ),
  "outcomes named no and yes: systemone.answers.outcomes, arithmetic.noul": eachColumn("noul", (column) =>
    rename(column, (name) => (name === "true" ? "yes" : "no")),
  ),
  "true before false: systemone.answers.outcomes, texts.noul-bare": eachColumn("noul", (column) =>
    reorder(column, (names) => names.reverse()),
  ),
  "score is the likeliest level: arithmetic.score": eachOf("score", (answer) => {
    const shares = numbersOf(inner(answer, "probabilities"));
    answer.set("score", shares.indexOf(Math.max(...shares)));
  }),
  "score counts levels from one: arithmetic.score": eachOf(
    "score",
    (a) => void a.set("score", Number(a.get("score")) + 1),
  ),
  "score between 0 and 1: arithmetic.score": eachOf(
    "score",
    (answer) => void answer.set("score", Number(answer.get("score")) / (inner(answer, "scores").size - 1)),
  ),
  "score rounded to four digits: arithmetic.score": eachOf(
    "score",
    (a) => void a.set("score", Number(Number(a.get("score")).toFixed(4))),
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
  "the type of an answer in capitals: systemone.answers.score": eachAnswer(
    (a) => void a.set("type", String(a.get("type")).toUpperCase()),
  ),
  "temperature rounded: systemone.temperature": on.answer(
    (body) => void (body.has("temperature") && body.has("answers") && body.set("temperature", 4.1368)),
  ),
  "another probabilities_source in rankings: rank.probabilities-source": on.answer(
    (body) => void (body.has("ranked") && body.set("probabilities_source", "softmax")),
  ),
  "rankings without latency_ms: rank.latency": on.answer(
    (body) => void (body.has("ranked") && body.delete("latency_ms")),
  ),
  "rankings without model: model.full-id, rank.schema": on.answer(
    (body) => void (body.has("ranked") && body.delete("model")),
  ),
  "latency_ms in seconds: headers.server-timing": {
    takesMs: 20,
    answer: (body) =>
      void (body.has("usage") && body.set("latency_ms", Number(body.get("latency_ms")) / 1000)),
  },
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
  "integer-like names in front, as JavaScript's objects have them: order.probabilities": on.answer((body) => {
    const first = (names: string[]) => Object.keys(Object.fromEntries(names.map((name) => [name, 0])));
    for (const map of mapsIn(body)) if (!map.has("__proto__")) reorder(map, first);
  }),
  "probabilities from the largest to the smallest: systemone.answers.outcomes, order.probabilities, texts.levels":
    eachAnswer((answer) => {
      const probabilities = inner(answer, "probabilities");
      reorder(probabilities, (names) =>
        names.sort((a, b) => Number(probabilities.get(b)) - Number(probabilities.get(a))),
      );
    }),
  "question names in small letters: systemone.answers.names, order.odd-names": on.answer((body) =>
    rename(inner(body, "answers"), (name) => name.toLowerCase()),
  ),
  "question names trimmed: order.exact-names": on.answer((body) =>
    rename(inner(body, "answers"), (name) => name.trim()),
  ),
  "names in composed form (NFC): order.exact-names": on.answer((body) => {
    for (const map of mapsIn(body)) rename(map, (name) => name.normalize("NFC"));
  }),
  "__proto__ lost: order.odd-names": on.answer((body) =>
    mapsIn(body).forEach((map) => void map.delete("__proto__")),
  ),
  "an answer more than questions: systemone.answers.names, order.answers": on.answer((body) => {
    const answers = inner(body, "answers");
    const [first] = answers.values();
    if (first !== undefined) answers.set("_summary", first);
  }),
  "rankings from the lowest score to the highest: rank.order": on.answer((body) => {
    const rows = rowsOf(body).reverse();
    for (const [index, row] of rows.entries()) row.set("rank", index + 1);
    setRows(body, rows);
  }),
  "rankings in the order of the request: rank.ranks": on.answer((body) => {
    const rows = rowsOf(body).sort((a, b) => Number(a.get("candidate")) - Number(b.get("candidate")));
    setRows(body, rows);
  }),
  "ranks from zero: rank.ranks": eachRow((row) => void row.set("rank", Number(row.get("rank")) - 1)),
  "tied candidates turned around: rank.ties": on.answer((body) => {
    const rows = rowsOf(body)
      .reverse()
      .sort((a, b) => Number(b.get("score")) - Number(a.get("score")));
    for (const [index, row] of rows.entries()) row.set("rank", index + 1);
    setRows(body, rows);
  }),
  "labels of a list as numbers: rank.rows": eachRow((row) => {
    if (/^\d+$/.test(String(row.get("candidate")))) row.set("candidate", Number(row.get("candidate")));
  }),
  "rows without their texts: rank.rows": eachRow((row) => void row.delete("text")),
  "labels of a list from one: rank.list-labels": on.answer((body, _operation, request) => {
    if (!/"(candidates|answers)":\[/.test(request)) return;
    for (const row of rowsOf(body)) row.set("candidate", String(Number(row.get("candidate")) + 1));
  }),
  "only the ten best: rank.list-labels": on.answer((body) => setRows(body, rowsOf(body).slice(0, 10))),
  "candidates' texts trimmed: rank.text-as-sent": eachRow(
    (row) => void row.set("text", String(row.get("text")).trim()),
  ),
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
  "cached pairs that still count their tokens: usage.cached-pairs": on.scores((scored) => ({
    ...scored,
    inputTokens: scored.inputTokens * (1 + scored.cachedPairs),
  })),
});
