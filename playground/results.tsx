import type { Form } from "./request.ts";
import type { Decisions, Ranking } from "./service.ts";

type Answer = Decisions["answers"][string];

/** Milliseconds, tokens, and the answers in the order of the request. */
export function Results({
  reply,
  form,
  roundTripMs,
  text,
}: {
  readonly reply: Decisions | Ranking;
  /** Undefined where the request is shown as JSON and no form fits it. */
  readonly form: Form | undefined;
  readonly roundTripMs: number;
  readonly text: string;
}) {
  const { usage, latency_ms: latencyMs } = reply;
  return (
    <>
      <dl class="facts">
        <Fact name="in the service" value={`${milliseconds(latencyMs)} ms`} />
        <Fact name="round trip" value={`${milliseconds(roundTripMs)} ms`} />
        <Fact name="tokens" value={String(usage.input_tokens)} />
        {usage.cached_pairs > 0 && <Fact name="cached pairs" value={String(usage.cached_pairs)} />}
      </dl>
      {"ranked" in reply ? <RankedList reply={reply} /> : <Answers reply={reply} form={form} />}
      <details>
        <summary>The reply as JSON</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard */}
        <pre class="code" tabIndex={0}>
          {JSON.stringify(JSON.parse(text), null, 2)}
        </pre>
      </details>
    </>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function Answers({ reply, form }: { readonly reply: Decisions; readonly form: Form | undefined }) {
  const names = Object.keys(reply.answers); // shown in the order asked, where the form knows it
  const asked = form?.questions.map(({ name }) => name).filter((name) => names.includes(name)) ?? names;
  return asked.map((name) => {
    const answer = reply.answers[name];
    const question = form?.questions.find((each) => each.name === name);
    const levels = question?.levels.map((level) => level.text) ?? [];
    return answer && <AnswerCard key={name} name={name} answer={answer} levels={levels} />;
  });
}

function AnswerCard({
  name,
  answer,
  levels,
}: {
  readonly name: string;
  readonly answer: Answer;
  readonly levels: readonly string[];
}) {
  return (
    <article class="answer">
      <h3>{name || "(no name)"}</h3>
      <p class="verdict">
        {verdict(answer, levels)} <span class="quiet">{aside(answer)}</span>
      </p>
      <Bars rows={rowsOf(answer, levels)} />
    </article>
  );
}

function verdict(answer: Answer, levels: readonly string[]): string {
  if (answer.type === "choice") return answer.choice;
  if (answer.type === "noul") return answer.noul >= 0.5 ? "yes" : "no";
  return levels[Math.round(answer.score)] || `level ${answer.score.toFixed(1)}`;
}

function aside(answer: Answer): string {
  if (answer.type === "score") {
    const last = Object.keys(answer.probabilities).length - 1;
    return `${answer.score.toFixed(2)} on a scale from 0 to ${last}`;
  }
  return percent(answer.confidence);
}

interface BarRow {
  readonly label: string;
  readonly probability: number;
}

/** Levels and yes/no keep their order; labels are sorted, likeliest first. */
function rowsOf(answer: Answer, levels: readonly string[]): readonly BarRow[] {
  const entries = Object.entries(answer.probabilities);
  if (answer.type === "noul")
    return [
      { label: "yes", probability: answer.noul },
      { label: "no", probability: 1 - answer.noul },
    ];
  const rows = entries.map(([label, probability]) => ({
    label: answer.type === "score" ? `${label}  ${levels[Number(label)] ?? ""}`.trim() : label,
    probability,
  }));
  return answer.type === "choice" ? rows.toSorted((a, b) => b.probability - a.probability) : rows;
}

function Bars({ rows }: { readonly rows: readonly BarRow[] }) {
  const best = Math.max(...rows.map(({ probability }) => probability));
  return (
    <ul class="bars">
      {rows.map(({ label, probability }) => (
        <li key={label} class={probability === best ? "best" : ""}>
          <span class="bar-label">{label || "(no label)"}</span>
          <Bar probability={probability} />
          <span class="bar-value">{percent(probability)}</span>
        </li>
      ))}
    </ul>
  );
}

function Bar({ probability }: { readonly probability: number }) {
  return (
    <span class="bar" aria-hidden="true">
      <span style={{ width: `${100 * probability}%` }} />
    </span>
  );
}

function RankedList({ reply }: { readonly reply: Ranking }) {
  return (
    <ol class="ranked">
      {reply.ranked.map(({ rank, candidate, text, probability }) => (
        <li key={candidate} class={rank === 1 ? "best" : ""}>
          <p>
            {candidate !== "" && !/^\d+$/.test(candidate) && <strong>{candidate} </strong>}
            {text}
          </p>
          <Bar probability={probability} />
          <span class="bar-value">{percent(probability)}</span>
        </li>
      ))}
    </ol>
  );
}

/** What a screen reader is told when an answer has come. */
export function spoken(reply: Decisions | Ranking): string {
  const took = `Answered in ${milliseconds(reply.latency_ms)} milliseconds.`;
  if ("ranked" in reply) return `${took} Best: ${reply.ranked[0]?.text ?? ""}`;
  const said = Object.entries(reply.answers).map(
    ([name, answer]) => `${name}: ${verdict(answer, [])}, ${aside(answer)}`,
  );
  return `${took} ${said.join(". ")}.`;
}

/** Neither certainty nor impossibility is claimed by rounding. */
function percent(probability: number): string {
  if (probability > 0.999 && probability < 1) return "> 99.9 %";
  if (probability > 0 && probability < 0.001) return "< 0.1 %";
  return `${(100 * probability).toFixed(1)} %`;
}

const milliseconds = (ms: number): string => (ms < 10 ? ms.toFixed(1) : ms.toFixed(0));
