// The editor of one filter: a list of choices, or a small form for numbers, texts and times.
import { useInfiniteQuery } from "@tanstack/react-query";
import { type FormEvent, type KeyboardEvent, useEffect, useRef } from "react";
import { testsQuery } from "../../queries/tests.ts";
import { spansOfTime, type TraceSearch, type TraceSearchName } from "../../queries/trace-search.ts";
import { Button } from "../../ui/Button.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { Loaded, MorePages } from "../../ui/State.tsx";
import { type Filter, without } from "./filters.ts";

type FilterEditorProps = {
  agentId: string;
  filter: Filter;
  search: TraceSearch;
  onChange: (search: TraceSearch) => void;
  close: () => void;
};

export function FilterEditor({ agentId, filter, search, onChange, close }: FilterEditorProps) {
  const panel = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const choices = panel.current?.querySelectorAll<HTMLElement>("button, input") ?? [];
    const chosen = [...choices].find(one => one.ariaPressed === "true") ?? choices[0];
    chosen?.focus({ preventScroll: true });
  }, []);
  const set = (values: TraceSearch) => {
    onChange({ ...without(search, filter), ...values });
    close();
  };
  const [name] = filter.names as readonly [TraceSearchName];
  const { by, label } = filter;
  return (
    <div ref={panel} className="filter-editor">
      <h2 className="menu-label">{label}</h2>
      {by.kind === "choice" && (
        <ChoiceList choices={by.choices} chosen={search[name]} onChoose={value => set({ [name]: value })} />
      )}
      {by.kind === "tests" && (
        <TestList agentId={agentId} chosen={search[name]} onChoose={value => set({ [name]: value })} />
      )}
      {by.kind === "time" && <TimeForm search={search} onSet={set} />}
      {by.kind === "range" && (
        <InputForm
          onSet={set}
          inputs={by.names.map((name, at) => ({
            name,
            label: `${at === 0 ? "At least" : "At most"} (${by.unit})`,
            type: "number",
            step: by.step,
            value: search[name],
          }))}
        />
      )}
      {by.kind === "input" && (
        <InputForm
          onSet={set}
          inputs={[{ name: by.name, label, type: by.type, step: "1", value: search[by.name] }]}
        />
      )}
    </div>
  );
}

type ChoiceListProps = {
  choices: readonly { value: string; label: string }[];
  chosen: string | undefined;
  onChoose: (value: string) => void;
};

function ChoiceList({ choices, chosen, onChoose }: ChoiceListProps) {
  const onKeyDown = (event: KeyboardEvent<HTMLUListElement>) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const buttons = [...event.currentTarget.querySelectorAll("button")];
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    buttons.at((at + step) % buttons.length)?.focus();
  };
  return (
    <ul onKeyDown={onKeyDown}>
      {choices.map(({ value, label }) => (
        <li key={value}>
          <button
            type="button"
            className="menu-item panel-item"
            aria-pressed={value === chosen}
            onClick={() => onChoose(value)}
          >
            <span className="menu-tick">{value === chosen && <Icon name="check" />}</span>
            <bdi>{label}</bdi>
          </button>
        </li>
      ))}
    </ul>
  );
}

type TestListProps = Omit<ChoiceListProps, "choices"> & { agentId: string };

function TestList({ agentId, ...list }: TestListProps) {
  const tests = useInfiniteQuery(testsQuery(agentId));
  return (
    <Loaded query={tests}>
      {items =>
        items.length === 0 ? (
          <p className="menu-label">This agent has no test cases yet</p>
        ) : (
          <>
            <ChoiceList {...list} choices={items.map(({ id, name }) => ({ value: id, label: name }))} />
            <MorePages query={tests} />
          </>
        )
      }
    </Loaded>
  );
}

type Input = {
  name: TraceSearchName;
  label: string;
  type: "text" | "number" | "datetime-local";
  step?: string;
  value: string | undefined;
};

type InputFormProps = { inputs: Input[]; onSet: (values: TraceSearch) => void };

/** Empty inputs do not filter. */
function InputForm({ inputs, onSet }: InputFormProps) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    onSet(Object.fromEntries(inputs.map(({ name }) => [name, String(fields.get(name)).trim() || undefined])));
  };
  return (
    <form className="panel-form" onSubmit={submit}>
      {inputs.map(({ name, label, type, step, value }) => (
        <label key={name} className="stack-tight">
          {label}
          <input
            className="input"
            name={name}
            type={type}
            step={step}
            min={type === "number" ? 0 : undefined}
            maxLength={255}
            defaultValue={value}
          />
        </label>
      ))}
      <Button type="submit" look="main">
        Apply
      </Button>
    </form>
  );
}

function TimeForm({ search, onSet }: { search: TraceSearch; onSet: (values: TraceSearch) => void }) {
  const instant = (local: string | undefined) => local && new Date(local).toISOString();
  return (
    <>
      <ChoiceList
        choices={Object.entries(spansOfTime).map(([value, { text }]) => ({ value, label: text }))}
        chosen={search.within}
        onChoose={within => onSet({ within })}
      />
      <InputForm
        onSet={({ receivedFrom, receivedTo }) =>
          onSet({ receivedFrom: instant(receivedFrom), receivedTo: instant(receivedTo) })
        }
        inputs={[
          { name: "receivedFrom", label: "From", type: "datetime-local", value: local(search.receivedFrom) },
          { name: "receivedTo", label: "Before", type: "datetime-local", value: local(search.receivedTo) },
        ]}
      />
    </>
  );
}

/** ISO 8601 as the value of an input of type datetime-local. */
function local(at: string | undefined): string | undefined {
  if (at === undefined || Number.isNaN(Date.parse(at))) return undefined;
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
