// The widths of the panes beside each other, in percent, chosen in this browser.
import { type PersistedChoice, persistedChoice } from "../../persisted-choice.ts";
import { moveDivider, parseWidths, printWidths } from "./pane-divider.ts";

const defaults = { 2: [50, 50], 3: [30, 36, 34] } as const;
export type PaneCount = keyof typeof defaults;

const choices: { [C in PaneCount]: PersistedChoice<string> } = { 2: choice(2), 3: choice(3) };

function choice(count: PaneCount): PersistedChoice<string> {
  return persistedChoice(
    `trace-panes-${count}`,
    printWidths(defaults[count]),
    text => parseWidths(text, count) !== null,
  );
}

export function usePaneWidths(count: PaneCount) {
  const widths = parseWidths(choices[count].use(), count)!;
  return {
    widths,
    /** `percent`: of the whole width, where the divider behind the pane goes. */
    move: (pane: number, percent: number) =>
      choices[count].set(printWidths(moveDivider(widths, pane, percent))),
    reset: () => choices[count].set(printWidths(defaults[count])),
  };
}
