// What narrows the list of test cases, and its order; all of it is in the address.
import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { outcomes, passiveBehaviors, testStates } from "../../labels.ts";
import { useShortcut } from "../../shell/shortcuts.ts";
import { Button } from "../../ui/Button.tsx";
import { type Sort, sortOf, sorts, unfiltered, type Wanted } from "./rows.ts";

type TestFiltersProps = {
  wanted: Wanted;
  /** `replace`: it goes on from what was wanted last, as typing does. */
  onWant: (change: Wanted, replace?: boolean) => void;
  children: ReactNode;
};

const lasts = { ...mapTexts(outcomes), none: "Not judged yet" };

export function TestFilters({ wanted, onWant, children }: TestFiltersProps) {
  const { text, status, behavior, last } = wanted;
  const narrowed = [text, status, behavior, last].some(value => value !== undefined);
  const sort = sortOf(wanted);
  return (
    <search className="tests-filters" aria-label="Filters">
      <SearchField value={text ?? ""} onType={typed => onWant({ text: typed || undefined }, true)} />
      <Select
        label="Status"
        none="Any"
        value={status}
        choices={mapTexts(testStates)}
        onChoose={chosen => onWant({ status: chosen })}
      />
      <Select
        label="Passive behavior"
        none="Any"
        value={behavior}
        choices={mapTexts(passiveBehaviors)}
        onChoose={chosen => onWant({ behavior: chosen })}
      />
      <Select
        label="Last verdict"
        none="Any"
        value={last}
        choices={lasts}
        onChoose={chosen => onWant({ last: chosen })}
      />
      <Select
        label="Order"
        value={sort}
        choices={sorts}
        onChoose={chosen => onWant({ sort: orderOf(chosen as Sort) })}
      />
      <div className="tests-count">
        {children}
        {narrowed && (
          <Button look="link" onClick={() => onWant(unfiltered)}>
            Clear filters
          </Button>
        )}
      </div>
    </search>
  );
}

/** As the address has it: the usual order is not named. */
export function orderOf(sort: Sort): Sort | undefined {
  return sort === "newest" ? undefined : sort;
}

/** Typing is seen at once; the address follows, and leads where it changes otherwise. */
function SearchField({ value, onType }: { value: string; onType: (text: string) => void }) {
  const [typed, setTyped] = useState(value);
  const told = useRef({ last: value, underWay: new Set<string>() });
  const input = useRef<HTMLInputElement>(null);
  const id = useId();
  useEffect(() => {
    const { last, underWay } = told.current;
    if (value === last) underWay.clear();
    if (value === last || underWay.has(value)) return;
    told.current.last = value;
    setTyped(value);
  }, [value]);
  useShortcut("/", "Search the test cases", () => input.current?.focus());
  return (
    <div className="tests-filter tests-search">
      <label htmlFor={id}>Search</label>
      <input
        id={id}
        ref={input}
        className="input"
        type="search"
        placeholder="Name or scenario"
        value={typed}
        onChange={({ target }) => {
          told.current.last = target.value;
          told.current.underWay.add(target.value);
          setTyped(target.value);
          onType(target.value);
        }}
      />
    </div>
  );
}

type SelectProps = {
  label: string;
  value: string | undefined;
  choices: Record<string, string>;
  /** That there may be no choice, and what it is called. */
  none?: string;
  onChoose: (value: string | undefined) => void;
};

function Select({ label, value, choices, none, onChoose }: SelectProps) {
  const id = useId();
  return (
    <div className="tests-filter">
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        className="input"
        value={value ?? ""}
        onChange={({ target }) => onChoose(target.value || undefined)}
      >
        {none && <option value="">{none}</option>}
        {Object.entries(choices).map(([choice, word]) => (
          <option key={choice} value={choice}>
            {word}
          </option>
        ))}
      </select>
    </div>
  );
}

function mapTexts(words: Record<string, { text: string }>): Record<string, string> {
  return Object.fromEntries(Object.entries(words).map(([value, { text }]) => [value, text]));
}
