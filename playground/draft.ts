import type { Faults } from "./fields.tsx";
import type { Linked } from "./link.ts";
import { fieldOf, type Issue } from "./places.ts";
import { toForm } from "./read-form.ts";
import { EMPTY_FORM, type Form, type Operation, row, toBody } from "./request.ts";

/** The request under edit: as fields, or as the text of its body. */
export type Draft =
  | { readonly view: "form"; readonly form: Form }
  | {
      readonly view: "json";
      readonly operation: Operation;
      readonly text: string;
      readonly problem?: string;
    };

const operationOf = (draft: Draft): Operation =>
  draft.view === "form" ? draft.form.operation : draft.operation;
export const requestOf = (draft: Draft): Linked => ({
  operation: operationOf(draft),
  body: draft.view === "form" ? toBody(draft.form) : draft.text,
});

/** As a form where one fits it. */
export function draftOf({ operation, body }: Linked): Draft {
  const form = toForm(body, operation);
  return typeof form === "string" ? { view: "json", operation, text: body } : { view: "form", form };
}

/** Nothing asked yet. */
export function emptyDraft(operation: Operation): Draft {
  return { view: "form", form: { ...EMPTY_FORM, operation, candidates: [row(), row()] } };
}

/** The other operation about the same state. */
export function withOperation(draft: Draft, operation: Operation): Draft {
  if (draft.view === "form") {
    const { form } = draft;
    const candidates = form.candidates.length === 0 ? [row(), row()] : form.candidates;
    return { view: "form", form: { ...form, operation, candidates } };
  }
  return { ...draft, operation };
}

/** In the other view; as JSON with the reason where no form fits it. */
export function withView(draft: Draft, view: Draft["view"]): Draft {
  if (view === draft.view) return draft;
  if (draft.view === "form")
    return { view: "json", operation: draft.form.operation, text: toBody(draft.form) };
  const form = toForm(draft.text, draft.operation);
  return typeof form === "string" ? { ...draft, problem: form } : { view: "form", form };
}

/** The issues by their fields. */
export function faultsOf(form: Form, issues: readonly Issue[]): Faults {
  const faults = new Map<string, string[]>();
  for (const { loc, msg } of issues) {
    const field = fieldOf(form, loc);
    if (field !== undefined) faults.set(field, [...(faults.get(field) ?? []), msg]);
  }
  return faults;
}
