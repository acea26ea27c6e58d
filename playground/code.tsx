import { useState } from "preact/hooks";
import { Segments } from "./fields.tsx";
import { LANGUAGES, type Language, type Snippet, snippetOf } from "./snippets.ts";

const OPTIONS = Object.fromEntries(LANGUAGES.map((each) => [each, each])) as Readonly<
  Record<Language, string>
>;

/** The same request as a program, to copy. */
export function Code({ snippet, say }: { readonly snippet: Snippet; readonly say: (text: string) => void }) {
  const [language, setLanguage] = useState<Language>("curl");
  const text = snippetOf(language, snippet);
  return (
    <section class="same" aria-labelledby="code-title">
      <div class="row wrap">
        <h2 id="code-title">The same request</h2>
        <Segments
          legend="Language"
          name="language"
          value={language}
          options={OPTIONS}
          onChange={setLanguage}
        />
        <button type="button" class="push" onClick={() => copy(text, `The ${language} code is copied.`, say)}>
          Copy
        </button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard */}
      <pre class="code" id="snippet" tabIndex={0}>
        {text}
      </pre>
    </section>
  );
}

/** Copies a text; says so, or that the browser does not let the page. */
export function copy(text: string, done: string, say: (text: string) => void): void {
  const denied = "The browser does not allow copying; select the text instead.";
  if (navigator.clipboard === undefined) {
    say(denied); // an address that is neither https nor loopback
    return;
  }
  navigator.clipboard.writeText(text).then(
    () => say(done),
    () => say(denied),
  );
}
