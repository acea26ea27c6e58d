import { MODEL_ID } from "./fast-engine.ts";
import type { PlantedFault } from "./planted-fault.ts";
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
export const ANSWER_FAULTS: readonly PlantedFault[] = [
  {
    name: "the softmax without its temperature",
    fault: eachAnswer((answer) => void resoften(answer, 1)),
    fails: [
      "arithmetic.softmax",
      "arithmetic.precision",
      "arithmetic.confidence",
      "arithmetic.noul",
      "arithmetic.score",
      "systemone.every-answer",
    ],
  },
  {
    name: "the softmax of a ranking at another temperature",
    fault: {
      answer: (body) => {
        const rows = rowsOf(body);
        const shares = softmaxAt(
          rows.map((row) => Number(row.get("score"))),
          4,
        );
        for (const [index, row] of rows.entries()) row.set("probability", shares[index] ?? 0);
      },
    },
    fails: ["arithmetic.softmax", "arithmetic.precision"],
  },
  {
    name: "probabilities rounded to six digits",
    fault: eachAnswer((answer) => change(inner(answer, "probabilities"), (p) => Number(p.toFixed(6)))),
    fails: ["arithmetic.precision", "arithmetic.confidence", "arithmetic.score"],
  },
  {
    name: "probabilities rounded to two digits",
    fault: eachAnswer((answer) => change(inner(answer, "probabilities"), (p) => Number(p.toFixed(2)))),
    fails: [
      "arithmetic.softmax",
      "arithmetic.precision",
      "arithmetic.confidence",
      "arithmetic.noul",
      "arithmetic.score",
    ],
  },
  {
    name: "probabilities computed in float32",
    fault: {
      answer: (body) => {
        for (const answer of answersOf(body)) change(inner(answer, "probabilities"), Math.fround);
        for (const row of rowsOf(body)) row.set("probability", Math.fround(Number(row.get("probability"))));
      },
    },
    fails: ["arithmetic.precision", "arithmetic.confidence", "arithmetic.score"],
  },
  {
    name: "probabilities in percent",
    fault: eachAnswer((answer) => change(inner(answer, "probabilities"), (p) => 100 * p)),
    fails: [
      "systemone.schema",
      "arithmetic.softmax",
      "arithmetic.precision",
      "arithmetic.confidence",
      "arithmetic.noul",
      "arithmetic.score",
    ],
  },
  {
    name: "scores that are already divided by the temperature",
    fault: eachAnswer((answer) => change(inner(answer, "scores"), (score) => score / 4.136820402388508)),
    fails: [
      "arithmetic.softmax",
      "arithmetic.precision",
      "scores.rank-as-rubric",
      "texts.levels",
      "texts.labels",
      "texts.noul-described",
      "texts.noul-default",
      "texts.noul-half",
      "texts.noul-bare",
    ],
  },
  {
    name: "confidence of a noul is the probability of true",
    fault: eachOf("noul", (a) => void a.set("confidence", a.get("noul") ?? null)),
    fails: ["arithmetic.confidence"],
  },
  {
    name: "confidence is the margin to the second",
    fault: eachAnswer((answer) => {
      const [first = 0, second = 0] = numbersOf(inner(answer, "probabilities")).sort((a, b) => b - a);
      answer.set("confidence", first - second);
    }),
    fails: ["arithmetic.confidence"],
  },
  {
    name: "confidence rounded to three digits",
    fault: eachAnswer((a) => void a.set("confidence", Number(Number(a.get("confidence")).toFixed(3)))),
    fails: ["arithmetic.confidence"],
  },
  {
    name: "choice is the label with the smallest score",
    fault: eachOf("choice", (answer) => {
      const worst = [...inner(answer, "scores")].reduce((a, b) => (Number(b[1]) < Number(a[1]) ? b : a));
      answer.set("choice", worst[0]);
    }),
    fails: ["arithmetic.choice"],
  },
  {
    name: "choice is always the first label",
    fault: eachOf("choice", (a) => void a.set("choice", [...inner(a, "scores").keys()][0] ?? "")),
    fails: ["arithmetic.choice"],
  },
  {
    name: "of tied labels the last is the choice",
    fault: eachOf("choice", (answer) => {
      const best = [...inner(answer, "scores")].reduce((a, b) => (Number(b[1]) >= Number(a[1]) ? b : a));
      answer.set("choice", best[0]);
    }),
    fails: ["systemone.ties"],
  },
  {
    name: "choice is the description",
    fault: eachOf("choice", (a) => void a.set("choice", "Wants money back")),
    fails: ["systemone.answers.choice", "arithmetic.choice", "systemone.ties"],
  },
  {
    name: "noul is a boolean",
    fault: eachOf("noul", (a) => void a.set("noul", Number(a.get("noul")) >= 0.5)),
    fails: ["systemone.answers.noul", "systemone.schema", "arithmetic.noul"],
  },
  {
    name: "noul is 0 or 1",
    fault: eachOf("noul", (a) => void a.set("noul", Math.round(Number(a.get("noul"))))),
    fails: ["arithmetic.noul"],
  },
  {
    name: "noul is the probability of false",
    fault: eachOf("noul", (a) => void a.set("noul", 1 - Number(a.get("noul")))),
    fails: ["arithmetic.noul"],
  },
  {
    name: "outcomes named no and yes",
    fault: eachColumn("noul", (column) => rename(column, (name) => (name === "true" ? "yes" : "no"))),
    fails: ["systemone.answers.outcomes", "arithmetic.noul"],
  },
  {
    name: "true before false",
    fault: eachColumn("noul", (column) => reorder(column, (names) => names.reverse())),
    fails: [
      "systemone.answers.outcomes",
      "texts.noul-described",
      "texts.noul-default",
      "texts.noul-half",
      "texts.noul-bare",
    ],
  },
  {
    name: "score is the likeliest level",
    fault: eachOf("score", (answer) => {
      const shares = numbersOf(inner(answer, "probabilities"));
      answer.set("score", shares.indexOf(Math.max(...shares)));
    }),
    fails: ["arithmetic.score"],
  },
  {
    name: "score counts levels from one",
    fault: eachOf("score", (a) => void a.set("score", Number(a.get("score")) + 1)),
    fails: ["arithmetic.score"],
  },
  {
    name: "score between 0 and 1",
    fault: eachOf(
      "score",
      (answer) => void answer.set("score", Number(answer.get("score")) / (inner(answer, "scores").size - 1)),
    ),
    fails: ["arithmetic.score"],
  },
  {
    name: "score rounded to four digits",
    fault: eachOf("score", (a) => void a.set("score", Number(Number(a.get("score")).toFixed(4)))),
    fails: ["arithmetic.score"],
  },
  {
    name: "levels named by their descriptions",
    fault: eachColumn("score", (column) => rename(column, (name) => `level ${name}`)),
    fails: ["systemone.answers.labels", "arithmetic.score"],
  },
  {
    name: "levels named from one",
    fault: eachColumn("score", (column) => rename(column, (name) => String(Number(name) + 1))),
    fails: ["systemone.answers.labels", "arithmetic.score"],
  },
  {
    name: "scores left out",
    fault: eachAnswer((answer) => void answer.delete("scores")),
    fails: [
      "systemone.answers.choice",
      "systemone.answers.noul",
      "systemone.answers.score",
      "systemone.answers.labels",
      "systemone.answers.outcomes",
      "systemone.schema",
      "order.scores",
      "order.odd-names",
      "order.exact-names",
      "answers.every-schema",
      "docs.openapi-answers",
      "systemone.every-answer",
    ],
  },
  {
    name: "scores as texts",
    fault: eachAnswer((answer) => {
      const scores = inner(answer, "scores");
      for (const [name, value] of scores) scores.set(name, String(value));
    }),
    fails: [
      "systemone.answers.choice",
      "systemone.answers.noul",
      "systemone.answers.score",
      "systemone.schema",
    ],
  },
  {
    name: "scores as a list",
    fault: eachAnswer((a) => void a.set("scores", numbersOf(inner(a, "scores")))),
    fails: [
      "systemone.answers.choice",
      "systemone.answers.noul",
      "systemone.answers.score",
      "systemone.answers.outcomes",
      "systemone.schema",
      "order.scores",
      "order.odd-names",
      "order.exact-names",
    ],
  },
  {
    name: "a legend in score answers",
    fault: eachOf("score", (a) => void a.set("legend", new Map())),
    fails: ["systemone.schema"],
  },
  {
    name: "an id in answers",
    fault: { answer: (body) => void body.set("id", "answer-1") },
    fails: ["systemone.schema", "rank.schema"],
  },
  {
    name: "the type of an answer in capitals",
    fault: eachAnswer((a) => void a.set("type", String(a.get("type")).toUpperCase())),
    fails: [
      "systemone.answers.choice",
      "systemone.answers.noul",
      "systemone.answers.score",
      "systemone.schema",
    ],
  },
  {
    name: "temperature rounded",
    fault: {
      answer: (body) =>
        void (body.has("temperature") && body.has("answers") && body.set("temperature", 4.1368)),
    },
    fails: ["systemone.temperature"],
  },
  {
    name: "another probabilities_source in rankings",
    fault: { answer: (body) => void (body.has("ranked") && body.set("probabilities_source", "softmax")) },
    fails: ["rank.probabilities-source", "rank.schema"],
  },
  {
    name: "rankings without latency_ms",
    fault: { answer: (body) => void (body.has("ranked") && body.delete("latency_ms")) },
    fails: ["rank.latency", "rank.schema"],
  },
  {
    name: "rankings without model",
    fault: { answer: (body) => void (body.has("ranked") && body.delete("model")) },
    fails: [
      "model.full-id",
      "model.without-revision",
      "model.bare-name",
      "model.short-alias",
      "model.listed-aliases",
      "model.same-everywhere",
      "rank.schema",
    ],
  },
  {
    name: "latency_ms in seconds",
    fault: {
      takesMs: 20,
      answer: (body) =>
        void (body.has("usage") && body.set("latency_ms", Number(body.get("latency_ms")) / 1000)),
    },
    fails: ["headers.server-timing"],
  },
  {
    name: "latency_ms in microseconds",
    fault: {
      answer: (body) =>
        void (body.has("usage") && body.set("latency_ms", Number(body.get("latency_ms")) * 1000)),
    },
    fails: ["systemone.latency", "rank.latency", "headers.server-timing"],
  },
  {
    name: "latency_ms as a text",
    fault: {
      answer: (body) => void (body.has("usage") && body.set("latency_ms", `${body.get("latency_ms")} ms`)),
    },
    fails: ["systemone.latency", "rank.latency", "systemone.schema", "rank.schema"],
  },
  {
    name: "the model without its revision",
    fault: {
      answer: (body) =>
        void (body.has("usage") && body.set("model", String(body.get("model")).split("@")[0] ?? "")),
    },
    fails: [
      "model.id-form",
      "model.full-id",
      "model.without-revision",
      "model.bare-name",
      "model.short-alias",
      "model.listed-aliases",
      "model.same-everywhere",
      "systemone.model",
    ],
  },
  {
    name: "another revision of the model in answers to questions",
    fault: {
      answer: (body) =>
        void (body.has("answers") && body.set("model", `${MODEL_ID.split("@")[0]}@${"0".repeat(40)}`)),
    },
    fails: [
      "systemone.model",
      "model.full-id",
      "model.without-revision",
      "model.bare-name",
      "model.short-alias",
      "model.listed-aliases",
      "model.same-everywhere",
    ],
  },
  {
    name: "the model by the name that the request used",
    fault: {
      answer: (body, _operation, request) => {
        const asked = /"model":"([^"]+)"/.exec(request)?.[1];
        if (asked !== undefined && body.has("usage")) body.set("model", asked);
      },
    },
    fails: ["model.without-revision", "model.bare-name", "model.short-alias", "model.listed-aliases"],
  },
  {
    name: "answers sorted by name",
    fault: { answer: (body) => reorder(inner(body, "answers"), (names) => names.sort()) },
    fails: ["order.answers", "order.odd-names", "order.exact-names"],
  },
  {
    name: "integer-like names in front, as JavaScript's objects have them",
    fault: {
      answer: (body) => {
        const first = (names: string[]) => Object.keys(Object.fromEntries(names.map((name) => [name, 0])));
        for (const map of mapsIn(body)) if (!map.has("__proto__")) reorder(map, first);
      },
    },
    fails: ["order.answers", "order.probabilities", "order.scores"],
  },
  {
    name: "probabilities from the largest to the smallest",
    fault: eachAnswer((answer) => {
      const probabilities = inner(answer, "probabilities");
      reorder(probabilities, (names) =>
        names.sort((a, b) => Number(probabilities.get(b)) - Number(probabilities.get(a))),
      );
    }),
    fails: [
      "systemone.answers.outcomes",
      "order.probabilities",
      "order.odd-names",
      "texts.levels",
      "texts.labels",
      "texts.noul-described",
      "texts.noul-default",
      "texts.noul-half",
      "texts.noul-bare",
    ],
  },
  {
    name: "question names in small letters",
    fault: { answer: (body) => rename(inner(body, "answers"), (name) => name.toLowerCase()) },
    fails: ["systemone.answers.names", "order.odd-names"],
  },
  {
    name: "question names trimmed",
    fault: { answer: (body) => rename(inner(body, "answers"), (name) => name.trim()) },
    fails: ["order.exact-names"],
  },
  {
    name: "names in composed form (NFC)",
    fault: {
      answer: (body) => {
        for (const map of mapsIn(body)) rename(map, (name) => name.normalize("NFC"));
      },
    },
    fails: ["order.exact-names"],
  },
  {
    name: "__proto__ lost",
    fault: { answer: (body) => mapsIn(body).forEach((map) => void map.delete("__proto__")) },
    fails: ["order.odd-names"],
  },
  {
    name: "an answer more than questions",
    fault: {
      answer: (body) => {
        const answers = inner(body, "answers");
        const [first] = answers.values();
        if (first !== undefined) answers.set("_summary", first);
      },
    },
    fails: ["systemone.answers.names", "order.answers", "order.odd-names", "order.exact-names"],
  },
  {
    name: "rankings from the lowest score to the highest",
    fault: {
      answer: (body) => {
        const rows = rowsOf(body).reverse();
        for (const [index, row] of rows.entries()) row.set("rank", index + 1);
        setRows(body, rows);
      },
    },
    fails: ["rank.order", "rank.ties"],
  },
  {
    name: "rankings in the order of the request",
    fault: {
      answer: (body) => {
        const rows = rowsOf(body).sort((a, b) => Number(a.get("candidate")) - Number(b.get("candidate")));
        setRows(body, rows);
      },
    },
    fails: ["rank.order", "rank.ranks", "rank.every-answer", "rank.ties"],
  },
  {
    name: "tied candidates turned around",
    fault: {
      answer: (body) => {
        const rows = rowsOf(body)
          .reverse()
          .sort((a, b) => Number(b.get("score")) - Number(a.get("score")));
        for (const [index, row] of rows.entries()) row.set("rank", index + 1);
        setRows(body, rows);
      },
    },
    fails: ["rank.ties"],
  },
  {
    name: "ranks from zero",
    fault: eachRow((row) => void row.set("rank", Number(row.get("rank")) - 1)),
    fails: ["rank.schema", "rank.ranks"],
  },
  {
    name: "labels of a list as numbers",
    fault: eachRow((row) => {
      if (/^\d+$/.test(String(row.get("candidate")))) row.set("candidate", Number(row.get("candidate")));
    }),
    fails: ["rank.rows", "rank.schema"],
  },
  {
    name: "labels of a list from one",
    fault: {
      answer: (body, _operation, request) => {
        if (!/"(candidates|answers)":\[/.test(request)) return;
        for (const row of rowsOf(body)) row.set("candidate", String(Number(row.get("candidate")) + 1));
      },
    },
    fails: ["rank.list-labels", "rank.text-as-sent"],
  },
  {
    name: "candidates' texts trimmed",
    fault: eachRow((row) => void row.set("text", String(row.get("text")).trim())),
    fails: ["rank.text-as-sent"],
  },
  {
    name: "labels and texts mixed up by one",
    fault: {
      answer: (body) => {
        const rows = rowsOf(body);
        const texts = rows.map((row) => row.get("text") ?? "");
        for (const [index, row] of rows.entries()) row.set("text", texts[(index + 1) % texts.length] ?? "");
      },
    },
    fails: ["rank.labels", "rank.list-labels", "rank.text-as-sent", "rank.odd-labels", "rank.ties"],
  },
  {
    name: "only the ten best",
    fault: { answer: (body) => setRows(body, rowsOf(body).slice(0, 10)) },
    fails: ["rank.list-labels"],
  },
  {
    name: "rows without their texts",
    fault: eachRow((row) => void row.delete("text")),
    fails: ["rank.rows", "rank.schema"],
  },
  {
    name: "total_tokens left out",
    fault: { answer: (body) => void inner(body, "usage").delete("total_tokens") },
    fails: ["systemone.usage", "rank.usage", "systemone.schema", "rank.schema"],
  },
  {
    name: "output_tokens counts the candidates",
    fault: {
      answer: (body) => {
        const usage = inner(body, "usage");
        if (usage.size === 0) return;
        usage.set("output_tokens", 2);
        usage.set("total_tokens", Number(usage.get("input_tokens")) + 2);
      },
    },
    fails: ["usage.total"],
  },
  {
    name: "input_tokens of the state counted once",
    fault: {
      scores: (scored, request) => {
        const pairs = request.questions.reduce((sum, { candidates }) => sum + candidates.length, 0);
        const words = request.state.text.split(/\s+/).length;
        return { ...scored, inputTokens: Math.max(1, scored.inputTokens - (pairs - 1) * words) };
      },
    },
    fails: ["usage.additive", "usage.nothing-shared", "usage.cached-pairs"],
  },
  {
    name: "input_tokens with a fixed overhead for each request",
    fault: { scores: (scored) => ({ ...scored, inputTokens: scored.inputTokens + 7 }) },
    fails: ["usage.additive"],
  },
  {
    name: "cached_pairs always 0",
    fault: { scores: (scored) => ({ ...scored, cachedPairs: 0 }) },
    fails: ["usage.cached-pairs"],
  },
  {
    name: "cached pairs that still count their tokens",
    fault: {
      scores: (scored) => ({ ...scored, inputTokens: scored.inputTokens * (1 + scored.cachedPairs) }),
    },
    fails: ["usage.cached-pairs"],
  },
];
