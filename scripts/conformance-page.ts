import { DIALECT_SUBJECTS, SUBJECTS, type Subject } from "../packages/conformance/src/clauses.ts";
import { UNOBSERVED } from "../packages/conformance/src/run/unobserved.ts";

/** `docs/conformance.md`, the list of clauses, from the table of checks. */
export function conformancePage(): string {
  const checks = SUBJECTS.flatMap((subject) => subject.checks);
  const seed = checks.filter(({ profile }) => profile === "seed").length;
  return `<!-- Generated from packages/conformance by \`npm run generate\`. Do not edit. -->

# The clauses of the contract, and their checks

\`decision conformance <base-url>\` checks whether a server keeps these ${checks.length} clauses. [Check a server against the
contract](conformance-in-ci.md) says how to run it.

| profile | clauses | source |
| --- | --- | --- |
| \`seed\` | ${seed} that every implementation must keep | \`interface\` |
| \`full\` | the same, and ${checks.length - seed} that only this contract requires | \`interface\`, \`contract\` |

A source names a place in [openapi.yaml](../openapi/openapi.yaml): a heading of its description, a schema, an operation or a path.
\`--gentle\` skips clauses marked \`*\`, because their checks send floods, large bodies or much work for the model.

${SUBJECTS.map(section).join("\n\n")}

## Dialects

Each dialect has its own profile and is checked below its base URL:

| dialect | command |
| --- | --- |
| TypeSafe | \`decision conformance http://127.0.0.1:8700/typesafe --profile typesafe\` |
| rerank (Cohere, Jina, TEI) | \`decision conformance http://127.0.0.1:8700 --profile rerank\` |
| MCP over HTTP, at \`/mcp\` | \`decision conformance http://127.0.0.1:8700 --profile mcp\` |

\`mcp\` compares the numbers of \`/mcp\` with those of the plain contract on the same server. Its sources are parts of MCP's specification.

${DIALECT_SUBJECTS.map(section).join("\n\n")}

## What is not checked

| rule | source | why |
| --- | --- | --- |
${UNOBSERVED.map(({ rule, source, why }) => row(rule, source, why)).join("\n")}
`;
}

function section({ title, checks }: Subject): string {
  const rows = checks.map(({ id, clause, expected, source, profile, isGentle }) =>
    row(`\`${id}\`${isGentle ? "" : " \\*"}`, clause, expected, source, profile),
  );
  return [
    `## ${title}`,
    "",
    "| id | clause | expected | source | profile |",
    "| --- | --- | --- | --- | --- |",
    ...rows,
  ].join("\n");
}

function row(...cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|").replaceAll("\n", " ")).join(" | ")} |`;
}
