import { gzipSync } from "node:zlib";
import { excerpt } from "../../client/exchange.ts";
import { at } from "../../client/json.ts";
import { type Check, checksOf } from "../../trial/check.ts";
import { RANK, SMALL, SYSTEMONE } from "../../trial/operations.ts";
import type { Trial } from "../../trial/trial.ts";
import { asked, issuesIn } from "../cases.ts";
import { scoreOf } from "../scored.ts";

const TAKEN = [
  "application/json",
  "Application/JSON",
  "application/json; charset=utf-8",
  "application/json;charset=UTF-8",
  'application/json; charset="utf-8"',
];
const REFUSED = [
  ...["text/plain", "text/json", "application/jsonx", "application/problem+json", "application/xml", "*/*"],
  ...["application/x-www-form-urlencoded", "application/octet-stream", "multipart/form-data; boundary=x"],
  ...["json", "", "application/json, text/plain"],
  ...["latin1", "utf-16", "us-ascii"].map((charset) => `application/json; charset=${charset}`),
];
const ENCODINGS = ["gzip", "x-gzip", "deflate", "br", "zstd", "GZIP", "identity, gzip"];

/** Checks of media types, content encodings and the order of the server's checks. */
export const MEDIA_CHECKS: readonly Check[] = [
  ...checksOf("interface: paths", {
    "media.json": {
      clause: "POST requests have `Content-Type: application/json`.",
      expected: "200 with this type",
      run: (trial) => inferWith(trial, { "content-type": "application/json" }),
    },
  }),
  ...checksOf("contract: Requests", {
    "media.json-spellings": {
      clause: "`application/json` is accepted in any letter case and with a charset of UTF-8.",
      expected: "200 for each notation",
      run: (trial) => trial.each(TAKEN, (type) => inferWith(trial, { "content-type": type })),
    },
    "media.accept": {
      clause: "`Accept` is ignored: answers are JSON.",
      expected: "200 with a JSON object, whatever `Accept` says",
      run: async (trial) => {
        for (const accept of ["application/xml", "image/png, text/html;q=0.5", "application/json;q=0"])
          await inferWith(trial, { accept });
      },
    },
    "media.others": {
      clause: "Another media type, another charset or no media type is refused with 422.",
      expected: "422 for each, although the body is valid",
      run: (trial) =>
        trial.each([undefined, ...REFUSED], (type) =>
          trial.refused(SYSTEMONE, JSON.stringify(SMALL), { headers: { "content-type": type } }),
        ),
    },
    "media.encoding": {
      clause: "A body with a content encoding other than identity is refused with 422.",
      expected: "422 for gzip, deflate, br and zstd, also if the body has that encoding; 200 for identity",
      run: async (trial) => {
        const text = JSON.stringify(SMALL);
        await trial.each(ENCODINGS, (coding) =>
          trial.refused(SYSTEMONE, text, { headers: { "content-encoding": coding } }),
        );
        const gzipped = gzipSync(text);
        await trial.refused(SYSTEMONE, gzipped, { headers: { "content-encoding": "gzip" } });
        await trial.refused(SYSTEMONE, gzipped);
        await inferWith(trial, { "content-encoding": "identity" });
      },
    },
  }),
  ...checksOf("contract: Order of checks", {
    "media.order-of-checks": {
      clause: "Checks come in this order: path and method, key, media type, size, JSON.",
      expected:
        "404 and 405 before all others, 422 for the media type before 413, 413 before 422 for the JSON",
      isGentle: false,
      run: async (trial) => {
        const body = "{".padEnd(trial.facts.limits.maxBodyBytes + 1);
        const plain = { "content-type": "text/plain" };
        trial.status(await trial.call("POST", "/v1/other", { body, headers: plain }), 404);
        trial.status(await trial.call("DELETE", "/nowhere", { body: "" }), 404);
        trial.status(await trial.call("PUT", SYSTEMONE, { body, headers: plain }), 405);
        trial.status(await trial.call("POST", SYSTEMONE, { body, headers: plain }), 422);
        trial.status(await trial.call("POST", SYSTEMONE, { body }), 413);
        trial.status(await trial.call("POST", RANK, { body }), 413);
      },
    },
    "media.limits-first": {
      clause: "The shape is checked before the limits on counts, and those before token limits.",
      expected: "the issue of the earlier check for a request that breaks both rules",
      run: async (trial: Trial) => {
        const state = "go ".repeat(3000);
        for (const [type, body] of Object.entries({
          unknown_field: { ...SMALL, state, extra: 1 },
          not_distinct: asked(scoreOf(["a", "a"]), state),
        })) {
          const reply = await trial.post(SYSTEMONE, body);
          if (reply.status !== 422) trial.skip(`${reply.status}, not 422: see the checks of requests`);
          const types = issuesIn(trial, reply).map((issue) => at(issue, "type"));
          // errors.issues and errors.type report other words
          const isEarlier =
            !types.includes("too_many_tokens") && (types.includes(type) || reply.text.length < 1000);
          trial.expect(isEarlier, `not ${type}: ${excerpt(reply)}`, reply);
        }
      },
    },
  }),
];

function inferWith(trial: Trial, headers: Readonly<Record<string, string | undefined>>) {
  return trial.infer(SYSTEMONE, SMALL, { headers });
}
