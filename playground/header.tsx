import { useLayoutEffect, useState } from "preact/hooks";
import { type Faults, Line } from "./fields.tsx";
import { addressOf, type Health } from "./service.ts";

const THEMES = { auto: "Auto", light: "Light", dark: "Dark" } as const;
type Theme = keyof typeof THEMES;
const THEME_ITEM = "decision-theme";

export const KEY_ID = "key";

/** Name, model and state of the service, links, key and colours. */
export function Header({
  health,
  apiKey,
  onKey,
  isKeyOpen,
  setKeyOpen,
  faults,
}: {
  /** Undefined: not known yet; null: nobody answers. */
  readonly health: Health | null | undefined;
  readonly apiKey: string;
  readonly onKey: (key: string) => void;
  readonly isKeyOpen: boolean;
  readonly setKeyOpen: (isOpen: boolean) => void;
  readonly faults: Faults;
}) {
  return (
    <header>
      <div class="bar-top">
        <h1>Decisions</h1>
        <Status health={health} />
        <nav aria-label="Documentation">
          <a href={addressOf("docs")}>API</a>
          <a href={addressOf("redoc")}>Reference</a>
        </nav>
        <button
          type="button"
          aria-expanded={isKeyOpen}
          aria-controls="key-panel"
          onClick={() => setKeyOpen(!isKeyOpen)}
        >
          Key{apiKey === "" ? "" : " ✓"}
        </button>
        <ThemeChoice />
      </div>
      <div id="key-panel" class="key-panel" hidden={!isKeyOpen}>
        <Line
          id={KEY_ID}
          type="password"
          label="Key of this service"
          value={apiKey}
          onInput={onKey}
          faults={faults}
          hint="Only needed if the operator has set one. It stays in this tab and is forgotten with it."
        />
        {apiKey !== "" && (
          <button type="button" onClick={() => onKey("")}>
            Forget
          </button>
        )}
      </div>
    </header>
  );
}

function Status({ health }: { readonly health: Health | null | undefined }) {
  if (health === undefined) return <p class="status">…</p>;
  const state = health === null ? "unreachable" : health.status;
  const name = health?.model.replace(/^.*\//, "").replace(/@.*/, "");
  return (
    <p class="status" title={health?.model}>
      <span class={`dot ${state}`} aria-hidden="true" />
      {name !== undefined && (
        <span class="model">
          {name} {health?.precision} ·{" "}
        </span>
      )}
      {state}
    </p>
  );
}

function ThemeChoice() {
  const [theme, setTheme] = useState<Theme>(storedTheme);
  useLayoutEffect(() => {
    document.documentElement.dataset.theme = theme;
    localStorage.setItem(THEME_ITEM, theme);
  }, [theme]);
  return (
    <select
      aria-label="Colours"
      value={theme}
      onChange={({ currentTarget }) => setTheme(currentTarget.value as Theme)}
    >
      {Object.entries(THEMES).map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  );
}

function storedTheme(): Theme {
  const stored = localStorage.getItem(THEME_ITEM);
  return stored === "light" || stored === "dark" ? stored : "auto";
}
