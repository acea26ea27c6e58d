import { type Faults, FaultText, faultAttributes, Line, Lines, Segments } from "./fields.tsx";
import { fieldIds } from "./places.ts";
import {
  type Form,
  freeName,
  isStructured,
  newQuestion,
  type Question,
  type QuestionType,
  type Row,
  row,
} from "./request.ts";

interface FormProps {
  readonly form: Form;
  readonly onChange: (form: Form) => void;
  readonly faults: Faults;
}

const TYPES: Readonly<Record<QuestionType, string>> = { choice: "Choice", noul: "Yes / no", score: "Score" };

/** Moves the focus once the page shows the change that led here. */
function focusSoon(id: string): void {
  requestAnimationFrame(() => document.getElementById(id)?.focus());
}

/** The request as fields. */
export function RequestForm({ form, onChange, faults }: FormProps) {
  const change = (part: Partial<Form>) => onChange({ ...form, ...part });
  return (
    <>
      <Lines
        id={fieldIds.state}
        label="State"
        rows={5}
        value={form.state}
        onInput={(state) => change({ state })}
        faults={faults}
        placeholder="The text to ask about, or a JSON object"
        hint={isStructured(form.state) ? "Sent as JSON: the model reads its fields." : undefined}
      />
      {form.operation === "systemone" ? (
        <Questions form={form} onChange={onChange} faults={faults} />
      ) : (
        <Candidates form={form} onChange={onChange} faults={faults} />
      )}
      {form.model !== undefined && (
        <Line
          id={fieldIds.model}
          label="Model"
          value={form.model}
          onInput={(model) => change({ model })}
          faults={faults}
        />
      )}
    </>
  );
}

function Questions({ form, onChange, faults }: FormProps) {
  const { questions } = form;
  const set = (changed: readonly Question[]) => onChange({ ...form, questions: changed });
  const add = (type: QuestionType) => {
    const question = newQuestion(type, freeName(questions));
    set([...questions, question]);
    focusSoon(fieldIds.part(question, "instructions"));
  };
  const remove = (question: Question) => {
    set(questions.filter((each) => each !== question));
    focusSoon("add-choice");
  };
  return (
    <section aria-labelledby="questions-title">
      <h2 id="questions-title">Questions</h2>
      {questions.map((question, index) => (
        <QuestionCard
          key={question.id}
          question={question}
          number={index + 1}
          faults={faults}
          onChange={(changed) => set(questions.with(index, changed))}
          onRemove={() => remove(question)}
        />
      ))}
      <fieldset
        class="plain row wrap"
        id={fieldIds.questions}
        tabIndex={-1}
        {...describedBy(fieldIds.questions, faults)}
      >
        <legend class="visually-hidden">Add a question</legend>
        {(Object.keys(TYPES) as QuestionType[]).map((type) => (
          <button key={type} id={`add-${type}`} type="button" class="add" onClick={() => add(type)}>
            Add {TYPES[type].toLowerCase()}
          </button>
        ))}
      </fieldset>
      <FaultText id={fieldIds.questions} faults={faults} />
    </section>
  );
}

/** A group is no field: it can be described, but not be invalid. */
function describedBy(id: string, faults: Faults) {
  const { "aria-describedby": described } = faultAttributes(id, faults);
  return described === undefined ? {} : { "aria-describedby": described };
}

function QuestionCard({
  question,
  number,
  faults,
  onChange,
  onRemove,
}: {
  readonly question: Question;
  readonly number: number;
  readonly faults: Faults;
  readonly onChange: (question: Question) => void;
  readonly onRemove: () => void;
}) {
  const change = (part: Partial<Question>) => onChange({ ...question, ...part });
  const id = (part: Parameters<typeof fieldIds.part>[1]) => fieldIds.part(question, part);
  return (
    <fieldset class="card">
      <legend class="visually-hidden">Question {number}</legend>
      <div class="row">
        <Line
          id={id("name")}
          label="Name"
          value={question.name}
          faults={faults}
          onInput={(name) => change({ name })}
        />
        <div id={id("type")} class="push" tabIndex={-1}>
          <Segments
            legend={`Type of question ${number}`}
            name={id("type")}
            value={question.type}
            options={TYPES}
            onChange={(type) => change({ type })}
          />
        </div>
        <button type="button" class="icon" aria-label={`Remove question ${number}`} onClick={onRemove}>
          ×
        </button>
      </div>
      <FaultText id={id("type")} faults={faults} />
      <Lines
        id={id("instructions")}
        label={question.type === "noul" ? "Statement" : "Question"}
        rows={1}
        value={question.instructions}
        faults={faults}
        placeholder={question.type === "noul" ? "The customer is angry." : "What does the customer want?"}
        onInput={(instructions) => change({ instructions })}
      />
      {question.type === "choice" && (
        <Rows
          title="Labels"
          groupId={id("criteria")}
          rows={question.labels}
          faults={faults}
          onChange={(labels) => change({ labels })}
          labels="Label"
          texts="Description"
          one="label"
        />
      )}
      {question.type === "score" && (
        <Rows
          title="Levels, lowest first"
          groupId={id("criteria")}
          rows={question.levels}
          faults={faults}
          onChange={(levels) => change({ levels })}
          texts="Level"
          one="level"
        />
      )}
      {question.type === "noul" && <Outcomes question={question} faults={faults} onChange={onChange} />}
    </fieldset>
  );
}

function Outcomes({
  question,
  faults,
  onChange,
}: {
  readonly question: Question;
  readonly faults: Faults;
  readonly onChange: (question: Question) => void;
}) {
  const [yesId, noId] = [fieldIds.part(question, "true"), fieldIds.part(question, "false")];
  const isOpen = question.yes !== "" || question.no !== "" || faults.has(yesId) || faults.has(noId);
  return (
    <details open={isOpen}>
      <summary>Describe yes and no</summary>
      <Line
        id={yesId}
        label="Yes means"
        value={question.yes}
        faults={faults}
        onInput={(yes) => onChange({ ...question, yes })}
      />
      <Line
        id={noId}
        label="No means"
        value={question.no}
        faults={faults}
        onInput={(no) => onChange({ ...question, no })}
      />
    </details>
  );
}

/** Labels, levels or candidates. */
function Rows({
  title,
  groupId,
  rows,
  faults,
  onChange,
  labels,
  texts,
  one,
}: {
  readonly title: string;
  readonly groupId: string;
  readonly rows: readonly Row[];
  readonly faults: Faults;
  readonly onChange: (rows: readonly Row[]) => void;
  /** Undefined: the rows have no labels. */
  readonly labels?: string;
  readonly texts: string;
  /** What a row is. */
  readonly one: string;
}) {
  const change = (index: number, part: Partial<Row>) =>
    onChange(rows.map((each, at) => (at === index ? { ...each, ...part } : each)));
  const add = () => {
    const added = row();
    onChange([...rows, added]);
    focusSoon(labels === undefined ? fieldIds.text(added) : fieldIds.label(added));
  };
  const remove = (index: number) => {
    onChange(rows.filter((_, at) => at !== index));
    focusSoon(`${groupId}-add`);
  };
  return (
    <fieldset
      id={groupId}
      class={`plain rows${labels === undefined ? "" : " labelled"}`}
      tabIndex={-1}
      {...describedBy(groupId, faults)}
    >
      <legend class="rows-title">{title}</legend>
      {rows.map((each, index) => (
        <div class="row" key={each.id}>
          {labels === undefined ? (
            <span class="number" aria-hidden="true">
              {index}
            </span>
          ) : (
            <Line
              id={fieldIds.label(each)}
              label={`${labels} ${index + 1}`}
              isLabelHidden
              placeholder={labels}
              value={each.label}
              faults={faults}
              onInput={(label) => change(index, { label })}
            />
          )}
          <Line
            id={fieldIds.text(each)}
            label={`${texts} ${labels === undefined ? index : index + 1}`}
            isLabelHidden
            placeholder={texts}
            value={each.text}
            faults={faults}
            onInput={(text) => change(index, { text })}
          />
          <button
            type="button"
            class="icon"
            aria-label={`Remove ${one} ${index + 1}`}
            onClick={() => remove(index)}
          >
            ×
          </button>
        </div>
      ))}
      <button id={`${groupId}-add`} type="button" class="add" onClick={add}>
        Add {one}
      </button>
      <FaultText id={groupId} faults={faults} />
    </fieldset>
  );
}

function Candidates({ form, onChange, faults }: FormProps) {
  return (
    <section class="card" aria-labelledby="candidates-title">
      <h2 id="candidates-title" class="visually-hidden">
        Ranking
      </h2>
      <Lines
        id={fieldIds.question}
        label="Question (optional)"
        rows={1}
        value={form.question}
        faults={faults}
        placeholder="Which reply helps most?"
        onInput={(question) => onChange({ ...form, question })}
      />
      <Rows
        title="Candidates"
        groupId={fieldIds.candidates}
        rows={form.candidates}
        faults={faults}
        onChange={(candidates) => onChange({ ...form, candidates })}
        labels="Label"
        texts="Text"
        one="candidate"
      />
    </section>
  );
}
