import { gzipSync } from "node:zlib";
import { excerpt } from "../../client/exchange.ts";
import { at } from "../../client/json.ts";
import { type Check, defineCheck } from "../../trial/check.ts";
import { RANK, SMALL, SYSTEMONE } from "../../trial/operations.ts";
import type { Trial } from "../../trial/trial.ts";
import { issuesIn } from "../cases.ts";

const TAKEN = [
  "application/json",
  "Application/JSON",
  "application/json; charset=utf-8",
  "application/json;charset=UTF-8",
  'application/json; charset="utf-8"',
];
const REFUSED = [
  "text/plain",
  "text/json",
  "application/jsonx",
  "application/problem+json",
  "application/x-www-form-urlencoded",
  "application/octet-stream",
  "multipart/form-data; boundary=x",
  "application/xml",
  "*/*",
  "json",
  "",
  "application/json, text/plain",
  "application/json; charset=latin1",
  "application/json; charset=utf-16",
  "application/json; charset=us-ascii",
];

/** Checks of media types, content encodings and the order of the server's checks. */
export const MEDIA_CHECKS: readonly Check[] = [
  defineCheck({
    id: "media.json",
    clause: "POST requests have `Content-Type: application/json`.",
    source: "interface: paths",
    expected: "200 with this type",
    run: async (trial: Trial) => {
      await trial.infer(SYSTEMONE, SMALL, { headers: { "content-type": "application/json" } });
    },
  }),
  defineCheck({
    id: "media.json-spellings",
    clause: "`application/json` is accepted in any letter case and with a charset of UTF-8.",
    source: "contract: Requests",
    expected: "200 for each notation",
    run: (trial: Trial) =>
      trial.each(
        TAKEN.map((type) => ({ name: type, type })),
        async ({ type }) => {
          await trial.infer(SYSTEMONE, SMALL, { headers: { "content-type": type } });
        },
      ),
  }),
  defineCheck({
    id: "media.accept",
    clause: "`Accept` is ignored: answers are JSON.",
    source: "contract: Requests",
    expected: "200 with a JSON object, whatever `Accept` says",
    run: async (trial: Trial) => {
      for (const accept of ["application/xml", "image/png, text/html;q=0.5", "application/json;q=0"])
        await trial.infer(SYSTEMONE, SMALL, { headers: { accept } });
    },
  }),
  defineCheck({
    id: "media.others",
    clause: "Another media type, another charset or no media type is refused with 422.",
    source: "contract: Requests",
    expected: "422 for each, although the body is valid",
    run: (trial: Trial) =>
      trial.each(
        [undefined, ...REFUSED].map((type) => ({ name: JSON.stringify(type) ?? "no type", type })),
        async ({ type }) => {
          await trial.refused(SYSTEMONE, JSON.stringify(SMALL), { headers: { "content-type": type } });
        },
      ),
  }),
  defineCheck({
    id: "media.encoding",
    clause: "A body with a content encoding other than identity is refused with 422.",
    source: "contract: Requests",
    expected: "422 for gzip, deflate, br and zstd, also if the body has that encoding; 200 for identity",
    run: async (trial: Trial) => {
      const text = JSON.stringify(SMALL);
      const cases = ["gzip", "x-gzip", "deflate", "br", "zstd", "GZIP", "identity, gzip"].map((encoding) => ({
        name: encoding,
        encoding,
      }));
      await trial.each(cases, async ({ encoding }) => {
        await trial.refused(SYSTEMONE, text, { headers: { "content-encoding": encoding } });
      });
      const gzipped = gzipSync(text);
      await trial.refused(SYSTEMONE, gzipped, { headers: { "content-encoding": "gzip" } });
      await trial.refused(SYSTEMONE, gzipped);
      await trial.infer(SYSTEMONE, SMALL, { headers: { "content-encoding": "identity" } });
    },
  }),
  defineCheck({
    id: "media.order-of-checks",
    clause: "Checks come in this order: path and method, key, media type, size, JSON.",
    source: "contract: Order of checks",
    expected: "404 and 405 before all others, 422 for the media type before 413, 413 before 422 for the JSON",
    isGentle: false,
    run: async (trial: Trial) => {
      const big = "{".padEnd(trial.facts.limits.maxBodyBytes + 1);
      const plain = { "content-type": "text/plain" };
      for (const { name, method = "POST", path = SYSTEMONE, body = big, headers = {}, status } of [
        { name: "an unknown path", path: "/v1/other", headers: plain, status: 404 },
        {
          name: "an unknown path with another method",
          method: "DELETE",
          path: "/nowhere",
          body: "",
          status: 404,
        },
        { name: "another method", method: "PUT", headers: plain, status: 405 },
        { name: "another media type", headers: plain, status: 422 },
        { name: "too many bytes of broken JSON", status: 413 },
        { name: "too many bytes for a ranking", path: RANK, status: 413 },
      ]) {
        const reply = await trial.call(method, path, { body, headers });
        trial.expect(reply.status === status, `${excerpt(reply)} for ${name}`, reply);
      }
    },
  }),
  defineCheck({
    id: "media.limits-first",
    clause: "The shape is checked before the limits on counts, and those before token limits.",
    source: "contract: Order of checks",
    expected: "the issue of the earlier check for a request that breaks both rules",
    run: checkEarlierIssue,
  }),
];

async function checkEarlierIssue(trial: Trial): Promise<void> {
  const long = "go ".repeat(3000);
  const question = { type: "score", instructions: "i", criteria: ["a", "a"] };
  for (const { name, body, type } of [
    {
      name: "a long text and an unknown member",
      body: { ...SMALL, state: long, extra: 1 },
      type: "unknown_field",
    },
    {
      name: "a long text and equal levels",
      body: { state: long, questions: { q: question } },
      type: "not_distinct",
    },
  ]) {
    const reply = await trial.post(SYSTEMONE, body);
    if (reply.status !== 422) trial.skip(`${reply.status} for ${name}: see the checks of requests`);
    const types = issuesIn(trial, reply).map((issue) => at(issue, "type"));
    // errors.issues and errors.type report other words
    const isEarlier =
      !types.includes("too_many_tokens") && (types.includes(type) || reply.text.length < 1000);
    trial.expect(isEarlier, `${name}: ${excerpt(reply)}`, reply);
  }
}
