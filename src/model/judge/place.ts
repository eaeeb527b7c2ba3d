// How the threads of a process share a judge: who is about to call it asks for a place, and leaves it afterwards.

/** What a thread tells: it needs one of the `count` places at `line`; or not any more, whether it was given or not. */
export type PlaceAsk =
  | { type: "enter"; id: number; line: string; count: number }
  | { type: "leave"; id: number };

/** What it is told. */
export type PlaceGiven = { type: "entered"; id: number };
