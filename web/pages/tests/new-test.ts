// The ways to a new test case.
import { templates } from "../../templates.ts";
import type { MenuEntry } from "../../ui/Menu.tsx";

/** What the editor's address says to begin with. */
export type Beginning = { template?: string; trace?: string };

export function newTestEntries(
  lastTrace: { id: string } | null,
  onNew: (beginning: Beginning) => void,
): MenuEntry[] {
  const entry = (label: string, beginning: Beginning): MenuEntry => ({
    kind: "action",
    label,
    onChoose: () => onNew(beginning),
  });
  return [
    entry("From nothing", {}),
    ...(lastTrace ? [entry("From the latest trace", { trace: lastTrace.id })] : []),
    { kind: "rule" },
    { kind: "note", text: "From a template" },
    ...templates.map(({ id, name }) => entry(name, { template: id })),
  ];
}
