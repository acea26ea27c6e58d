import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { after, before, describe, it } from "node:test";
import { type Report, runConformance } from "../src/index.ts";
import { jsonReport, junitReport, terminalReport } from "../src/reporters/index.ts";
import { type Fault, FaultyService } from "./faulty-service.ts";

/** Characters that a shell, JSON, HTML, XML and addresses each write in another way. */
const KEY = `it's\\a"k%41&y+#<1>-of-the-reports`;

/** Every form of the report as text. */
function formsOf(report: Report): ReadonlyMap<string, string> {
  return new Map([
    ["json", jsonReport(report)],
    ["junit", junitReport(report)],
    ["terminal", terminalReport(report, { isColoured: true })],
    ["results", report.results.map(({ came, curl }) => `${came}\n${curl}`).join("\n")],
  ]);
}

const inJson = (text: string) => JSON.stringify(text).slice(1, -1);
const inHtml = (text: string) => text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
const inShell = (text: string) => text.replaceAll("'", "'\\''");

/** The ways in which a form may write a text, and one in which a shell would put it together. */
function spellings(text: string): readonly string[] {
  const once = [text, encodeURIComponent(text), inJson(text), inHtml(text), inShell(text)];
  return once.flatMap((one) => [one, inJson(one), inHtml(one)]);
}

function assertHidden(report: Report): void {
  const secrets = [KEY, KEY.slice(0, -1), KEY.slice(1), KEY.slice(0, 8)].flatMap(spellings);
  for (const [form, text] of formsOf(report))
    for (const secret of secrets) assert.ok(!text.includes(secret), `${form} holds ${secret}`);
}

/** Answers inferences that bring anything like a key. */
function answerWhere(
  isMeant: (request: IncomingMessage) => boolean,
  write: (request: IncomingMessage) => string,
  type = "application/json",
): Fault {
  return {
    early: (request, response) => {
      if (request.method !== "POST" || !isMeant(request)) return false;
      request.resume();
      response.writeHead(200, { "content-type": type }).end(write(request));
      return true;
    },
  };
}

const hasKey = ({ url = "", headers }: IncomingMessage) =>
  url.includes("?") || ["authorization", "x-api-key", "cookie"].some((name) => headers[name] !== undefined);
const secretOf = ({ url = "", headers }: IncomingMessage) =>
  [url, headers.authorization, headers["x-api-key"], headers.cookie].join(" ");

/** An excerpt of an answer is cut after 300 characters: wherever in the key that is. */
let answers = 0;
function filled(request: IncomingMessage): string {
  answers += 1;
  return `${"x".repeat(300 - 8 - (answers % KEY.length))}${secretOf(request)}`;
}

describe("no form of a report holds the key or nearly all of it,", () => {
  let service: FaultyService;
  before(async () => {
    service = await FaultyService.start({ apiKey: KEY });
  });
  after(() => service.stop());

  async function reportOf(fault: Fault, only: readonly string[]): Promise<Report> {
    service.plant(fault);
    return await runConformance({ baseUrl: service.url, apiKey: KEY, only });
  }

  for (const { name, fault } of [
    {
      name: "as JSON",
      fault: answerWhere(hasKey, (request) => JSON.stringify({ [secretOf(request)]: secretOf(request) })),
    },
    { name: "as HTML", fault: answerWhere(hasKey, (request) => inHtml(secretOf(request)), "text/html") },
    { name: "as text", fault: answerWhere(hasKey, secretOf, "text/plain") },
    { name: "where excerpts are cut", fault: answerWhere(hasKey, filled, "text/plain") },
  ]) {
    it(`where a server repeats it ${name}`, async () => {
      const report = await reportOf(fault, ["auth", "rank.rows", "rank.labels", "systemone.answers", "wire"]);
      assert.ok(report.counts.failed > 3);
      assert.match(jsonReport(report), /DECISION_API_KEY/);
      assertHidden(report);
    });
  }

  it("where it counts in a query", async () => {
    const takesQuery = ({ url = "" }: IncomingMessage) => url.includes(`key=${encodeURIComponent(KEY)}`);
    const report = await reportOf(
      answerWhere(takesQuery, () => "{}"),
      ["auth.elsewhere"],
    );
    assert.equal(report.counts.failed, 1);
    assert.match(report.results[0]?.curl ?? "", /access_token='"\$\(node -p .*DECISION_API_KEY\)'\)"/);
    assertHidden(report);
  });

  for (const { name, near, line } of [
    { name: "its beginning", near: `Bearer ${KEY.slice(0, -1)}`, line: "DECISION_API_KEY%?" },
    { name: "its end", near: `Bearer ${KEY.slice(1)}`, line: "DECISION_API_KEY#?" },
    { name: "more than it", near: `Bearer ${KEY}x`, line: `"$DECISION_API_KEY"'x'` },
    { name: "another scheme", near: `Basic ${KEY}`, line: `Basic '"$DECISION_API_KEY"` },
  ]) {
    it(`where ${name} is accepted`, async () => {
      const isNear = ({ headers }: IncomingMessage) => headers.authorization === near;
      const report = await reportOf(
        answerWhere(isNear, () => "{}"),
        ["auth.wrong"],
      );
      assert.equal(report.counts.failed, 1);
      assert.ok(report.results[0]?.curl?.includes(line), report.results[0]?.curl);
      assertHidden(report);
    });
  }
});
