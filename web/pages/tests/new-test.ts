// Menu entries of "New test case": blank, from the latest trace, from a template.
import { templates } from "../../templates.ts";
import type { MenuEntry } from "../../ui/Menu.tsx";

/** The editor's URL parameters that say what to start with. */
export type NewTestParameters = { template?: string; trace?: string };

export function newTestEntries(
  lastTrace: { id: string } | null,
  onNew: (parameters: NewTestParameters) => void,
): MenuEntry[] {
  const entry = (label: string, parameters: NewTestParameters): MenuEntry => ({
    kind: "action",
    label,
    onChoose: () => onNew(parameters),
  });
  return [
    entry("Blank", {}),
    ...(lastTrace ? [entry("From latest trace", { trace: lastTrace.id })] : []),
    { kind: "rule" },
    { kind: "note", text: "From a template" },
    ...templates.map(({ id, name }) => entry(name, { template: id })),
  ];
}
