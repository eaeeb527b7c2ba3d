// What narrows the list of test cases, and its order; all of it is in the address.
import { type ReactNode, useEffect, useRef, useState } from "react";
import { outcomes, passiveBehaviors, testStates } from "../../labels.ts";
import { useShortcut } from "../../shell/shortcuts.ts";
import { Button } from "../../ui/Button.tsx";
import { type Sort, sortOf, sorts, type Wanted } from "./rows.ts";

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
  const clear = { text: undefined, status: undefined, behavior: undefined, last: undefined };
  const sort = sortOf(wanted);
  return (
    <search className="tests-filters" aria-label="Filters">
      <SearchField value={text ?? ""} onType={typed => onWant({ text: typed || undefined }, true)} />
      <Select
        label="Status"
        value={status}
        choices={mapTexts(testStates)}
        onChoose={chosen => onWant({ status: chosen })}
      />
      <Select
        label="Passive behavior"
        value={behavior}
        choices={mapTexts(passiveBehaviors)}
        onChoose={chosen => onWant({ behavior: chosen })}
      />
      <Select
        label="Last verdict"
        value={last}
        choices={lasts}
        onChoose={chosen => onWant({ last: chosen })}
      />
      <label className="tests-filter">
        <span>Order</span>
        <select
          className="input"
          value={sort}
          onChange={({ target }) => onWant({ sort: orderOf(target.value as Sort) })}
        >
          {Object.entries(sorts).map(([value, word]) => (
            <option key={value} value={value}>
              {word}
            </option>
          ))}
        </select>
      </label>
      <div className="tests-count">
        {children}
        {narrowed && (
          <Button look="link" onClick={() => onWant(clear)}>
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
  useEffect(() => {
    const { last, underWay } = told.current;
    if (value === last) underWay.clear();
    if (value === last || underWay.has(value)) return;
    told.current.last = value;
    setTyped(value);
  }, [value]);
  useShortcut("/", "Search the test cases", () => input.current?.focus());
  return (
    <label className="tests-filter tests-search">
      <span>Search</span>
      <input
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
    </label>
  );
}

type SelectProps = {
  label: string;
  value: string | undefined;
  choices: Record<string, string>;
  onChoose: (value: string | undefined) => void;
};

function Select({ label, value, choices, onChoose }: SelectProps) {
  return (
    <label className="tests-filter">
      <span>{label}</span>
      <select
        className="input"
        value={value ?? ""}
        onChange={({ target }) => onChoose(target.value || undefined)}
      >
        <option value="">Any</option>
        {Object.entries(choices).map(([choice, word]) => (
          <option key={choice} value={choice}>
            {word}
          </option>
        ))}
      </select>
    </label>
  );
}

function mapTexts(words: Record<string, { text: string }>): Record<string, string> {
  return Object.fromEntries(Object.entries(words).map(([value, { text }]) => [value, text]));
}
