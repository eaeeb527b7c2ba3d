// The key to send with: made here and filled in whole, or one that exists, of which only the end is known.

import { useId } from "react";
import type { CreatedKey, Key } from "../../../src/http/projects/schemas.ts";
import { Button } from "../../ui/Button.tsx";
import { Copy } from "../../ui/Copy.tsx";
import { Notice } from "../../ui/Notice.tsx";

type KeyStepProps = {
  /** Those that may write to the agent; undefined while they load. */
  keys: Key[] | undefined;
  chosen: Key | undefined;
  made: CreatedKey | undefined;
  /** Whether the one that was made may write to the agent. */
  fits: boolean;
  onChoose: (id: string) => void;
  onNewKey: () => void;
};

export function KeyStep({ keys, chosen, made, fits, onChoose, onNewKey }: KeyStepProps) {
  const id = useId();
  if (made) {
    return (
      <>
        <Notice tone={fits ? "good" : "warn"} role="status">
          {fits
            ? `“${made.name}” is filled in below. Store it now: it is shown for as long as this page is open, and never again.`
            : `“${made.name}” may not write to this agent: traces sent with it will be refused.`}
        </Notice>
        <textarea
          className="input secret mono"
          aria-label="The key"
          readOnly
          rows={2}
          value={made.key}
          onFocus={event => event.currentTarget.select()}
        />
        <div className="line">
          <Copy text={made.key} look="main">
            Copy the key
          </Copy>
          <Button onClick={onNewKey}>Make another</Button>
        </div>
      </>
    );
  }
  if (keys === undefined) return null;
  if (!chosen) {
    return (
      <>
        <p className="quiet">No key may write to this agent yet.</p>
        <div>
          <Button look="main" icon="plus" onClick={onNewKey}>
            Make a key
          </Button>
        </div>
      </>
    );
  }
  return (
    <>
      <div className="field">
        <label htmlFor={id}>Key to send with</label>
        <select
          id={id}
          className="input"
          value={chosen.id}
          onChange={event => onChoose(event.target.value)}
          aria-describedby={`${id}-hint`}
        >
          {keys.map(key => (
            <option key={key.id} value={key.id}>
              {key.name} ({key.masked})
            </option>
          ))}
        </select>
        <div id={`${id}-hint`} className="field-hint">
          Only its last four characters are known here: put its text in place of <code>{chosen.masked}</code>{" "}
          below, or make another key, which is filled in whole.
        </div>
      </div>
      <div>
        <Button icon="plus" onClick={onNewKey}>
          Make a key
        </Button>
      </div>
    </>
  );
}
