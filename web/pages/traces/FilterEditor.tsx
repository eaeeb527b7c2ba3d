// The editor of one filter: a list of choices, or a small form for numbers, texts and times. Loaded on first use.
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useCallback, useEffect, useId, useRef, useState } from "react";
import { attributeKeys, spanNames } from "../../completions.ts";
import { vocabularyQuery } from "../../queries/editor.ts";
import { spansOfTime, type TraceSearch, type TraceSearchName } from "../../queries/trace-search.ts";
import { traceValuesQuery } from "../../queries/traces.ts";
import { Button } from "../../ui/Button.tsx";
import { Combobox, type Completion } from "../../ui/Combobox.tsx";
import { Fault } from "../../ui/Field.tsx";
import { ChoiceList } from "./ChoiceList.tsx";
import { type Filter, type FilterInput, rangeFault, timeInputs, withFilter } from "./filters.ts";
import { TestFilter } from "./TestFilter.tsx";
import { localTime, timeOf } from "./time-input.ts";

type FilterEditorProps = {
  agentId: string;
  filter: Filter;
  search: TraceSearch;
  onChange: (search: TraceSearch) => void;
  close: () => void;
};

export function FilterEditor({ agentId, filter, search, onChange, close }: FilterEditorProps) {
  const panel = useRef<HTMLDivElement>(null);
  const focusFirst = useCallback(() => {
    const choices = panel.current?.querySelectorAll<HTMLElement>("button, input") ?? [];
    const chosen = [...choices].find(one => one.ariaPressed === "true") ?? choices[0];
    chosen?.focus({ preventScroll: true });
  }, []);
  useEffect(focusFirst, [focusFirst]);
  const set = (values: TraceSearch) => {
    onChange(withFilter(search, filter, values));
    close();
  };
  const [name] = filter.names as readonly [TraceSearchName];
  const { by, label, inputs } = filter;
  return (
    <div ref={panel} className="filter-editor">
      {by.kind !== "input" && <h2 className="menu-label">{label}</h2>}
      {by.kind === "choice" && (
        <ChoiceList choices={by.choices} chosen={search[name]} onChoose={value => set({ [name]: value })} />
      )}
      {by.kind === "test" && <TestFilter {...{ agentId, search }} onSet={set} onStep={focusFirst} />}
      {by.kind === "time" && <TimeForm agentId={agentId} search={search} onSet={set} />}
      {inputs && <InputForm {...{ agentId, search, inputs }} onSet={set} />}
    </div>
  );
}

type InputFormProps = {
  agentId: string;
  search: TraceSearch;
  inputs: readonly FilterInput[];
  onSet: (values: TraceSearch) => void;
};

/** Empty inputs do not filter. */
function InputForm({ agentId, search, inputs, onSet }: InputFormProps) {
  const [fault, setFault] = useState<string>();
  const faultId = useId();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const values = inputs.map(({ name }) => String(fields.get(name)).trim() || undefined);
    const found = rangeFault(inputs, values);
    setFault(found);
    if (found === undefined)
      return onSet(Object.fromEntries(inputs.map(({ name }, at) => [name, values[at]])));
    const last = event.currentTarget.elements.namedItem(inputs.at(-1)!.name);
    if (last instanceof HTMLElement) last.focus();
  };
  return (
    <form className="panel-form" onSubmit={submit} onInput={() => setFault(undefined)}>
      {inputs.map((input, at) => (
        <FormInput
          key={input.name}
          {...{ agentId, search, input }}
          faultId={fault !== undefined && at === inputs.length - 1 ? faultId : undefined}
        />
      ))}
      <Fault id={faultId} fault={fault} />
      <Button type="submit" look="main">
        Apply
      </Button>
    </form>
  );
}

/** Later years have more than four digits, which is not ISO 8601. */
const lastTime = "9999-12-31T00:00";

type FormInputProps = {
  agentId: string;
  search: TraceSearch;
  input: FilterInput;
  /** Describes what is wrong with this input. */
  faultId: string | undefined;
};

function FormInput({
  agentId,
  search,
  input: { label, hint, suggested, ...input },
  faultId,
}: FormInputProps) {
  const id = useId();
  const initial = search[input.name] ?? "";
  const [value, setValue] = useState(initial);
  const completions = useCompletions(agentId, search, suggested);
  const attributes = {
    ...input,
    id,
    min: input.type === "number" ? (input.min ?? 0) : undefined,
    max: input.type === "datetime-local" ? lastTime : undefined,
    maxLength: input.maxLength ?? 255,
    "aria-invalid": faultId ? true : undefined,
    "aria-describedby": [faultId, hint && `${id}-hint`].filter(Boolean).join(" ") || undefined,
  };
  return (
    <div className="stack-tight">
      <label htmlFor={id}>{label}</label>
      {suggested ? (
        <Combobox {...attributes} value={value} onValue={setValue} completions={completions} />
      ) : (
        <input {...attributes} className="input" defaultValue={initial} />
      )}
      {hint && (
        <span id={`${id}-hint`} className="quiet small">
          {hint}
        </span>
      )}
    </div>
  );
}

function useCompletions(
  agentId: string,
  { spanName }: TraceSearch,
  suggested: FilterInput["suggested"],
): readonly Completion[] {
  const isValue = ["tools", "models", "providers", "redacted"].includes(suggested ?? "");
  const values = useQuery({ ...traceValuesQuery(agentId), enabled: isValue });
  const isTerm = suggested === "spans" || suggested === "attributes";
  const { data: vocabulary } = useQuery({ ...vocabularyQuery(agentId), enabled: isTerm });
  switch (suggested) {
    case undefined:
      return [];
    case "tools":
    case "models":
    case "providers":
    case "redacted":
      return (values.data?.[suggested] ?? []).map(value => ({ value }));
    case "spans":
      return spanNames(vocabulary);
    case "attributes":
      return attributeKeys(vocabulary, spanName);
  }
}

type TimeFormProps = Omit<InputFormProps, "inputs">;

function TimeForm({ agentId, search, onSet }: TimeFormProps) {
  return (
    <>
      <ChoiceList
        choices={Object.entries(spansOfTime).map(([value, { text }]) => ({ value, label: text }))}
        chosen={search.within}
        onChoose={within => onSet({ within })}
      />
      <InputForm
        agentId={agentId}
        search={{ receivedFrom: localTime(search.receivedFrom), receivedTo: localTime(search.receivedTo) }}
        inputs={timeInputs}
        onSet={({ receivedFrom, receivedTo }) =>
          onSet({
            receivedFrom: timeOf(receivedFrom, search.receivedFrom),
            receivedTo: timeOf(receivedTo, search.receivedTo),
          })
        }
      />
    </>
  );
}
