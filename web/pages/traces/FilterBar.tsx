// The bar above the list of traces: tabs, text search and filters. All are kept in the URL.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, type RefObject, useEffect, useRef, useState } from "react";
import { testQuery } from "../../queries/tests.ts";
import type { TraceSearch } from "../../queries/trace-search.ts";
import { Button } from "../../ui/Button.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { lazyPart, toastNotLoaded } from "../../ui/lazy-part.tsx";
import { Popover } from "../../ui/Popover.tsx";
import { activeFilters, type Filter, filterGroups, testEnd, without, withTestOutcome } from "./filters.ts";
import { SortMenu } from "./SortMenu.tsx";

const load = () => import("./FilterEditor.tsx");
const FilterEditor = lazyPart(
  async () => ({ default: (await load()).FilterEditor }),
  ({ close }) => {
    toastNotLoaded();
    close();
  },
);

const typingMs = 250;
const searchedId = "traces-searched";

const tabs = [
  { kind: undefined, text: "All" },
  { kind: "live", text: "Live traffic" },
  { kind: "test_run", text: "Test runs" },
] as const;

type FilterBarProps = {
  agentId: string;
  search: TraceSearch;
  onChange: (search: TraceSearch, how?: "replace") => void;
  searchBox: RefObject<HTMLInputElement | null>;
  /** Shown after the filters: saved views, columns. */
  children: ReactNode;
};

export function FilterBar({ agentId, search, onChange, searchBox, children }: FilterBarProps) {
  const add = useRef<HTMLSpanElement>(null);
  const test = useQuery({ ...testQuery(search.testId ?? ""), enabled: search.testId !== undefined });
  const testName = test.data?.name ?? (test.isPending ? "…" : "deleted test");
  const active = activeFilters(search, () => testName);
  const combined = withTestOutcome(search);
  const change = (next: TraceSearch) => {
    onChange(next);
    // The focused button was removed with its filter.
    add.current?.querySelector("button")?.focus();
  };
  return (
    <div className="filter-bar">
      <div className="line">
        <nav className="segments" aria-label="Kind of traces">
          {tabs.map(({ kind, text }) => (
            <Link
              key={text}
              to="."
              search={{ ...search, kind }}
              className="segment"
              aria-current={search.kind === kind ? "page" : undefined}
              activeOptions={{ exact: true, includeSearch: true }}
            >
              {text}
            </Link>
          ))}
        </nav>
        <TextFilter
          text={search.text ?? ""}
          onType={text => onChange({ ...search, text }, "replace")}
          box={searchBox}
        />
        <span ref={add}>
          <AddFilter agentId={agentId} search={search} onChange={onChange} />
        </span>
        <SortMenu search={search} onChange={onChange} />
        {children}
      </div>
      {search.text && (
        <p id={searchedId} className="quiet small">
          The search covers names and the first 500 characters of inputs and replies.
        </p>
      )}
      {active.length > 0 && (
        <ul className="chips" aria-label="Active filters">
          {active.map(({ filter, text, end }) => (
            <li key={filter.label} className="chosen-filter">
              <Popover
                look="plain"
                small
                title={filter.label}
                aria-label={`${filter.label}: ${text}${end}`}
                panel={close => <FilterEditor {...{ agentId, filter, search, onChange, close }} />}
              >
                <span className="chip-text">
                  <span className="quiet">{`${filter.label}: `}</span>
                  <bdi className="chip-value">{text}</bdi>
                  {end && <span className="chip-end">{end}</span>}
                </span>
              </Popover>
              <Button
                look="plain"
                small
                icon="cross"
                aria-label={`Remove filter ${filter.label}: ${text}${end}`}
                onClick={() => change(without(search, filter))}
              />
            </li>
          ))}
          {combined && (
            <li>
              <Button
                small
                icon="filter"
                aria-label={`Replace with “${testName}${testEnd(combined)}”`}
                onClick={() => change(combined)}
              >
                <span className="chip-text">
                  Replace with “<bdi className="chip-value">{testName}</bdi>
                  <span className="chip-end">{testEnd(combined)}”</span>
                </span>
              </Button>
            </li>
          )}
          <li>
            <Button look="link" onClick={() => change(without(search))}>
              Clear all
            </Button>
          </li>
        </ul>
      )}
    </div>
  );
}

type AddFilterProps = Pick<FilterBarProps, "agentId" | "search" | "onChange">;

function AddFilter(props: AddFilterProps) {
  return (
    <Popover icon="filter" title="Add filter" panel={close => <AddFilterPanel {...props} close={close} />}>
      Add filter
    </Popover>
  );
}

function AddFilterPanel({ close, ...props }: AddFilterProps & { close: () => void }) {
  const [filter, setFilter] = useState<Filter>();
  useEffect(() => void load().catch(() => {}), []);
  if (filter) return <FilterEditor {...props} filter={filter} close={close} />;
  return (
    <div className="filter-groups">
      {filterGroups.map(({ label, filters }) => (
        <section key={label} aria-label={label}>
          <h2 className="menu-label">{label}</h2>
          <ul>
            {filters.map(one => (
              <li key={one.label}>
                <button type="button" className="menu-item panel-item" onClick={() => setFilter(one)}>
                  {one.label}
                </button>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

type TextFilterProps = {
  text: string;
  onType: (text: string) => void;
  box: RefObject<HTMLInputElement | null>;
};

/** Typed text reaches the URL after `typingMs`. The box shows the URL's text otherwise. */
function TextFilter({ text, onType, box }: TextFilterProps) {
  const [typed, setTyped] = useState<string>();
  const latest = useRef(onType);
  useEffect(() => {
    latest.current = onType;
  });
  useEffect(() => {
    if (typed === undefined) return;
    const timer = setTimeout(() => {
      latest.current(typed);
      setTyped(undefined);
    }, typingMs);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <search className="search-box">
      <Icon name="search" />
      <input
        ref={box}
        type="search"
        className="input"
        aria-label="Search input and reply"
        aria-describedby={text === "" ? undefined : searchedId}
        placeholder="Search input and reply"
        maxLength={200}
        value={typed ?? text}
        onChange={event => setTyped(event.target.value)}
        onKeyDown={event => {
          if (event.key !== "Escape") return;
          // The browser's default would clear the box.
          event.preventDefault();
          event.currentTarget.blur();
        }}
      />
    </search>
  );
}
