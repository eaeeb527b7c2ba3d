// What is selected on a trace's page: a span, and in it an attribute. It lives in the address.

/** `attribute` undefined or null: the span itself. */
export type Selection = { span: string; attribute?: string | null };
export type Select = (selection: Selection) => void;
