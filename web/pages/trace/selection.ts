// The selection on a trace's page, kept in the URL: a span and optionally one of its attributes.

/** `attribute` undefined or null: the span itself. */
export type Selection = { span: string; attribute?: string | null };
export type Select = (selection: Selection) => void;
