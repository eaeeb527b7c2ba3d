// What the inputs that choose a file have in common.
import type { MouseEvent } from "react";

/** On click: a file that was edited after it was rejected can be chosen again, which browsers do not call a change. */
export function forgetFile({ currentTarget }: MouseEvent<HTMLInputElement>): void {
  currentTarget.value = "";
}

export const unreadableFile = "The browser cannot read this file. Choose it again.";
