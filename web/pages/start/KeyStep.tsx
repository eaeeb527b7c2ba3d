// The key for the first trace: a new one, filled in below, or an existing one, of which only the end is stored.
import { useId } from "react";
import type { CreatedKey, Key } from "../../../src/http/projects/schemas.ts";
import type { Failure } from "../../api.ts";
import { Button } from "../../ui/Button.tsx";
import { Copy } from "../../ui/Copy.tsx";
import { FailureNotice, Notice } from "../../ui/Notice.tsx";

type KeyStepProps = {
  /** The keys that can write to the agent; undefined while loading. */
  keys: Key[] | undefined;
  chosen: Key | undefined;
  created: CreatedKey | undefined;
  /** Whether `created` can write to the agent. */
  canWrite: boolean;
  onChoose: (id: string) => void;
  onNewKey: () => void;
  /** Creates a key for this agent without asking. */
  onQuickKey: () => void;
  quickKey: { busy: boolean; failure: Failure | undefined };
  onCopied: () => void;
};

export function KeyStep(props: KeyStepProps) {
  const { keys, chosen, created, canWrite, onChoose, onNewKey, onQuickKey, quickKey, onCopied } = props;
  const id = useId();
  if (created) {
    return (
      <>
        <Notice tone={canWrite ? "good" : "warn"} role="status">
          {canWrite
            ? `“${created.name}” is filled in below. Copy it now: the key is shown only until you reload or close this tab.`
            : `“${created.name}” cannot write to this agent. Traces sent with this key will be rejected.`}
        </Notice>
        <textarea
          className="input secret mono"
          aria-label="API key"
          readOnly
          rows={2}
          value={created.key}
          onFocus={event => event.currentTarget.select()}
        />
        <div className="line">
          <Copy text={created.key} look="main" onCopied={onCopied}>
            Copy key
          </Copy>
          <Button onClick={onNewKey}>New key</Button>
        </div>
      </>
    );
  }
  if (keys === undefined) return null;
  if (!chosen) {
    return (
      <>
        <p className="quiet">
          No key can write to this agent yet. Create one for this agent only (Granular Access), valid for 90
          days.
        </p>
        <div className="line">
          <Button look="main" icon="plus" busy={quickKey.busy} onClick={onQuickKey}>
            Create key
          </Button>
          <Button look="link" onClick={onNewKey}>
            Choose name, access and expiry
          </Button>
        </div>
        <FailureNotice failure={quickKey.failure} />
      </>
    );
  }
  return (
    <>
      <div className="field">
        <label htmlFor={id}>API key to use</label>
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
          Only the last four characters are stored. Replace <code>{chosen.masked}</code> below with your full
          key, or create a new one.
        </div>
      </div>
      <div>
        <Button icon="plus" onClick={onNewKey}>
          New key
        </Button>
      </div>
    </>
  );
}
