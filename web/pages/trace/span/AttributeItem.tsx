// One attribute of a span: its name, which selects it, its value and its actions.
import { useEffect, useRef } from "react";
import type { SpanDetail } from "../../../../src/http/traces/schemas.ts";
import { download } from "../../../download.ts";
import { textOfValue } from "../../../exact-json.ts";
import { numberText } from "../../../format.ts";
import { Button } from "../../../ui/Button.tsx";
import { copyText } from "../../../ui/copy-text.ts";
import { Icon } from "../../../ui/Icon.tsx";
import { FailureNotice } from "../../../ui/Notice.tsx";
import type { ValuePath } from "../../../value-path.ts";
import { useFullValue } from "./full-value.ts";
import { SpanValue } from "./SpanValue.tsx";

type AttributeItemProps = {
  detail: SpanDetail;
  name: string;
  value: unknown;
  /** The full length of what was truncated; 0 if nothing was. */
  cut: number;
  selected: boolean;
  onSelect: () => void;
  onDraft: (path: ValuePath) => void;
};

/** Shorter values have no download button. */
const downloadFrom = 500;

export function AttributeItem(props: AttributeItemProps) {
  const { detail, name, value: given, cut, selected, onSelect, onDraft } = props;
  const item = useRef<HTMLLIElement>(null);
  useIntoView(item, selected);
  const whole = useFullValue(detail, ["attributes", name]);
  const isCut = cut > 0 && whole.value === undefined;
  const value = isCut || whole.value === undefined ? given : whole.value;
  const isLarge =
    isCut || (typeof value === "object" && value !== null) || String(value).length >= downloadFrom;
  return (
    <li ref={item} className="span-attribute" data-selected={selected || undefined}>
      <div className="span-attribute-top">
        <button type="button" className="span-attribute-name" aria-pressed={selected} onClick={onSelect}>
          {name}
        </button>
        <span className="span-attribute-actions">
          {!isCut && (
            <Button
              small
              look="plain"
              icon="copy"
              aria-label={`Copy ${name}`}
              title="Copy value"
              onClick={() => void copyText(textOfValue(value), "value")}
            />
          )}
          {isLarge && !isCut && (
            <Button
              small
              look="plain"
              icon="download"
              aria-label={`Download ${name}`}
              title="Download value"
              onClick={() => save(name, value)}
            />
          )}
          <Button
            small
            look="plain"
            icon="assert"
            aria-label={`Create assertion from ${name}`}
            title="Create assertion"
            onClick={() => onDraft([])}
          />
        </span>
      </div>
      <SpanValue
        value={value}
        label={name}
        whole={!isCut}
        unfolded={whole.value !== undefined}
        textToo
        actions={path => (
          <Button small icon="assert" onClick={() => onDraft(path)}>
            Create assertion
          </Button>
        )}
      />
      {isCut && (
        <Button small look="link" busy={whole.loading} onClick={whole.load}>
          Show all ({numberText(cut)} characters)
        </Button>
      )}
      <FailureNotice failure={whole.failure} />
    </li>
  );
}

/** Shown when the selected attribute, such as evidence of a check, is not on the span. */
export function AbsentAttribute({ name }: { name: string }) {
  const item = useRef<HTMLParagraphElement>(null);
  useIntoView(item, true);
  return (
    <p ref={item} className="span-attribute span-attribute-absent" data-selected>
      <Icon name="missing" />
      <span>
        <code className="break">{name}</code> is not on this span.
      </span>
    </p>
  );
}

function useIntoView(element: { current: HTMLElement | null }, selected: boolean): void {
  useEffect(() => {
    if (selected) element.current?.scrollIntoView({ block: "nearest" });
  }, [element, selected]);
}

function save(name: string, value: unknown): void {
  const isText = typeof value === "string";
  const type = isText ? "text/plain" : "application/json";
  download(
    `${name.replace(/[^\w.-]+/g, "_").slice(0, 100)}.${isText ? "txt" : "json"}`,
    textOfValue(value),
    type,
  );
}
