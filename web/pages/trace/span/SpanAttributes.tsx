// The attributes of a span, grouped and searchable. The selected one is outlined and scrolled into view.
import { useId, useState } from "react";
import type { SpanDetail } from "../../../../src/http/traces/schemas.ts";
import { numberText } from "../../../format.ts";
import { Button } from "../../../ui/Button.tsx";
import { startsWith, type ValuePath } from "../../../value-path.ts";
import { AbsentAttribute, AttributeItem } from "./AttributeItem.tsx";
import { useFullValue } from "./full-value.ts";

type SpanAttributesProps = {
  detail: SpanDetail;
  selected: string | null;
  onSelect: (name: string) => void;
  onDraft: (name: string, path: ValuePath) => void;
};

const groups = [
  { title: "GenAI", has: (name: string) => name.startsWith("gen_ai.") },
  {
    title: "HTTP",
    has: (name: string) => /^(?:http|url|server|client|network|user_agent)\./.test(name),
  },
  { title: "Other", has: () => true },
] as const;

const searchFrom = 6;
const shownAtOnce = 100;

export function SpanAttributes({ detail, selected, onSelect, onDraft }: SpanAttributesProps) {
  const [search, setSearch] = useState("");
  const [shown, setShown] = useState(shownAtOnce);
  const searchId = useId();
  const omitted = detail.omissions.find(({ path }) => path.length === 1 && path[0] === "attributes");
  const whole = useFullValue(detail, ["attributes"]);
  const attributes = omitted && whole.value !== undefined ? (whole.value as object) : detail.span.attributes;
  const entries = Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : 1));
  const found = entries.filter(entry => matches(entry, search));
  const selectedEntries = entries.filter(([name]) => isSelected(name, selected));
  const isAbsent = selected !== null && selectedEntries.length === 0;
  // The selected attribute is shown whatever the search.
  const inView = found.slice(0, shown);
  inView.push(...selectedEntries.filter(entry => !inView.includes(entry)));
  const grouped = groups.map(({ title }) => ({
    title,
    items: inView.filter(([name]) => groups.find(group => group.has(name))?.title === title),
  }));
  return (
    <div className="span-part">
      <div className="line line-apart">
        <h3>
          Attributes <span className="quiet">{numberText(omitted?.entries ?? entries.length)}</span>
        </h3>
        {entries.length >= searchFrom && (
          <span className="line">
            <label htmlFor={searchId} className="unseen">
              Search attributes
            </label>
            <input
              id={searchId}
              type="search"
              className="input span-search"
              placeholder="Search"
              value={search}
              onChange={event => setSearch(event.target.value)}
            />
          </span>
        )}
      </div>
      {search !== "" && (
        <p role="status" className="quiet small">
          {numberText(found.length)} of {numberText(entries.length)}
        </p>
      )}
      {isAbsent && <AbsentAttribute name={selected} />}
      {entries.length === 0 && <p className="quiet">No attributes</p>}
      {grouped.map(
        ({ title, items }) =>
          items.length > 0 && (
            <div key={title} className="span-attribute-group">
              <h4>{title}</h4>
              <ul>
                {items.map(([name, value]) => (
                  <AttributeItem
                    key={name}
                    detail={detail}
                    name={name}
                    value={value}
                    cut={omitted && whole.value !== undefined ? 0 : cutOf(detail, name)}
                    selected={isSelected(name, selected)}
                    onSelect={() => onSelect(name)}
                    onDraft={path => onDraft(name, path)}
                  />
                ))}
              </ul>
            </div>
          ),
      )}
      {found.length > shown && (
        <Button small onClick={() => setShown(shown + shownAtOnce)}>
          Show {Math.min(shownAtOnce, found.length - shown)} more
        </Button>
      )}
      {omitted && whole.value === undefined && (
        <Button small busy={whole.loading} onClick={whole.load}>
          Load all {numberText(omitted.entries)} attributes
        </Button>
      )}
    </div>
  );
}

/** `*` at the end stands for all attributes of a flattened list. */
function isSelected(name: string, selected: string | null): boolean {
  if (selected === null) return false;
  return selected.endsWith("*") ? name.startsWith(selected.slice(0, -1)) : name === selected;
}

/** The full length of all truncated values in this attribute; 0 if none was truncated. */
function cutOf({ cuts, omissions }: SpanDetail, name: string): number {
  const inside = ({ path }: { path: ValuePath }) => startsWith(path, ["attributes", name]);
  const characters = cuts.filter(inside).reduce((sum, { length }) => sum + length, 0);
  return characters + omissions.filter(inside).reduce((sum, { entries }) => sum + entries, 0);
}

function matches([name, value]: [string, unknown], search: string): boolean {
  const wanted = search.trim().toLowerCase();
  if (wanted === "" || name.toLowerCase().includes(wanted)) return true;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.toLowerCase().includes(wanted);
}
