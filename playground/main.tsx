import { render } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { Code, copy } from "./code.tsx";
import { type Draft, draftOf, emptyDraft, faultsOf, requestOf, withOperation, withView } from "./draft.ts";
import { EDITOR_ID, Editor } from "./editor.tsx";
import { EXAMPLES, type Example } from "./examples.ts";
import { FailureCard } from "./failure.tsx";
import { type Faults, Segments } from "./fields.tsx";
import { RequestForm } from "./form.tsx";
import { Header, KEY_ID } from "./header.tsx";
import { fromFragment, toFragment } from "./link.ts";
import { fieldOf, type Issue } from "./places.ts";
import { toForm } from "./read-form.ts";
import { Results, spoken } from "./results.tsx";
import { addressOf, type Health, type Outcome, readHealth, send } from "./service.ts";

/** An outcome with the draft that it belongs to. */
interface Asked {
  readonly draft: Draft;
  readonly outcome: Outcome;
}

const KEY_ITEM = "decision-key";
const HEALTH_MS = 1000;
const NO_FAULTS: Faults = new Map();
const OPERATIONS = { systemone: "Answer questions", rank: "Rank texts" } as const;
const VIEWS = { form: "Form", json: "JSON" } as const;

function Page() {
  const [draft, setDraft] = useState<Draft>(() => draftOf(EXAMPLES[0] ?? requestOf(emptyDraft("systemone"))));
  const [asked, setAsked] = useState<Asked>();
  const [isAsking, setAsking] = useState(false);
  const [apiKey, setApiKey] = useState(() => sessionStorage.getItem(KEY_ITEM) ?? "");
  const [isKeyOpen, setKeyOpen] = useState(false);
  const [said, say] = useState("");
  const [health, refreshHealth] = useHealth();
  const running = useRef<AbortController>(undefined);

  const ask = async (asking: Draft) => {
    running.current?.abort();
    const controller = new AbortController();
    running.current = controller;
    setAsking(true);
    say("");
    try {
      const outcome = await send(requestOf(asking), apiKey, controller.signal);
      setAsked({ draft: asking, outcome });
      report(asking, outcome);
    } catch {
      return; // another request has taken its place
    }
    setAsking(false);
  };

  const report = (asking: Draft, outcome: Outcome) => {
    if (outcome.kind === "answered") {
      say(spoken(outcome.reply));
      revealAnswer();
      return;
    }
    if (outcome.kind === "invalid") {
      focusFirst(asking, outcome.issues);
      return;
    }
    refreshHealth();
    if (keyFaultOf(outcome.failure.code) !== undefined) {
      setKeyOpen(true);
      focusSoon(KEY_ID);
    } else revealAnswer();
  };

  useEffect(() => {
    const open = () =>
      void fromFragment(location.hash).then((linked) => {
        if (linked === undefined) return;
        setDraft(draftOf(linked));
        setAsked(undefined);
      });
    open();
    addEventListener("hashchange", open);
    return () => removeEventListener("hashchange", open);
  }, []);

  const askNow = useRef(() => {});
  askNow.current = () => void ask(draft);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      askNow.current();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);

  const choose = (example: Example) => {
    const chosen = draftOf(example);
    setDraft(chosen);
    void ask(chosen);
  };
  const keepKey = (key: string) => {
    setApiKey(key);
    if (key === "") sessionStorage.removeItem(KEY_ITEM);
    else sessionStorage.setItem(KEY_ITEM, key);
  };
  const link = async () => {
    history.replaceState(null, "", await toFragment(requestOf(draft)));
    copy(location.href, "The link is copied. It holds the request, and no key.", say);
  };

  const outcome = asked?.outcome;
  const issues = outcome?.kind === "invalid" ? outcome.issues : [];
  const faults = draft.view === "form" ? faultsOf(draft.form, issues) : NO_FAULTS;
  const keyFault = outcome?.kind === "failed" ? keyFaultOf(outcome.failure.code) : undefined;
  const keyFaults: Faults = keyFault === undefined ? NO_FAULTS : new Map([[KEY_ID, [keyFault]]]);
  const { operation, body } = requestOf(draft);
  return (
    <>
      <Header {...{ health, apiKey, isKeyOpen, setKeyOpen }} onKey={keepKey} faults={keyFaults} />
      <main>
        <section class="request" aria-label="Request">
          <fieldset class="plain examples">
            <legend class="visually-hidden">Examples</legend>
            <span class="quiet">Try</span>
            {EXAMPLES.map((example) => (
              <button key={example.name} type="button" class="chip" onClick={() => choose(example)}>
                {example.name}
              </button>
            ))}
          </fieldset>
          <div class="row wrap">
            <Segments
              legend="Operation"
              name="operation"
              value={operation}
              options={OPERATIONS}
              onChange={(wanted) => {
                setDraft(withOperation(draft, wanted));
                setAsked(undefined);
              }}
            />
            <div class="push">
              <Segments
                legend="View"
                name="view"
                value={draft.view}
                options={VIEWS}
                onChange={(view) => setDraft(withView(draft, view))}
              />
            </div>
          </div>
          {draft.view === "form" ? (
            <RequestForm
              form={draft.form}
              onChange={(form) => setDraft({ view: "form", form })}
              faults={faults}
            />
          ) : (
            <Editor
              text={draft.text}
              onInput={(text) => setDraft({ view: "json", operation, text })}
              issues={issues}
              problem={draft.problem}
            />
          )}
          <div class="actions row">
            <button type="button" class="primary" aria-busy={isAsking} onClick={() => void ask(draft)}>
              {isAsking ? "Asking…" : "Ask"}
            </button>
            <kbd>Ctrl + Enter</kbd>
            <button type="button" class="push" onClick={() => void link()}>
              Copy link
            </button>
          </div>
        </section>
        <section id="answer" class="reply" aria-labelledby="answer-title">
          <h2 id="answer-title">Answer</h2>
          <Reply asked={asked} onRetry={() => void ask(draft)} />
          <Code
            snippet={{ url: addressOf(`v1/${operation}`), operation, body, needsKey: apiKey !== "" }}
            say={say}
          />
          <p class={said.startsWith("Answered") ? "visually-hidden" : "said"} role="status">
            {said}
          </p>
        </section>
      </main>
    </>
  );
}

function Reply({ asked, onRetry }: { readonly asked: Asked | undefined; readonly onRetry: () => void }) {
  if (asked === undefined) return <p class="quiet empty">Ask, and the answer appears here.</p>;
  const { outcome, draft } = asked;
  if (outcome.kind === "failed") return <FailureCard failure={outcome.failure} onRetry={onRetry} />;
  if (outcome.kind === "answered") {
    const form = draft.view === "form" ? draft.form : toForm(draft.text, draft.operation);
    return <Results {...outcome} form={typeof form === "string" ? undefined : form} />;
  }
  const unplaced =
    draft.view === "form" ? outcome.issues.filter(({ loc }) => fieldOf(draft.form, loc) === undefined) : [];
  return (
    <div class="failure" role="alert">
      <p>
        <strong>
          {outcome.issues.length === 1 ? "One thing is wrong" : `${outcome.issues.length} things are wrong`}{" "}
          with the request.
        </strong>{" "}
        {outcome.issues.length === 1 ? "It is shown at its field." : "Each is shown at its field."}
      </p>
      {unplaced.map(({ msg }) => (
        <p key={msg}>{msg}</p>
      ))}
      <p class="quiet">
        <code>INVALID_REQUEST</code> · status 422 · request <code>{outcome.requestId}</code>
      </p>
    </div>
  );
}

/** The service's report, asked for again while the service is not ready. */
function useHealth(): [Health | null | undefined, () => void] {
  const [health, setHealth] = useState<Health | null>();
  const refresh = useCallback(() => void readHealth().then(setHealth, () => setHealth(null)), []);
  useEffect(refresh, [refresh]);
  useEffect(() => {
    if (health === undefined || health?.status === "ready") return;
    const timer = setTimeout(refresh, HEALTH_MS);
    return () => clearTimeout(timer);
  }, [health, refresh]);
  return [health, refresh];
}

function focusFirst(draft: Draft, issues: readonly Issue[]): void {
  if (draft.view === "json") {
    focusSoon(EDITOR_ID);
    return;
  }
  const [field] = issues.flatMap(({ loc }) => fieldOf(draft.form, loc) ?? []);
  if (field !== undefined) focusSoon(field);
  else revealAnswer();
}

function focusSoon(id: string): void {
  requestAnimationFrame(() => document.getElementById(id)?.focus());
}

/** On a phone the answer is below the request; beside a long request its beginning may be above the window. */
function revealAnswer(): void {
  requestAnimationFrame(() => {
    const answer = document.getElementById("answer");
    if (answer === null) return;
    const { top } = answer.getBoundingClientRect();
    if (top >= 0 && top < innerHeight / 2) return;
    const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    answer.scrollIntoView({ behavior: isCalm ? "auto" : "smooth" });
  });
}

render(<Page />, document.body);

/** What is wrong with the key, by the code of an error. */
function keyFaultOf(code: string | undefined): string | undefined {
  if (code === "KEY_MISSING") return "The service needs a key.";
  if (code === "UNAUTHORIZED") return "The service refuses this key.";
  return undefined;
}
