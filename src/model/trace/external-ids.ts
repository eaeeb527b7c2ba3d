// The external IDs that a trace may have whose ID was sent like this.

/** The ID as it is, then in lower case if it may be an OTLP trace ID: these are stored so, in whatever case they were sent. */
export function externalIdsOf(sent: string): string[] {
  const lower = sent.toLowerCase();
  return lower !== sent && /^[0-9a-f]{32}$/.test(lower) ? [sent, lower] : [sent];
}
