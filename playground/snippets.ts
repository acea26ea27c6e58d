import type { Node } from "jsonc-parser";
import { parseText } from "./read-form.ts";
import type { Operation } from "./request.ts";

export type Language = "curl" | "Python" | "TypeScript";
export const LANGUAGES: readonly Language[] = ["curl", "Python", "TypeScript"];

export interface Snippet {
  /** The whole address of the operation. */
  readonly url: string;
  readonly operation: Operation;
  /** The body as it is sent. */
  readonly body: string;
  /** Whether the service wants a key. It is read from the environment: no program should contain it. */
  readonly needsKey: boolean;
}

/** A program that sends the request and prints the answer; it needs nothing but the language itself. */
export function snippetOf(language: Language, snippet: Snippet): string {
  return { curl, Python: python, TypeScript: typescript }[language](snippet);
}

function curl({ url, body, needsKey }: Snippet): string {
  const key = needsKey ? ` \\\n  -H "authorization: Bearer $DECISION_API_KEY"` : "";
  const data = `'${body.replaceAll("'", `'\\''`)}'`;
  return `curl -s ${url} \\\n  -H 'content-type: application/json'${key} \\\n  --data-raw ${data}\n`;
}

function python({ url, body, needsKey }: Snippet): string {
  const { tree } = parseText(body);
  const value = tree === undefined ? undefined : pythonOf(tree, body, "");
  const data =
    value === undefined ? `body = ${JSON.stringify(body)}.encode()` : `body = json.dumps(${value}).encode()`;
  const key = needsKey ? `, "authorization": "Bearer " + os.environ["DECISION_API_KEY"]` : "";
  return [
    `import json${needsKey ? ", os" : ""}, urllib.request`,
    "",
    data,
    `headers = {"content-type": "application/json"${key}}`,
    `request = urllib.request.Request(${JSON.stringify(url)}, body, headers)`,
    "with urllib.request.urlopen(request, timeout=60) as response:",
    "    print(json.dumps(json.load(response), indent=2, ensure_ascii=False))",
    "",
  ].join("\n");
}

function typescript({ url, body, needsKey }: Snippet): string {
  const { tree } = parseText(body);
  const key = needsKey ? `, authorization: \`Bearer \${process.env.DECISION_API_KEY}\`` : "";
  const isLiteral = tree !== undefined && survivesJavaScript(tree, body);
  return [
    ...(isLiteral || tree === undefined
      ? []
      : ["// as a text: an object would change the order of its members, or digits"]),
    `const body = ${isLiteral ? `JSON.stringify(${body.trim()})` : JSON.stringify(body)};`,
    "",
    `const response = await fetch(${JSON.stringify(url)}, {`,
    '  method: "POST",',
    `  headers: { "content-type": "application/json"${key} },`,
    "  body,",
    "});",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is code
    "if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);",
    "console.log(JSON.stringify(await response.json(), null, 2));",
    "",
  ].join("\n");
}

/** A value as Python writes it. Strings of JSON and of Python are alike once they are decoded and written again. */
function pythonOf(node: Node, text: string, indent: string): string {
  const inner = `${indent}    `;
  const list = (open: string, close: string, items: readonly string[]) =>
    items.length === 0
      ? open + close
      : `${open}\n${items.map((item) => inner + item).join(",\n")},\n${indent}${close}`;
  const children = node.children ?? [];
  switch (node.type) {
    case "object":
      return list(
        "{",
        "}",
        children.map(({ children: [key, value] = [] }) =>
          key === undefined || value === undefined
            ? ""
            : `${JSON.stringify(key.value)}: ${pythonOf(value, text, inner)}`,
        ),
      );
    case "array":
      return list(
        "[",
        "]",
        children.map((child) => pythonOf(child, text, inner)),
      );
    case "boolean":
      return node.value === true ? "True" : "False";
    case "null":
      return "None";
    case "string":
      return JSON.stringify(node.value);
    default:
      return text.slice(node.offset, node.offset + node.length);
  }
}

const LIKE_AN_INDEX = /^(0|[1-9]\d*)$/;

/**
 * Whether an object literal keeps the value: JavaScript moves names like "10" to the front, and rounds long numbers.
 */
function survivesJavaScript(node: Node, text: string): boolean {
  if (node.type === "property") {
    const name = String(node.children?.[0]?.value);
    if (LIKE_AN_INDEX.test(name) || name === "__proto__") return false;
  }
  if (node.type === "number") {
    const digits = text.slice(node.offset, node.offset + node.length);
    if (JSON.stringify(Number(digits)) !== digits) return false;
  }
  return (node.children ?? []).every((child) => survivesJavaScript(child, text));
}
