import { excerpt, NoAnswer, type Reply, type SentRequest } from "../client/exchange.ts";
import type { HttpClient } from "../client/http.ts";
import { at, isMap, type Json, type JsonMap, show } from "../client/json.ts";
import type { Target } from "../client/target.ts";
import { headOf, Wire } from "../client/wire.ts";
import type { Profile } from "./clause.ts";
import { type Facts, JSON_TYPE } from "./facts.ts";
import { CONTRACT_LIMITS } from "./limits.ts";
import { withSalts } from "./salts.ts";

/** The server violates the clause. The message says what it did. */
export class Broken extends Error {
  override readonly name = "Broken";
  readonly request: SentRequest | undefined;

  constructor(came: string, request?: SentRequest) {
    super(came);
    this.request = request;
  }
}

/** It cannot be decided whether the server satisfies the clause. The message says why. */
export class CannotTell extends Error {
  override readonly name = "CannotTell";
}

/** State shared by the checks of one run. */
export interface Session {
  readonly target: Target;
  readonly client: HttpClient;
  readonly facts: Facts;
  readonly profile: Profile;
  readonly maxRequests: number;
  /** Every answer of the run so far, without those over raw connections. */
  readonly seen: Reply[];
  /** Results by name, for checks that need the same. */
  readonly shared: Map<string, Promise<unknown>>;
  sentRequests: number;
}

interface CallOptions {
  /** Strings and bytes are sent as they are, everything else as JSON. */
  readonly body?: unknown;
  /** Added to `content-type: application/json`, or replacing it. A header set to undefined is left out. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** False sends the request without the key. */
  readonly hasKey?: boolean;
  /** Timeout of the answer, if it may take longer than others. */
  readonly timeoutMs?: number;
}

/** An inference answered with 200. */
export interface Inferred {
  readonly reply: Reply;
  readonly json: JsonMap;
}

/** Marker word for values of requests. No error and no health report may repeat it. */
export const MARK = "qzmarkqz";
/** The most concurrent cases of one check. Chosen. */
const CASES_AT_A_TIME = 4;
/**
 * Attempts if the queue is full, which other callers may have caused. They are one `Retry-After` second apart. Chosen.
 */
const BUSY_ATTEMPTS = 4;
const BUSY_PAUSE_MS = 1000;
const FULL = `the server's queue was full at each of ${BUSY_ATTEMPTS} attempts`;
const TOO_FEW_TOKENS =
  "not applicable: the texts of this check are longer than the limits of this model, which /health reports";
/** Failed cases that a message names besides the first. Chosen. */
const NAMED_CASES = 4;

/** What one check uses to talk to the server and to report. */
export class Trial {
  readonly facts: Facts;
  readonly profile: Profile;
  readonly target: Target;
  readonly signal: AbortSignal;
  readonly #session: Session;
  readonly #wires: Wire[] = [];

  constructor(session: Session, signal: AbortSignal) {
    this.facts = session.facts;
    this.profile = session.profile;
    this.target = session.target;
    this.signal = signal;
    this.#session = session;
  }

  /** Every answer of the run so far. */
  get seen(): readonly Reply[] {
    return this.#session.seen;
  }

  /** Computes once per run what several checks need. */
  shared<Found>(name: string, find: () => Promise<Found>): Promise<Found> {
    const found = this.#session.shared.get(name) ?? find();
    this.#session.shared.set(name, found);
    return found as Promise<Found>; // each name has one type
  }

  /** @throws NoAnswer */
  async call(
    method: string,
    path: string,
    { body, headers = {}, hasKey = true, timeoutMs }: CallOptions = {},
  ): Promise<Reply> {
    this.#spend();
    const isText = body === undefined || typeof body === "string" || body instanceof Uint8Array;
    // only the two operations need the key
    const key = hasKey && method === "POST" && this.facts.wantsKey ? this.target.apiKey : undefined;
    const all = {
      ...(body === undefined ? {} : JSON_TYPE),
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...headers,
    };
    const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const reply = await this.#session.client.call({
      method,
      path,
      headers: Object.fromEntries(given),
      body: isText ? body : JSON.stringify(body),
      signal: this.signal,
      timeoutMs,
    });
    this.#session.seen.push(reply);
    return reply;
  }

  async get(path: string, options: CallOptions = {}): Promise<Reply> {
    return await this.call("GET", path, options);
  }

  /** Posts, and repeats the request while the queue is full. */
  async post(path: string, body: unknown, options: CallOptions = {}): Promise<Reply> {
    const send = async () => ({ reply: await this.call("POST", path, { ...options, body }) });
    return (await this.#whileBusy(send)).reply;
  }

  /** Calls `send`, and repeats it while the queue is full. @throws CannotTell if it stays full */
  async unlessBusy<Sent extends { readonly reply: Reply }>(send: () => Promise<Sent>): Promise<Sent> {
    const sent = await this.#whileBusy(send);
    if (sent.reply.status === 503) this.skip(FULL);
    return sent;
  }

  async #whileBusy<Sent extends { readonly reply: Reply }>(send: () => Promise<Sent>): Promise<Sent> {
    for (let attempt = 1; ; attempt += 1) {
      const sent = await send();
      if (sent.reply.status !== 503 || attempt === BUSY_ATTEMPTS) return sent;
      await new Promise((resolve) => setTimeout(resolve, BUSY_PAUSE_MS));
    }
  }

  /** Posts an inference that must succeed. @throws Broken if it does not; CannotTell if the queue stays full */
  async infer(path: string, body: unknown, options: CallOptions = {}): Promise<Inferred> {
    const reply = await this.post(path, body, options);
    if (reply.status === 503) this.skip(FULL);
    if (this.#isTooLong(reply)) this.skip(TOO_FEW_TOKENS);
    if (reply.status !== 200) this.fail(`${excerpt(reply)}, for a request that is valid`, reply);
    if (!isMap(reply.json)) this.fail(`not a JSON object: ${excerpt(reply)}`, reply);
    return { reply, json: reply.json };
  }

  /** The texts of checks fit into the contract's limits of tokens, not into lower ones of some models. */
  #isTooLong({ status, json }: Reply): boolean {
    const { maxStateQuestionTokens: question, maxCandidateTokens: candidate } = this.facts.limits;
    const isLower =
      question < CONTRACT_LIMITS.maxStateQuestionTokens || candidate < CONTRACT_LIMITS.maxCandidateTokens;
    return isLower && status === 422 && at(json, "detail", 0, "type") === "too_many_tokens";
  }

  /** Posts a request that must be refused. */
  async refused(
    path: string,
    body: unknown,
    options: CallOptions & { status?: number } = {},
  ): Promise<Reply> {
    const { status = 422, ...rest } = options;
    const reply = await this.post(path, body, rest);
    this.status(reply, status);
    return reply;
  }

  /** Opens a raw connection, closed at the end of the check. */
  async wire(): Promise<Wire> {
    this.#spend();
    const wire = await Wire.open(this.target);
    this.#wires.push(wire);
    return wire;
  }

  /** The head of a request over a raw connection: request line (`GET /health`), Host, and these lines. */
  head(line: string, ...lines: readonly string[]): string {
    return headOf(this.target, line, ...lines);
  }

  /** The head of a request with a JSON body and, if the server wants one, the key. */
  postHead(path: string, ...lines: readonly string[]): string {
    const { apiKey } = this.target;
    const key = this.facts.wantsKey && apiKey !== undefined ? [`Authorization: Bearer ${apiKey}`] : [];
    return this.head(`POST ${path}`, "Content-Type: application/json", ...lines, ...key);
  }

  /** Runs the cases, a few at a time. @throws Broken for the first failed case, naming the others */
  async each<Case>(
    cases: readonly Case[],
    run: (one: Case) => Promise<unknown>,
    atATime = CASES_AT_A_TIME,
  ): Promise<void> {
    const failures: [index: number, error: Broken | NoAnswer][] = [];
    const waiting = [...cases.entries()];
    const work = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const [index, one] = next;
        try {
          await withSalts(String(index), () => run(one));
        } catch (error) {
          if (!(error instanceof Broken) && !(error instanceof NoAnswer)) throw error;
          failures.push([index, error]);
        }
      }
    };
    await Promise.all(Array.from({ length: atATime }, work));
    const [first, ...others] = failures.toSorted(([one], [other]) => one - other);
    if (first === undefined) return;
    const [index, { message, request }] = first;
    const names = others.slice(0, NAMED_CASES).map(([at]) => nameOf(cases[at]));
    const also = [...names, ...(others.length > NAMED_CASES ? ["..."] : [])].join("; ");
    const more = also && ` [${others.length + 1} of ${cases.length} cases, also: ${also}]`;
    throw new Broken(`${nameOf(cases[index])}: ${message}${more}`, request);
  }

  /** The same for cases by name. */
  eachOf<Value>(
    cases: Readonly<Record<string, Value>>,
    run: (value: Value) => Promise<unknown>,
  ): Promise<void> {
    const named = Object.entries(cases).map(([name, value]) => ({ name, value }));
    return this.each(named, ({ value }) => run(value));
  }

  expect(isKept: boolean, came: string, about?: Reply | Inferred | Wire): asserts isKept {
    if (!isKept) this.fail(came, about);
  }

  /** Expects a scalar to have a value. @param what names it in the message */
  equal(
    what: string,
    came: Json | undefined,
    wanted: Json | undefined,
    about?: Reply | Inferred | Wire,
  ): void {
    if (came !== wanted) this.fail(`${what} is ${show(came)}, not ${show(wanted)}`, about);
  }

  /** @param about what the report repeats, if that is not the reply's request */
  status(reply: Reply, wanted: number | readonly number[], about: Reply | Wire = reply): void {
    const all = [wanted].flat();
    if (!all.includes(reply.status)) this.fail(`${excerpt(reply)}, not ${all.join(" or ")}`, about);
  }

  /** @param misfit what is wrong; undefined if nothing is */
  fits(misfit: string | undefined, about?: Reply | Inferred | Wire): void {
    if (misfit !== undefined) this.fail(misfit, about);
  }

  fail(came: string, about?: Reply | Inferred | Wire): never {
    throw new Broken(came, requestOf(about));
  }

  skip(reason: string): never {
    throw new CannotTell(reason);
  }

  close(): void {
    for (const wire of this.#wires) wire.close();
  }

  #spend(): void {
    this.signal.throwIfAborted();
    this.#session.sentRequests += 1;
    if (this.#session.sentRequests > this.#session.maxRequests)
      throw new CannotTell(`the run reached its limit of ${this.#session.maxRequests} requests`);
  }
}

/** The member `name` of a case; of a case without one, its JSON. */
function nameOf(one: unknown): string {
  const hasName = typeof one === "object" && one !== null && "name" in one;
  return hasName ? String(one.name) : (JSON.stringify(one) ?? "nothing");
}

function requestOf(about: Reply | Inferred | Wire | undefined): SentRequest | undefined {
  if (about === undefined) return undefined;
  if (about instanceof Wire) return about.request();
  return "reply" in about ? about.reply.request : about.request;
}
