// A value of a span: JSON and JSON text as a tree, other values as text.
import { type ReactNode, useState } from "react";
import { printExact } from "../../../exact-json.ts";
import { numberText } from "../../../format.ts";
import { Button } from "../../../ui/Button.tsx";
import { JsonTree } from "../../../ui/JsonTree.tsx";
import { structureOf } from "../../../ui/json-rows.ts";
import { LongText } from "../../../ui/LongText.tsx";
import type { ValuePath } from "../../../value-path.ts";

type SpanValueProps = {
  value: unknown;
  label: string;
  /** False: only the beginning of a longer value. */
  whole?: boolean;
  /** Whether a long text is shown in full at first. */
  unfolded?: boolean;
  /** Whether JSON text can also be shown as text. */
  textToo?: boolean;
  actions?: (path: ValuePath) => ReactNode;
};

const shortMax = 800;

export function SpanValue(props: SpanValueProps) {
  const { value, label, whole = true, unfolded = false, textToo = false, actions } = props;
  const [asText, setAsText] = useState(false);
  const structure = structureOf(value);
  if (typeof value === "string") {
    const readable = whole && structure !== undefined;
    if (readable && !asText) {
      return (
        <>
          <JsonTree value={value} label={label} {...(actions && { actions })} />
          {textToo && (
            <Button small look="link" className="json-switch" onClick={() => setAsText(true)}>
              Show as text
            </Button>
          )}
        </>
      );
    }
    return (
      <>
        <Text text={value} label={label} whole={whole} unfolded={unfolded} />
        {readable && (
          <Button small look="link" className="json-switch" onClick={() => setAsText(false)}>
            Show as JSON
          </Button>
        )}
      </>
    );
  }
  if (structure && Object.keys(structure).length > 0)
    return <JsonTree value={structure} label={label} {...(actions && { actions })} />;
  return <code className="json-value">{printExact(value)}</code>;
}

type TextProps = { text: string; label: string; whole: boolean; unfolded: boolean };

function Text({ text, label, whole, unfolded }: TextProps) {
  const [all, setAll] = useState(false);
  if (text === "") return <span className="quiet">empty string</span>;
  const short = text.length > shortMax && !all && !unfolded ? text.slice(0, shortMax) : text;
  const rest = short.length < text.length;
  return (
    <>
      <LongText text={rest ? `${short}…` : short} label={label} />
      {rest && whole && (
        <Button small look="link" onClick={() => setAll(true)}>
          Show all ({numberText(text.length)} characters)
        </Button>
      )}
    </>
  );
}
