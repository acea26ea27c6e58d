import type { Faults } from "./fields.tsx";
import { Lines } from "./fields.tsx";
import { type Issue, pathText, spanOf } from "./places.ts";
import { parseText, placeOf } from "./read-form.ts";

export const EDITOR_ID = "body";

/** The request as its JSON text, with what is wrong in it and where. */
export function Editor({
  text,
  onInput,
  issues,
  problem,
}: {
  readonly text: string;
  readonly onInput: (text: string) => void;
  readonly issues: readonly Issue[];
  /** Why the form cannot show it. */
  readonly problem: string | undefined;
}) {
  const shown = issues.map((issue) => placed(text, issue));
  const messages = [...(problem === undefined ? [] : [problem]), ...shown.map(({ message }) => message)];
  const faults: Faults = messages.length === 0 ? new Map() : new Map([[EDITOR_ID, []]]);
  return (
    <div>
      <Lines id={EDITOR_ID} label="Body" isCode rows={16} value={text} onInput={onInput} faults={faults} />
      {messages.length > 0 && (
        <ul class="fault" id={`${EDITOR_ID}-fault`}>
          {problem !== undefined && <li>{problem}</li>}
          {shown.map(({ message, offset, length }) => (
            <li key={message}>
              <button type="button" class="link" onClick={() => selectIn(offset, length)}>
                Line {placeOf(text, offset).line}
              </button>
              {": "}
              {message}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function placed(text: string, { loc, msg }: Issue) {
  const { tree, breaks } = parseText(text);
  if (tree !== undefined) return { message: `${pathText(loc)}: ${msg}`, ...spanOf(tree, loc) };
  const before = text.split("\n").slice(0, (breaks?.line ?? 1) - 1);
  const offset = before.reduce((sum, line) => sum + line.length + 1, 0) + (breaks?.column ?? 1) - 1;
  return { message: msg, offset, length: 1 };
}

function selectIn(offset: number, length: number): void {
  const editor = document.getElementById(EDITOR_ID);
  if (!(editor instanceof HTMLTextAreaElement)) return;
  editor.focus();
  editor.setSelectionRange(offset, offset + length);
}
