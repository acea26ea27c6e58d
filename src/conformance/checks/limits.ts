import { type Check, defineCheck } from "../check.ts";
import { excerpt } from "../exchange.ts";
import { NOUL, OPERATIONS, RANK, SMALL, SMALL_RANK, SYSTEMONE } from "../operations.ts";
import { MARK, type Trial } from "../trial.ts";
import { headOf } from "../wire.ts";
import { asked, type Case, checkRefused, checkTaken } from "./cases.ts";
import { choiceOf, labelled, numbered, scoreOf, texts } from "./scored.ts";

function rankOf(count: number): readonly Case[] {
  return [
    { name: `${count} in a list`, path: RANK, body: { state: "s", candidates: texts(count) } },
    { name: `${count} in a mapping`, path: RANK, body: { state: "s", candidates: labelled(texts(count)) } },
  ];
}
function questions(given: unknown, name: string): Case {
  return { name, body: { state: "s", questions: given } };
}
const levels = (count: number) => scoreOf(texts(count));
const labels = (count: number) => choiceOf(labelled(texts(count)));

/** Counts and bytes, each at its bound and one past it. */
export const LIMIT_CHECKS: readonly Check[] = [
  bound(
    "limits.questions",
    "A request has 1 to 32 questions.",
    [questions({ q: NOUL }, "1 question"), questions(numbered(32, NOUL), "32 questions")],
    [
      questions({}, "no question"),
      questions(numbered(33, NOUL), "33 questions"),
      questions(numbered(200, NOUL), "200 questions"),
    ],
  ),
  bound(
    "limits.labels",
    "A choice has 2 to 64 labels.",
    [
      { name: "2 labels", body: asked(labels(2)) },
      { name: "64 labels", body: asked(labels(64)) },
    ],
    [0, 1, 65, 1000].map((count) => ({ name: `${count} labels`, body: asked(labels(count)) })),
  ),
  bound(
    "limits.levels",
    "A score has 2 to 64 levels.",
    [
      { name: "2 levels", body: asked(levels(2)) },
      { name: "64 levels", body: asked(levels(64)) },
    ],
    [0, 1, 65, 1000].map((count) => ({ name: `${count} levels`, body: asked(levels(count)) })),
  ),
  bound(
    "limits.candidates",
    "A ranking has 2 to 64 candidates.",
    [...rankOf(2), ...rankOf(64)],
    [0, 1, 65, 1000].flatMap(rankOf),
  ),
  defineCheck({
    id: "limits.pairs",
    clause: "The questions of a request have at most 256 candidates together.",
    source: "interface: Errors",
    expected: "200 for 256 pairs, also of mixed types; 422 for 257 and more",
    isGentle: false,
    run: async (trial: Trial) => {
      await checkTaken(trial, [
        questions(numbered(4, levels(64)), "4 times 64 levels"),
        questions(
          { ...numbered(3, labels(64)), a: levels(62), b: NOUL },
          "3 times 64 labels, 62 levels and a noul",
        ),
      ]);
      await checkRefused(trial, [
        questions({ ...numbered(3, labels(64)), a: levels(63), b: NOUL }, "257 pairs of all types"),
        questions({ ...numbered(4, levels(64)), a: NOUL }, "258 pairs"),
        questions(numbered(32, levels(64)), "2,048 pairs"),
      ]);
    },
  }),
  defineCheck({
    id: "limits.pairs-refused",
    clause: "More than 256 candidates together are refused.",
    source: "interface: Errors",
    expected: "422 for 257 pairs and for 320",
    run: (trial: Trial) =>
      checkRefused(trial, [
        questions({ ...numbered(3, labels(64)), a: levels(63), b: NOUL }, "257 pairs of all types"),
        questions(numbered(5, levels(64)), "320 pairs"),
      ]),
  }),
  defineCheck({
    id: "limits.body",
    clause: "A POST body may have 2,097,152 bytes; more is 413.",
    source: "interface: ServiceLimits",
    expected: "200 for a valid body of exactly that size, 413 for one byte more, from both operations",
    isGentle: false,
    run: async (trial: Trial) => {
      const { maxBodyBytes } = trial.facts.limits;
      for (const { path, body } of OPERATIONS) {
        const text = JSON.stringify(body);
        await trial.infer(path, text.padEnd(maxBodyBytes));
        await trial.refused(path, text.padEnd(maxBodyBytes + 1), { status: 413 });
        await trial.infer(path, text.padStart(maxBodyBytes));
      }
    },
  }),
  defineCheck({
    id: "limits.body-bytes",
    clause: "The size of a body counts in bytes, not in characters.",
    source: "interface: ServiceLimits",
    expected: "413 for a body whose characters are fewer than 2,097,152 and whose bytes are more",
    isGentle: false,
    run: async (trial: Trial) => {
      const state = "é".repeat(trial.facts.limits.maxBodyBytes / 2);
      await trial.refused(SYSTEMONE, { ...SMALL, state }, { status: 413 });
    },
  }),
  defineCheck({
    id: "limits.body-chunked",
    clause: "The size limit holds for a body that comes in chunks, whose sum nobody announced.",
    source: "interface: ServiceLimits",
    expected: "200 at the limit, 413 one byte past it",
    isGentle: false,
    run: async (trial: Trial) => {
      const { maxBodyBytes } = trial.facts.limits;
      for (const [more, status] of [
        [0, 200],
        [1, 413],
      ] as const) {
        const half = maxBodyBytes / 2;
        const body = JSON.stringify(SMALL_RANK).padEnd(maxBodyBytes + more);
        const chunks = [body.slice(0, half), body.slice(half, 2 * half), body.slice(2 * half)];
        const { reply, wire } = await trial.unlessBusy(() => sendChunks(trial, chunks));
        trial.expect(reply.status === status, `${excerpt(reply)} for ${body.length} bytes`, wire);
      }
    },
  }),
  defineCheck({
    id: "limits.body-announced",
    clause: "A body that is announced too large is refused without waiting for it.",
    source: "contract: Order of checks",
    expected: "413 after the head alone",
    run: async (trial: Trial) => {
      const wire = await trial.wire();
      const lines = ["Content-Type: application/json", "Content-Length: 99999999999", ...trial.keyLines()];
      wire.send(headOf(trial.target, `POST ${SYSTEMONE}`, ...lines));
      const reply = await wire.read();
      trial.expect(reply.status === 413, excerpt(reply), wire);
    },
  }),
  defineCheck({
    id: "limits.nesting",
    clause: "Objects and arrays lie in each other at most 100 levels deep, the body's own included.",
    source: "contract: Requests",
    expected: "200 for 100 levels, 422 for 101, of objects, of arrays and of both, in both operations",
    run: async (trial: Trial) => {
      const nested = (open: string, close: string, count: number) =>
        `${open.repeat(count)}1${close.repeat(count)}`;
      const within = (value: string) => [
        { body: `{"state":${value},"questions":{"q":{"type":"noul","instructions":"${MARK}"}}}` },
        { path: RANK, body: `{"state":${value},"candidates":["a","b"]}` },
      ];
      const cases = (levels: number): readonly Case[] =>
        [
          { name: `${levels} levels of arrays`, value: nested("[", "]", levels - 1) },
          { name: `${levels} levels of objects`, value: nested('{"a":', "}", levels - 1) },
          { name: `${levels} levels of both`, value: `[${nested('{"a":', "}", levels - 2)}]` },
        ].flatMap(({ name, value }) => within(value).map((one) => ({ name, ...one })));
      await checkTaken(trial, cases(trial.facts.limits.maxNesting));
      await checkRefused(trial, cases(trial.facts.limits.maxNesting + 1));
    },
  }),
  defineCheck({
    id: "limits.nesting-hostile",
    clause: "Any depth of nesting is refused, none ends the server.",
    source: "contract: Requests",
    expected: "422 for 100,000 open arrays and objects",
    run: (trial: Trial) =>
      checkRefused(trial, [
        { name: "open arrays", body: "[".repeat(100_000) },
        { name: "open objects", body: '{"a":'.repeat(100_000) },
      ]),
  }),
];

async function sendChunks(trial: Trial, chunks: readonly string[]) {
  const wire = await trial.wire();
  const lines = ["Content-Type: application/json", "Transfer-Encoding: chunked", ...trial.keyLines()];
  wire.send(headOf(trial.target, `POST ${RANK}`, ...lines));
  for (const chunk of chunks) if (chunk !== "") wire.send(`${chunk.length.toString(16)}\r\n${chunk}\r\n`);
  wire.send("0\r\n\r\n");
  return { reply: await wire.read(), wire };
}

function bound(id: string, clause: string, taken: readonly Case[], refused: readonly Case[]): Check {
  return defineCheck({
    id,
    clause,
    source: "interface: ServiceLimits",
    expected: "200 at the bounds, 422 past them",
    run: async (trial: Trial) => {
      await checkTaken(trial, taken);
      await checkRefused(trial, refused);
    },
  });
}
