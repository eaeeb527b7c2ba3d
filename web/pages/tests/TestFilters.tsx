// The filters and the sort order of the test case list; all of them are in the URL.
import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { outcomes, passiveBehaviors, testStates } from "../../labels.ts";
import { useShortcut } from "../../shell/shortcuts.ts";
import { Button } from "../../ui/Button.tsx";
import { type ListFilters, noFilters, type Sort, sortOf, sorts } from "./rows.ts";

type TestFiltersProps = {
  filters: ListFilters;
  /** `replace`: replace the history entry, as for each typed character. */
  onFilter: (change: ListFilters, replace?: boolean) => void;
  children: ReactNode;
};

const lastVerdicts = { ...mapTexts(outcomes), none: "Not evaluated yet", failing: "Failing on live traffic" };

export function TestFilters({ filters, onFilter, children }: TestFiltersProps) {
  const { text, status, behavior, last } = filters;
  const isFiltered = [text, status, behavior, last].some(value => value !== undefined);
  const sort = sortOf(filters);
  return (
    <search className="tests-filters" aria-label="Filters">
      <SearchField value={text ?? ""} onType={typed => onFilter({ text: typed || undefined }, true)} />
      <Select
        label="Status"
        none="Any"
        value={status}
        choices={mapTexts(testStates)}
        onChoose={chosen => onFilter({ status: chosen })}
      />
      <Select
        label="Passive behavior"
        none="Any"
        value={behavior}
        choices={mapTexts(passiveBehaviors)}
        onChoose={chosen => onFilter({ behavior: chosen })}
      />
      <Select
        label="Last verdict"
        none="Any"
        value={last}
        choices={lastVerdicts}
        onChoose={chosen => onFilter({ last: chosen })}
      />
      <Select
        label="Sort"
        value={sort}
        choices={sorts}
        onChoose={chosen => onFilter({ sort: sortParameter(chosen as Sort) })}
      />
      <div className="tests-count">
        {children}
        {isFiltered && (
          <Button look="link" onClick={() => onFilter(noFilters)}>
            Clear filters
          </Button>
        )}
      </div>
    </search>
  );
}

/** The URL parameter; undefined for the default order. */
export function sortParameter(sort: Sort): Sort | undefined {
  return sort === "newest" ? undefined : sort;
}

/** Shows typed text immediately. The URL follows; if the URL changes for another reason, the field follows the URL. */
function SearchField({ value, onType }: { value: string; onType: (text: string) => void }) {
  const [typed, setTyped] = useState(value);
  const sent = useRef({ last: value, pending: new Set<string>() });
  const input = useRef<HTMLInputElement>(null);
  const id = useId();
  useEffect(() => {
    const { last, pending } = sent.current;
    if (value === last) pending.clear();
    if (value === last || pending.has(value)) return;
    sent.current.last = value;
    setTyped(value);
  }, [value]);
  useShortcut("/", "Search test cases", () => input.current?.focus());
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
          sent.current.last = target.value;
          sent.current.pending.add(target.value);
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
  /** The label of the empty choice, if there is one. */
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
