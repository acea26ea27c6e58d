import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import type { Contract } from "../../src/contract/call.ts";
import type { SystemoneBody } from "../../src/decisions/request.ts";
import { readSystemone } from "../../src/decisions/systemone.ts";
import { invalidRequest, ServiceError } from "../../src/errors.ts";
import { JsonNumber } from "../../src/json/value.ts";
import { call, fakeContract, REQUEST_ID } from "./fake-contract.ts";

describe("starting the contract", () => {
  it("fails on an operation without a handler", async () => {
    await assert.rejects(fakeContract({ rank: undefined }), /Operations without a handler: rank/);
  });

  it("fails on a handler without an operation", async () => {
    await assert.rejects(fakeContract({ guess: async () => ({}) }), /Handlers without an operation: guess/);
  });

  it("fails on a handler for a page that the web server answers", async () => {
    await assert.rejects(
      fakeContract({ getDocs: async () => ({}) }),
      /Handlers without an operation: getDocs/,
    );
  });
});

describe("the routes of the contract", () => {
  let contract: Contract;
  before(async () => {
    contract = await fakeContract();
  });

  it("say method, path, body and key of each operation", () => {
    const rows = contract.routes.map(
      ({ method, path, operationId, hasBody, needsKey }) =>
        `${method} ${path} ${operationId}${hasBody ? " body" : ""}${needsKey ? " key" : ""}`,
    );
    assert.deepEqual(rows, [
      "POST /v1/systemone systemone body key",
      "POST /v1/rank rank body key",
      "GET /v1/models listModels",
      "GET /health getHealth",
      "GET /ready getReady",
      "GET /livez getLivez",
      "GET /metrics getMetrics",
      "GET /docs getDocs",
      "GET /redoc getRedoc",
      "GET /openapi.json getOpenapi",
      "GET /openapi.typed.json getTypedOpenapi",
    ]);
  });
});

describe("a call", () => {
  it("for the served document writes it once, however often it is asked for", async () => {
    let reads = 0;
    const document = {
      get openapi() {
        reads += 1;
        return "3.0.3";
      },
    };
    const contract = await fakeContract(
      { getOpenapi: async () => ({ status: 200, body: document }) },
      document,
    );
    for (let times = 0; times < 3; times++) {
      assert.equal((await call(contract, "getOpenapi")).body, '{"openapi":"3.0.3"}');
    }
    assert.equal(reads, 1);
  });

  it("reaches its handler with a validated body, the request id and the signal", async () => {
    const { signal } = new AbortController();
    const body = new TextEncoder().encode('{"state":{"b":1.0,"a":[]},"candidates":["x","y"],"model":"m"}');
    const seen: unknown[] = [];
    const rank = async (given: unknown) => {
      seen.push(given);
      return { status: 200, body: {} };
    };
    const incoming = { operationId: "rank", requestId: REQUEST_ID, signal, body } as const;
    await (await fakeContract({ rank })).call(incoming);
    const state = new Map<string, unknown>([
      ["b", new JsonNumber("1.0")],
      ["a", []],
    ]);
    const want = { state, candidates: ["x", "y"], model: "m" };
    assert.deepEqual(seen, [{ body: want, requestId: REQUEST_ID, signal }]);
  });

  it("reaches a handler whose operation has no body", async () => {
    const contract = await fakeContract({
      getHealth: async () => ({ status: 503, body: { status: "starting" } }),
    });
    const reply = await call(contract, "getHealth", "not looked at");
    assert.deepEqual(
      { status: reply.status, body: reply.body },
      { status: 503, body: '{"status":"starting"}' },
    );
  });

  it("is answered in JSON with the handler's headers", async () => {
    const listModels = async () => ({ status: 200, headers: { "server-timing": "total;dur=1" }, body: {} });
    const { headers } = await call(await fakeContract({ listModels }), "listModels");
    assert.deepEqual(headers, {
      "content-type": "application/json; charset=utf-8",
      "server-timing": "total;dur=1",
    });
  });

  it("keeps the order of names that look like integers or have a meaning in JavaScript, both ways", async () => {
    const systemone = async ({
      body,
    }: {
      readonly body: { readonly questions: ReadonlyMap<string, unknown> };
    }) => {
      const names = [...body.questions.keys()];
      return { status: 200, body: { answers: new Map(names.map((name, i) => [name, i])) } };
    };
    const noul = '{"type":"noul","instructions":null}';
    const names = ["10", "2", "__proto__", "", "constructor", "1"];
    const questions = names.map((name) => `${JSON.stringify(name)}:${noul}`).join(",");
    const reply = await call(
      await fakeContract({ systemone }),
      "systemone",
      `{"state":"s","questions":{${questions}}}`,
    );
    const want = '{"answers":{"10":0,"2":1,"__proto__":2,"":3,"constructor":4,"1":5}}';
    assert.deepEqual({ status: reply.status, body: reply.body }, { status: 200, body: want });
  });

  it("is answered with the error that its handler throws", async () => {
    const rank = async () => {
      throw new ServiceError("QUEUE_FULL", "The queue is full.");
    };
    const reply = await call(await fakeContract({ rank }), "rank", { state: "s", candidates: ["a", "b"] });
    assert.equal(reply.status, 503);
    assert.equal(reply.body, '{"detail":"The queue is full."}');
  });

  it("is answered with 500 when its handler fails unforeseen, or returns what JSON cannot say", async () => {
    const failure = new RangeError("secret");
    const getReady = async () => {
      throw failure;
    };
    const getHealth = async () => ({ status: 200, body: { uptime_seconds: Number.NaN } });
    const contract = await fakeContract({ getReady, getHealth });
    const reply = await call(contract, "getReady");
    assert.equal(reply.body, '{"detail":"The service failed. Request id test-1."}');
    assert.equal(reply.cause, failure);
    assert.equal((await call(contract, "getHealth")).status, 500);
  });

  it("rejects only when the caller has left", async () => {
    const rank = async () => {
      throw new ServiceError("CANCELLED", "The caller has left.");
    };
    const contract = await fakeContract({ rank });
    await assert.rejects(call(contract, "rank", { state: "s", candidates: ["a", "b"] }), {
      kind: "CANCELLED",
    });
  });
});

describe("the other names of a noul question's outcomes", () => {
  const model = {
    id: "n/m@0",
    aliases: [],
    showsLabels: true,
    limits: { maxStateQuestionTokens: 2048, maxCandidateTokens: 768 },
  };
  const systemone = async ({ body }: { readonly body: SystemoneBody }) => {
    const { questions } = await readSystemone(body, model);
    return { status: 200, body: questions.flatMap((q) => q.candidates.map(({ text }) => text)) };
  };
  const answer = async (criteria: string) =>
    call(
      await fakeContract({ systemone }),
      "systemone",
      `{"state":"s","questions":{"q":{"type":"noul","instructions":"i","criteria":${criteria}}}}`,
    );

  const accepted = [
    '{"false":"n","true":"y"}',
    '{"no":"n","yes":"y"}',
    '{"false":"n","true":"y","yes":null}',
    '{"no":null,"yes":null,"true":"y","false":"n"}',
  ];
  for (const criteria of accepted) {
    it(`make no difference in ${criteria}`, async () =>
      assert.equal((await answer(criteria)).body, '["false: n","true: y"]'));
  }

  const refused: [criteria: string, want: [loc: string, type: string][]][] = [
    ['{"false":"n","true":"y","yes":"y"}', [["yes", "alias_conflict"]]],
    ['{"false":"n","true":"y","maybe":null}', [["maybe", "unknown_field"]]],
    ['{"True":"y"}', [["True", "unknown_field"]]],
    [
      '{"false":"n","true":"y","no":0,"yes":1}',
      [
        ["no", "alias_conflict"],
        ["yes", "alias_conflict"],
      ],
    ],
  ];
  for (const [criteria, want] of refused) {
    it(`are refused in ${criteria}`, async () => {
      const { detail } = JSON.parse((await answer(criteria)).body);
      assert.deepEqual(
        detail.map(({ loc, type }: { loc: string[]; type: string }) => [loc.at(-1), type]),
        want,
      );
    });
  }
});

describe("the other names of rank's members", () => {
  const cases = [
    ["stand for the state", '{"context":"s","candidates":["a","b"]}', '{"state":"s","candidates":["a","b"]}'],
    [
      "stand for the candidates",
      '{"state":1,"answers":{"2":"b","1":"a"}}',
      '{"state":1,"candidates":{"2":"b","1":"a"}}',
    ],
    [
      "may hold null when they stand alone",
      '{"context":null,"answers":["a","b"]}',
      '{"state":null,"candidates":["a","b"]}',
    ],
    [
      "are as good as missing with null beside the member",
      '{"context":null,"state":1,"candidates":["a","b"],"answers":null}',
      '{"state":1,"candidates":["a","b"]}',
    ],
  ] as const;
  for (const [name, given, want] of cases) {
    it(name, async () => {
      const reply = await call(await fakeContract(), "rank", given);
      assert.deepEqual(reply.body, `{"received":${want}}`);
    });
  }

  it("are no names of systemone's members", async () => {
    const reply = await call(
      await fakeContract(),
      "systemone",
      '{"context":1,"questions":{"a":{"type":"noul","instructions":1}}}',
    );
    assert.deepEqual(
      JSON.parse(reply.body).detail.map(({ loc, type }: { loc: unknown; type: unknown }) => [loc, type]),
      [
        [["body", "state"], "missing"],
        [["body", "context"], "unknown_field"],
      ],
    );
  });

  it("are what the handler's issues are reported under", async () => {
    const rank = async () => {
      throw invalidRequest([
        { loc: ["body", "candidates", 1], msg: "Expected.", type: "blank" },
        { loc: ["body", "state"], msg: "Expected.", type: "blank" },
      ]);
    };
    const reply = await call(await fakeContract({ rank }), "rank", '{"state":1,"answers":["a",""]}');
    assert.deepEqual(
      JSON.parse(reply.body).detail.map(({ loc }: { loc: unknown }) => loc),
      [
        ["body", "answers", 1],
        ["body", "state"],
      ],
    );
  });
});
