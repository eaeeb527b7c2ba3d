// How the list of traces is displayed, chosen in this browser: density, times, optional columns, widths.
import { persistedChoice } from "../../persisted-choice.ts";
import { parseWidths } from "./column-widths.ts";

export const densities = { comfortable: "Comfortable", compact: "Compact" } as const;
export type Density = keyof typeof densities;

export const timeStyles = { relative: "Relative", absolute: "Date and time" } as const;
export type TimeStyle = keyof typeof timeStyles;

export const density = persistedChoice<Density>("trace-density", "comfortable", isOneOf(densities));
export const timeStyle = persistedChoice<TimeStyle>("trace-times", "relative", isOneOf(timeStyles));

export const optionalColumns = ["cost", "externalId", "path", "agent", "tests"] as const;
export type OptionalColumn = (typeof optionalColumns)[number];

/** Ids, separated by commas. */
export const chosenColumns = persistedChoice<string>(
  "trace-columns",
  "",
  text => text === "" || text.split(",").every(id => optionalColumns.some(one => one === id)),
);

/** As in column-widths.ts; empty: all have their defaults. */
export const columnWidths = persistedChoice<string>(
  "trace-widths",
  "",
  text => parseWidths(text) !== undefined,
);

function isOneOf(choices: Record<string, string>) {
  return (text: string) => Object.hasOwn(choices, text);
}
