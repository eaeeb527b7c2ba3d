// The keys of the list of inputs: Enter goes on to the next row, arrows move between rows, Backspace removes an empty one.

type Field = {
  value: string;
  selectionStart: number;
  selectionEnd: number;
};

export type KeyAction =
  | { kind: "go"; row: number; caret: "start" | "end" }
  /** A new row at the end, which gets the focus. */
  | { kind: "append" }
  /** Removes the row; the one before it gets the focus. */
  | { kind: "remove" };

/** Undefined: the key does what it does in any text field. */
export function keyAction(
  key: string,
  field: Field,
  { row, count, countMax }: { row: number; count: number; countMax: number },
): KeyAction | undefined {
  const { value, selectionStart: caret, selectionEnd } = field;
  if (key === "Enter") {
    if (row < count - 1) return { kind: "go", row: row + 1, caret: "end" };
    return count < countMax ? { kind: "append" } : { kind: "go", row, caret: "end" };
  }
  if (key === "Backspace" && value === "" && count > 1) return { kind: "remove" };
  if (caret !== selectionEnd) return undefined;
  if (key === "ArrowUp" && caret === 0 && row > 0) return { kind: "go", row: row - 1, caret: "end" };
  const isAtEnd = caret === value.length && row < count - 1;
  return key === "ArrowDown" && isAtEnd ? { kind: "go", row: row + 1, caret: "start" } : undefined;
}
