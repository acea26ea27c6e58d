import type { ComponentChildren } from "preact";

/** Messages of a 422, by the id of their field. */
export type Faults = ReadonlyMap<string, readonly string[]>;

interface FieldProps {
  readonly id: string;
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly faults: Faults;
  readonly placeholder?: string;
  readonly hint?: string | undefined;
  /** Shows the label to screen readers only. */
  readonly isLabelHidden?: boolean;
}

/** The attributes by which a field names its fault. */
export function faultAttributes(id: string, faults: Faults, hint?: string) {
  const isFaulty = faults.has(id);
  const described = [isFaulty && `${id}-fault`, hint !== undefined && `${id}-hint`].filter(Boolean).join(" ");
  return {
    ...(isFaulty ? { "aria-invalid": true as const } : {}),
    ...(described === "" ? {} : { "aria-describedby": described }),
  };
}

export function FaultText({ id, faults }: { readonly id: string; readonly faults: Faults }) {
  const messages = faults.get(id);
  if (messages === undefined || messages.length === 0) return null; // an empty list is shown elsewhere
  return (
    <p class="fault" id={`${id}-fault`}>
      {messages.join(" ")}
    </p>
  );
}

function Labelled({
  id,
  label,
  hint,
  isLabelHidden,
  faults,
  children,
}: FieldProps & { readonly children: ComponentChildren }) {
  return (
    <div class="field">
      <label for={id} class={isLabelHidden ? "visually-hidden" : ""}>
        {label}
      </label>
      {children}
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      <FaultText id={id} faults={faults} />
    </div>
  );
}

export function Line(props: FieldProps & { readonly type?: "text" | "password" }) {
  const { id, value, onInput, faults, hint, placeholder, type = "text" } = props;
  return (
    <Labelled {...props}>
      <input
        id={id}
        {...(type === "text" ? { type } : { type })} // the types of Preact tell the two apart
        value={value}
        placeholder={placeholder}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => onInput(event.currentTarget.value)}
        {...faultAttributes(id, faults, hint)}
      />
    </Labelled>
  );
}

/** A text of several lines. @param rows how many are there while it is short; it grows with its text */
export function Lines(props: FieldProps & { readonly rows: number; readonly isCode?: boolean }) {
  const { id, value, onInput, faults, hint, placeholder, rows, isCode = false } = props;
  const lines = value.split("\n").reduce((sum, line) => sum + 1 + Math.floor(line.length / 80), 0);
  return (
    <Labelled {...props}>
      <textarea
        id={id}
        class={isCode ? "code" : ""}
        rows={Math.min(Math.max(rows, lines), 28)}
        value={value}
        placeholder={placeholder}
        spellcheck={!isCode}
        onInput={(event) => onInput(event.currentTarget.value)}
        {...faultAttributes(id, faults, hint)}
      />
    </Labelled>
  );
}

/** One of a few, as a row of radio buttons. */
export function Segments<Value extends string>({
  legend,
  name,
  value,
  options,
  onChange,
}: {
  readonly legend: string;
  readonly name: string;
  readonly value: Value;
  readonly options: Readonly<Record<Value, string>>;
  readonly onChange: (value: Value) => void;
}) {
  return (
    <fieldset class="segments">
      <legend class="visually-hidden">{legend}</legend>
      {(Object.entries(options) as [Value, string][]).map(([option, text]) => (
        <label key={option}>
          <input type="radio" name={name} checked={option === value} onChange={() => onChange(option)} />
          <span>{text}</span>
        </label>
      ))}
    </fieldset>
  );
}
