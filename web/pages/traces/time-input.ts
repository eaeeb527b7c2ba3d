// Times of filters as values of inputs of type datetime-local, and back.

/** ISO 8601 in local time, with seconds only if there are any. Undefined for what such an input cannot show. */
export function localTime(at: string | undefined): string | undefined {
  if (at === undefined || !/^\d{4}-/.test(at) || Number.isNaN(Date.parse(at))) return undefined;
  const date = new Date(at);
  const text = new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString();
  return text
    .slice(0, 23)
    .replace(/\.000$/, "")
    .replace(/(T\d\d:\d\d):00$/, "$1");
}

/** The time that was entered; `was` itself, to its last digit, if the input still shows that. */
export function timeOf(local: string | undefined, was: string | undefined): string | undefined {
  if (!local) return undefined;
  const shown = localTime(was);
  if (shown !== undefined && Date.parse(shown) === Date.parse(local)) return was;
  return new Date(local).toISOString();
}
