// The ingestion log's filters as read from the URL. Unknown values are named, and ignored.
import type { IngestionFilters } from "../../queries/ingestion-filters.ts";
import { explained } from "../../refusals.ts";
import { unknownValueText } from "../../unknown-value.ts";

export type LogSearch = {
  code?: string | undefined;
  key?: string | undefined;
  service?: string | undefined;
  time?: string | undefined;
};

/** Without a choice, all seven days are shown. */
export const times = [
  { value: "hour", label: "Last hour", hours: 1 },
  { value: "day", label: "Last 24 hours", hours: 24 },
] as const;

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export function filtersOf({ code, key, service }: LogSearch): IngestionFilters {
  return {
    code: code !== undefined && Object.hasOwn(explained, code) ? code : undefined,
    keyId: key !== undefined && uuid.test(key) ? key : undefined,
    serviceName: service,
  };
}

/** What is wrong with the URL: values that the log does not know. */
export function faultsOf(search: LogSearch): string[] {
  const { code, key, time } = search;
  const filters = filtersOf(search);
  return [
    ...(code && filters.code === undefined ? [unknownValueText("Code", code)] : []),
    ...(key && filters.keyId === undefined ? [unknownValueText("Key", key)] : []),
    ...(time && hoursOf(time) === undefined ? [unknownValueText("Time", time)] : []),
  ];
}

export function hoursOf(time: string | undefined): number | undefined {
  return times.find(({ value }) => value === time)?.hours;
}
