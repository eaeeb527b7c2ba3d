// Whether a page gets live updates.

/** `polling`: not connected; listeners get a `refresh` event every few seconds. */
export type LiveState = "connecting" | "live" | "polling";
