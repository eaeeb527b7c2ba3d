// The status of the test beside its name.
import { testStates } from "../../labels.ts";
import type { Change, Doc } from "./document.ts";

const notes = { active: "evaluates new traces", disabled: "saved, but not used" } as const;

export function Status({ document, change }: { document: Doc; change: (change: Change) => void }) {
  const status = document["status"] ?? "active";
  const isKnown = status === "active" || status === "disabled";
  return (
    <select
      className="input editor-status"
      aria-label="Status"
      data-path="status"
      title={isKnown ? notes[status] : undefined}
      value={isKnown ? status : ""}
      onChange={({ target }) => change({ kind: "field", name: "status", value: target.value })}
    >
      {!isKnown && (
        <option value="" disabled>
          Set in the JSON
        </option>
      )}
      {(["active", "disabled"] as const).map(one => (
        <option key={one} value={one}>
          {testStates[one].text}
        </option>
      ))}
    </select>
  );
}
