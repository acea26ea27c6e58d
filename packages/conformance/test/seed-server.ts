import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";

/**
 * Another server of the contract, which satisfies only the profile seed. It differs from our service in everything that
 * the profile leaves open: string details, numbers of float32, its own members in /health, no request ids, more members
 * than asked, a lenient JSON parser, scores that batching shifts a little, redirects for pages. Its limits are those of
 * gemmadecision 0.2.0; they do not follow the contract's.
 */

const T = 4.136820402388508;
const ID = `acme/Decider-9B@${"abcdef0123".repeat(4)}`;
const NAMES = [ID, "acme/Decider-9B", "Decider-9B", "decider"];
const MAX_BYTES = 2_097_152;

class Refusal extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}
const invalid = (message: string) => new Refusal(422, message);

type Members = Record<string, unknown>;
const isMembers = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Tokens of a text; the server that somebody else wrote has a tokenizer that we do not know. */
type CountTokens = (text: string) => number;

export function createSeedServer(apiKey?: string, countTokens: CountTokens = words): Server {
  const counters = { completed_requests: 0, model_batches: 0 };
  return createServer((request, response) => {
    answer(request, response, { counters, apiKey, countTokens }).catch((error: unknown) => {
      const status = error instanceof Refusal ? error.status : 500;
      send(response, status, { detail: error instanceof Error ? error.message : "failed" });
    });
  });
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

interface Settings {
  readonly counters: { completed_requests: number; model_batches: number };
  readonly apiKey: string | undefined;
  readonly countTokens: CountTokens;
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { counters, apiKey, countTokens }: Settings,
): Promise<void> {
  const { method, url = "" } = request;
  if (method === "GET" && (url === "/health" || url === "/ready"))
    return send(response, 200, {
      up: true,
      model: { id: ID, weights: "v4" },
      runtime: "onnxruntime",
      queue: counters,
    });
  if (method === "GET" && url === "/v1/models")
    return send(response, 200, { models: [{ model_id: ID, tasks: ["typed-decisions"] }] });
  if (method === "GET" && (url === "/docs" || url === "/redoc"))
    return void response.writeHead(307, { location: `${url}/` }).end();
  if (method === "GET" && (url === "/docs/" || url === "/redoc/"))
    return void response
      .writeHead(200, { "content-type": "text/html" })
      .end("<!DOCTYPE html><title>Docs</title>");
  if (method === "GET" && url === "/openapi.json")
    return send(response, 200, { openapi: "3.1.0", paths: { "/v1/systemone": {}, "/v1/rank": {} } });
  if (method !== "POST" || (url !== "/v1/systemone" && url !== "/v1/rank"))
    return void response.writeHead(404, { "content-type": "text/plain" }).end("nothing here");

  const text = await readText(request);
  if (apiKey !== undefined && request.headers.authorization !== `Bearer ${apiKey}`)
    throw new Refusal(401, "Unauthorized");
  const startedAt = performance.now();
  const body = parse(text);
  const result = url === "/v1/rank" ? rank(body, countTokens) : systemone(body, countTokens);
  counters.model_batches += 1;
  counters.completed_requests += 1;
  send(response, 200, { ...result, latency_ms: performance.now() - startedAt, served_by: "node-7" });
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size <= MAX_BYTES) chunks.push(chunk);
  }
  if (size > MAX_BYTES) throw new Refusal(413, "Payload Too Large");
  return Buffer.concat(chunks).toString("utf8");
}

function parse(text: string): Members {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw invalid("malformed JSON");
  }
  if (!isMembers(body)) throw invalid("an object, please");
  return body;
}

function known(body: Members, names: readonly string[]): void {
  for (const name of Object.keys(body)) if (!names.includes(name)) throw invalid("there is a field too many");
  if (body.model !== undefined && !NAMES.includes(String(body.model))) throw invalid("no such model");
  if (body.model !== undefined && typeof body.model !== "string") throw invalid("model is a string");
}

const render = (value: unknown): string =>
  typeof value === "string" ? value : JSON.stringify(value ?? null);
const words = (text: string) => text.split(/\s+/).filter((word) => word !== "").length;

/** Scores the candidates of one question; specials: two for state and question, one for the candidate. */
function score(
  { state, question, candidates }: { state: string; question: string; candidates: readonly string[] },
  shift: number,
  count: CountTokens,
) {
  if (candidates.length < 2 || candidates.length > 64) throw invalid("2 to 64 candidates");
  if (count(state) + count(question) + 2 > 2048) throw invalid("state and question are too long");
  if (candidates.some((text) => count(text) + 1 > 768)) throw invalid("a candidate is too long");
  const raw = candidates.map((text) => {
    let hash = 7;
    for (const character of `${state}|${question}|${text}`)
      hash = (hash * 31 + character.charCodeAt(0)) % 1_000_003;
    return Math.fround((hash / 1_000_003) * 12 - 6 + shift);
  });
  const powers = raw.map((value) => Math.fround(Math.exp(value / T)));
  const total = powers.reduce((a, b) => a + b, 0);
  const tokens = candidates.reduce((sum, text) => sum + count(state) + count(question) + count(text) + 3, 0);
  return { raw, shares: powers.map((power) => Math.fround(power / total)), tokens };
}

const frame = (tokens: number) => ({
  usage: { input_tokens: tokens, output_tokens: 0, total_tokens: tokens, cached_pairs: 0 },
  temperature: T,
  probabilities_source: "softmax_ranking_scores_external_temperature",
});

function rank(body: Members, count: CountTokens): Members {
  known(body, ["state", "context", "candidates", "answers", "question", "model"]);
  const state = body.state ?? body.context;
  const given = body.candidates ?? body.answers;
  if (state === undefined || given === undefined) throw invalid("something is missing");
  if (!Array.isArray(given) && !isMembers(given)) throw invalid("candidates of another kind");
  const entries = Object.entries(given);
  if (entries.some(([, text]) => typeof text !== "string")) throw invalid("candidates are strings");
  const texts = entries.map(([, text]) => String(text));
  if (new Set(texts).size < texts.length) throw invalid("candidates must differ");
  const { raw, shares, tokens } = score(
    { state: render(state), question: render(body.question ?? ""), candidates: texts },
    0,
    count,
  );
  const ranked = entries
    .map(([label, text], i) => ({ candidate: label, text, score: raw[i] ?? 0, probability: shares[i] ?? 0 }))
    .sort((a, b) => b.score - a.score)
    .map((row, i) => ({ rank: i + 1, ...row }));
  return { ranked, ...frame(tokens) };
}

function systemone(body: Members, count: CountTokens): Members {
  known(body, ["state", "questions", "model"]);
  const { state, questions } = body;
  if (state === undefined || !isMembers(questions)) throw invalid("state and questions are needed");
  const entries = Object.entries(questions);
  if (entries.length < 1 || entries.length > 32) throw invalid("1 to 32 questions");
  const prepared = entries.map(([name, question]) => ({ name, ...prepare(question) }));
  if (prepared.reduce((sum, { labels }) => sum + labels.length, 0) > 256)
    throw invalid("more than 256 pairs");
  let tokens = 0;
  const answers = prepared.map(({ name, type, question, labels, texts }) => {
    // what shares the batch shifts a score a little, as the interface allows
    const scored = score({ state: render(state), question, candidates: texts }, entries.length * 1e-4, count);
    tokens += scored.tokens;
    return [name, write(type, labels, scored.raw, scored.shares)];
  });
  return { answers: Object.fromEntries(answers), model: ID, ...frame(tokens) };
}

function prepare(question: unknown) {
  if (!isMembers(question)) throw invalid("a question is an object");
  const { type, instructions, criteria } = question;
  if (instructions === undefined) throw invalid("no instructions");
  const shown = { question: render(instructions), type: String(type) };
  if (type === "noul") {
    if (criteria !== undefined && criteria !== null && !isMembers(criteria))
      throw invalid("criteria of another kind");
    const given = criteria ?? {};
    if ("no" in given && "false" in given) throw invalid("no and false");
    if ("yes" in given && "true" in given) throw invalid("yes and true");
    const texts = [render(given.true ?? given.yes ?? "yes"), render(given.false ?? given.no ?? "no")];
    return { ...shown, labels: ["true", "false"], texts };
  }
  if (type === "choice" && isMembers(criteria))
    return {
      ...shown,
      labels: Object.keys(criteria),
      texts: Object.entries(criteria).map(([label, text]) => `${label} = ${render(text)}`),
    };
  if (type === "score" && Array.isArray(criteria)) {
    const texts = criteria.map(render);
    if (new Set(texts).size < texts.length) throw invalid("levels must differ");
    return { ...shown, labels: criteria.map((_, level) => String(level)), texts };
  }
  throw invalid("neither choice nor noul nor score");
}

function write(
  type: string,
  labels: readonly string[],
  raw: readonly number[],
  shares: readonly number[],
): Members {
  const byLabel = (numbers: readonly number[]) =>
    Object.fromEntries(labels.map((label, i) => [label, numbers[i] ?? 0]));
  const outcome =
    type === "choice"
      ? labels[raw.indexOf(Math.max(...raw))]
      : type === "noul"
        ? shares[0]
        : shares.reduce((sum, share, level) => sum + level * share, 0);
  // the interface does not say that scores are named: here they are a list
  const scores = type === "score" ? raw : byLabel(raw);
  return {
    type,
    [type]: outcome,
    probabilities: byLabel(shares),
    confidence: Math.max(...shares),
    scores,
    explained: false,
  };
}
