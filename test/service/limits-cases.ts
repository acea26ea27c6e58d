import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { head, WireClient } from "../server/wire.ts";
import { type Client, candidates, MARK, NOUL, type Reply, SMALL, words } from "./service.ts";

export const MAX_BODY = 2_097_152;

/**
 * @param start starts the service that is asked
 * @param hostileBytes size of the hostile bodies
 */
export function testLimits(start: () => Promise<Client>, hostileBytes: number): void {
  let service: Client;
  before(async () => {
    service = await start();
  });
  after(() => service.stop());

  function score(count: number, tokens = 1): object {
    return { type: "score", instructions: "i", criteria: candidates(count, tokens) };
  }
  function numbered(count: number, value: unknown): object {
    return Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, value]));
  }
  function labelled(texts: readonly string[]): object {
    return Object.fromEntries(texts.map((text, index) => [`l${index}`, text]));
  }

  describe("counts:", () => {
    const question = (criteria: unknown, type = "choice") => ({
      state: "s",
      questions: { q: { type, instructions: "i", criteria } },
    });
    const list = (count: number) => candidates(count);
    const cases = [0, 1, 2, 64, 65, 5000].flatMap((count) => {
      const isTaken = count === 2 || count === 64;
      return [
        {
          name: `${count} candidates in a list`,
          target: "/v1/rank",
          given: { state: "s", candidates: list(count) },
        },
        {
          name: `${count} candidates in a map`,
          target: "/v1/rank",
          given: { state: "s", candidates: labelled(list(count)) },
        },
        { name: `${count} answers`, target: "/v1/rank", given: { context: "s", answers: list(count) } },
        { name: `${count} labels`, target: "/v1/systemone", given: question(labelled(list(count))) },
        { name: `${count} levels`, target: "/v1/systemone", given: question(list(count), "score") },
      ].map((one) => ({ ...one, isTaken }));
    });
    const counted = [
      { name: "0 questions", given: {}, isTaken: false },
      { name: "1 question", given: { q: NOUL }, isTaken: true },
      { name: "32 questions", given: numbered(32, NOUL), isTaken: true },
      { name: "33 questions", given: numbered(33, NOUL), isTaken: false },
      { name: "5,000 questions", given: numbered(5000, NOUL), isTaken: false },
      { name: "256 pairs", given: numbered(4, score(64)), isTaken: true },
      {
        name: "256 pairs of several types",
        given: { ...numbered(3, score(64)), a: score(62), b: NOUL },
        isTaken: true,
      },
      { name: "257 pairs", given: { ...numbered(3, score(64)), a: score(63), b: NOUL }, isTaken: false },
      { name: "258 pairs", given: { ...numbered(4, score(64)), a: NOUL }, isTaken: false },
      { name: "256 pairs of 32 questions", given: numbered(32, score(8)), isTaken: true },
      { name: "2,048 pairs", given: numbered(32, score(64)), isTaken: false },
    ].map(({ name, given, isTaken }) => ({
      name,
      isTaken,
      target: "/v1/systemone",
      given: { state: "s", questions: given },
    }));
    for (const { name, target, given, isTaken } of [...cases, ...counted]) {
      test(`${name}: ${isTaken ? "taken" : "refused"}`, async () => {
        if (isTaken) await service.decide(given, target);
        else await service.refused(target, given);
      });
    }
  });

  describe("tokens:", () => {
    // [CLS] state [SEP] question [SEP], and [CLS] candidate [SEP]: seen through usage, which counts whole pairs.
    test("a state and a question of 2,048 tokens together are taken, one more is refused", async () => {
      for (const [state, question] of [
        [words(2045), ""],
        ["", words(2045)],
      ] as const) {
        const body = await service.rank({ state, question, candidates: ["a", "b"] });
        assert.equal(body.usage.input_tokens, 2 * (2048 + 3));
        for (const more of [{ state: `${state} go`.trim() }, { question: `${question} go`.trim() }])
          await service.refused("/v1/rank", { state, question, ...more, candidates: ["a", "b"] });
      }
    });

    test("the bound holds for each question of a request", async () => {
      const at = { type: "choice", instructions: words(45), criteria: { a: null, b: null } };
      const past = { ...at, instructions: words(46) };
      const body = await service.decide({ state: words(2000), questions: { at } });
      assert.equal(body.usage.input_tokens, 2 * (2048 + 3));
      for (const questions of [{ past }, { at, past }, { past, at }]) {
        const issues = await service.refused("/v1/systemone", { state: words(2000), questions });
        assert.equal(issues.length, 1, JSON.stringify(issues));
      }
    });

    for (const { name, bound, given } of [
      { name: "a ranking", bound: 766, given: (text: string) => ({ state: "s", candidates: ["a", text] }) },
      {
        name: "a map",
        bound: 766,
        given: (text: string) => ({ state: "s", candidates: { l: text, b: "a" } }),
      },
      {
        name: "a level",
        bound: 766,
        given: (text: string) => ({
          state: "s",
          questions: { q: { type: "score", instructions: null, criteria: ["a", text] } },
        }),
      },
      {
        name: "a description, which is shown behind its label",
        bound: 764,
        given: (text: string) => ({
          state: "s",
          questions: { q: { type: "choice", instructions: null, criteria: { a: null, x: text } } },
        }),
      },
      {
        name: "a label that stands for its description",
        bound: 766,
        given: (text: string) => ({
          state: "s",
          questions: { q: { type: "choice", instructions: null, criteria: { a: null, [text]: null } } },
        }),
      },
    ]) {
      test(`a candidate of 768 tokens is taken, one more is refused: ${name}`, async () => {
        const target = "questions" in given("") ? "/v1/systemone" : "/v1/rank";
        const { usage } = await service.decide(given(words(bound)), target);
        assert.equal(usage.input_tokens, 2 * 4 + 3 + 768);
        await service.refused(target, given(words(bound + 1)));
      });
    }

    test("an outcome is counted with its name and its default text", async () => {
      const question = { type: "noul", instructions: words(300), criteria: { true: words(764) } };
      const body = await service.decide({ state: "s", questions: { q: question } });
      // "false: No. This is false: " and 300 words: false : no . this is false : = 8
      assert.equal(body.usage.input_tokens, 2 * (4 + 300) + (2 + 8 + 300) + 768);
      const longer = { ...question, criteria: { true: words(765) } };
      await service.refused("/v1/systemone", { state: "s", questions: { q: longer } });
      const default_ = { type: "noul", instructions: words(759) };
      await service.refused("/v1/systemone", { state: "s", questions: { q: default_ } });
      await service.decide({ state: "s", questions: { q: { ...default_, instructions: words(758) } } });
    });

    test("usage adds the tokens of all pairs, each at its full length", async () => {
      const { usage } = await service.decide({
        state: "go go go",
        questions: {
          a: { type: "choice", instructions: "go go", criteria: { a: null, b: "go" } },
          b: { type: "score", instructions: null, criteria: ["go", "go go", "go go go"] },
        },
      });
      assert.equal(usage.input_tokens, 2 * (5 + 3) + 3 + 5 + 3 * (5 + 1) + 3 + 4 + 5);
    });

    test("a part over its limit is refused at any position, with its place", async () => {
      const long = words(800);
      const issues = await service.refused("/v1/systemone", {
        state: "s",
        questions: { q: { type: "score", instructions: "i", criteria: ["a", "b", long] } },
      });
      assert.deepEqual(issues[0]?.loc, ["body", "questions", "q", "criteria", 2]);
      const [ranked] = await service.refused("/v1/rank", { state: "s", candidates: { a: "a", b: long } });
      assert.deepEqual(ranked?.loc, ["body", "candidates", "b"]);
      const many = Array.from({ length: 64 }, (_, index) => `${index} ${long}`);
      assert.ok((await service.refused("/v1/rank", { state: words(3000), candidates: many })).length <= 20);
    });
  });

  describe("bytes:", () => {
    const padded = (bytes: number): string => JSON.stringify(SMALL).padEnd(bytes);
    async function sent(
      body: Uint8Array | string,
      length: string,
      ...rest: string[]
    ): Promise<Reply["status"]> {
      const client = await WireClient.open(service.port);
      try {
        await client.send(
          head("POST /v1/systemone", "Content-Type: application/json", "Connection: close", length),
          body,
          ...rest,
        );
        const answer = await client.read();
        assert.equal(client.error, undefined);
        return answer.status;
      } finally {
        client.close();
      }
    }

    test("a body of 2,097,152 bytes is taken, one more is 413", async () => {
      assert.equal(await sent(padded(MAX_BODY), `Content-Length: ${MAX_BODY}`), 200);
      assert.equal(await sent(padded(MAX_BODY + 1), `Content-Length: ${MAX_BODY + 1}`), 413);
      assert.equal((await service.post("/v1/rank", padded(MAX_BODY + 1))).status, 413);
    });

    test("a chunked body without a declared length is held to the same limit", async () => {
      const chunked = "Transfer-Encoding: chunked";
      const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;
      assert.equal(await sent(chunk(padded(MAX_BODY)), chunked, "0\r\n\r\n"), 200);
      assert.equal(await sent(chunk(padded(MAX_BODY)), chunked, chunk(" "), "0\r\n\r\n"), 413);
    });

    test("bytes count, not characters", async () => {
      const text = JSON.stringify({ ...SMALL, state: "é".repeat(MAX_BODY / 2) });
      assert.equal((await service.post("/v1/systemone", text)).status, 413);
    });

    test("the size comes before the JSON, and after media type", async () => {
      assert.equal((await service.post("/v1/systemone", "{".padEnd(MAX_BODY + 1))).status, 413);
      const headers = { "content-type": "text/plain" };
      assert.equal((await service.post("/v1/systemone", " ".repeat(MAX_BODY + 1), headers)).status, 422);
      const encoded = { "content-type": "application/json", "content-encoding": "gzip" };
      assert.equal((await service.post("/v1/systemone", " ".repeat(MAX_BODY + 1), encoded)).status, 422);
    });

    test("413 does not wait for a body that is announced too long", async () => {
      const client = await WireClient.open(service.port);
      await client.send(
        head("POST /v1/systemone", "Content-Type: application/json", "Content-Length: 99999999999"),
      );
      assert.equal((await client.read()).status, 413);
      client.close();
    });
  });

  describe("a hostile body is answered while others are served:", () => {
    const room = hostileBytes - 1000;
    const repeated = (text: string): string => text.repeat(Math.floor(room / Buffer.byteLength(text)));
    const state = (json: string): string =>
      `{"state":${json},"questions":{"q":{"type":"noul","instructions":"i"}}}`;
    const members = (text: (index: number) => string): string => {
      const parts: string[] = [];
      for (let index = 0, size = 0; size < room - 100; index += 1) {
        const part = text(index);
        parts.push(part);
        size += Buffer.byteLength(part) + 1;
      }
      return parts.join();
    };
    for (const { name, given, status = 422 } of [
      { name: "open arrays", given: repeated("[") },
      { name: "open objects", given: repeated('{"a":') },
      { name: "open arrays in a string", given: state(`"${repeated("[")}"`), status: 0 },
      {
        name: "arrays in a string",
        given: state(`"${"[".repeat(room / 2)}${"]".repeat(room / 2)}"`),
        status: 0,
      },
      { name: "an array in a string", given: state(`"[${repeated("1,")}1]"`) },
      { name: "empty arrays in an array", given: state(`[${repeated("[],")}[]]`) },
      { name: "numbers", given: state(`[${repeated("1,")}1]`) },
      { name: "one integer", given: state(repeated("9")) },
      { name: "one float", given: state(`0.${repeated("9")}`), status: 200 },
      { name: "members", given: state(`{${members((i) => `"m${i}":0`)}}`) },
      { name: "equal members", given: state(`{${members(() => '"a":0')}}`) },
      { name: "unknown members", given: `{${members((i) => `"m${i}":"${MARK}"`)}}` },
      { name: "questions", given: `{"state":1,"questions":{${members((i) => `"m${i}":5`)}}}` },
      { name: "question objects", given: `{"state":1,"questions":{${members((i) => `"m${i}":{"x":1}`)}}}` },
      { name: "candidates", given: `{"state":1,"candidates":[${members((i) => `"${i}"`)}]}` },
      { name: "labels", given: `{"state":1,"candidates":{${members((i) => `"${i}":5`)}}}` },
      { name: "words", given: state(`"${repeated("a ")}"`) },
      { name: "spaces", given: state(`"${repeated(" ")}x"`), status: 200 },
      { name: "escapes", given: state(`"${repeated("\\u0041")}"`) },
      { name: "escaped quotes", given: state(`"${repeated('\\"')}"`) },
      { name: "control characters", given: state(`"${repeated("\\u0001")}x"`), status: 200 },
      { name: "ideographs", given: state(`"${repeated("漢")}"`) },
      { name: "Hangul", given: state(`"${repeated("한")}"`), status: 0 },
      { name: "punctuation", given: state(`"${repeated("!")}"`) },
      { name: "white space around", given: paddedFront(room), status: 200 },
      { name: "white space within", given: `{${repeated(" ")}}` },
      { name: "long candidates", given: long(Math.min(64, Math.floor(room / 2000))) },
      { name: "a string without end", given: `{"state":"${repeated("a")}` },
      { name: "backslashes", given: `{"state":"${repeated("\\\\")}"` },
      { name: "zero bytes", given: repeated("\u0000") },
      { name: "a question's long name", given: `{"state":1,"questions":{"${repeated("n")}":{}}}` },
      { name: "an unknown long member", given: `{"state":1,"questions":{},"${repeated("n")}":1}` },
    ]) {
      test(`${name}`, async () => {
        const isRank = given.includes('"candidates"');
        const [reply] = await Promise.all([
          service.post(isRank ? "/v1/rank" : "/v1/systemone", given),
          service.health(),
        ]);
        if (status === 0) assert.ok(reply.status === 200 || reply.status === 422, String(reply.status));
        else assert.equal(reply.status, status, reply.text.slice(0, 300));
        assert.ok(reply.text.length < 100_000);
      });
    }

    function paddedFront(bytes: number): string {
      return JSON.stringify(SMALL).padStart(bytes);
    }
    function long(count: number): string {
      const bytes = Math.floor(room / count);
      const texts = Array.from({ length: count }, (_, index) => `${index} ${"a ".repeat((bytes - 20) / 2)}`);
      return JSON.stringify({ state: 1, candidates: texts });
    }
  });
}
