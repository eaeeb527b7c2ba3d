// Virtual list of a test's inputs, one text field per row; edited like a spreadsheet with the keyboard and by pasting.
import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import {
  type ClipboardEvent,
  type KeyboardEvent,
  type RefObject,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { numberText } from "../../../format.ts";
import { Button } from "../../../ui/Button.tsx";
import { Fault } from "../../../ui/Field.tsx";
import { toastNotLoaded } from "../../../ui/lazy-part.tsx";
import { toast } from "../../../ui/Toast.tsx";
import { useEditorContext, useFaultOf } from "../editor-context.ts";
import { inputsMax } from "./candidates.ts";
import { keyAction } from "./row-keys.ts";
import { asOneInput, isBlank, pasted, type Rows, textOf, withText } from "./rows.ts";

/** Mounted also without rows, so that it knows which row was focused last. */
type InputsTableProps = { rows: Rows; onRows: (rows: unknown[]) => void };

type Go = (row: number, caret?: "start" | "end") => void;

/** Estimated height of a row in pixels, until it is measured. */
const rowHeight = 44;
/** Lines of the row that is edited, and of the others. */
const linesMax = { edited: 8, other: 2 };
/** About as many characters fit on a line. */
const lineCharacters = 60;

export function InputsTable({ rows, onRows }: InputsTableProps) {
  const scroller = useRef<HTMLDivElement>(null);
  // Kept when the focus leaves the list: rows that shrink under the pointer would make it miss.
  const [edited, setEdited] = useState(0);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 4,
    // The row with the focus stays rendered when it is scrolled out of sight.
    rangeExtractor: range =>
      [...new Set([...defaultRangeExtractor(range), Math.min(edited, rows.length - 1)])].sort(
        (a, b) => a - b,
      ),
  });
  const latest = useRef(rows);
  useEffect(() => {
    latest.current = rows;
  });
  const go = useRowFocus(scroller, row => virtual.scrollToIndex(row));
  const remove = (row: number, next: number) => {
    onRows(rows.toSpliced(row, 1));
    if (rows.length > 1) go(Math.max(0, Math.min(next, rows.length - 2)));
  };
  const press = (row: number, event: KeyboardEvent<HTMLTextAreaElement>) => {
    const { nativeEvent, ctrlKey, metaKey, altKey, shiftKey } = event;
    if (nativeEvent.isComposing || ctrlKey || metaKey || altKey || shiftKey) return;
    const place = { row, count: rows.length, countMax: inputsMax };
    const action = keyAction(event.key, event.currentTarget, place);
    if (!action) return;
    event.preventDefault();
    if (action.kind === "remove") return remove(row, row - 1);
    if (action.kind === "go") return go(action.row, action.caret);
    onRows([...rows, { input: "" }]);
    go(rows.length);
  };
  const paste = (row: number, event: ClipboardEvent<HTMLTextAreaElement>) =>
    pasteRows(event, { latest, row, onRows, go });
  if (rows.length === 0) return null;
  return (
    <>
      <div ref={scroller} className="inputs">
        <ol style={{ blockSize: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start }) => (
            <li
              key={index}
              ref={virtual.measureElement}
              data-index={index}
              aria-setsize={rows.length}
              aria-posinset={index + 1}
              style={{ transform: `translateY(${start}px)` }}
            >
              <InputRow
                row={index}
                text={textOf(rows[index])}
                lines={index === edited ? linesMax.edited : linesMax.other}
                onText={text => onRows(withText(rows, index, text))}
                onRemove={() => remove(index, index)}
                onFocus={() => setEdited(index)}
                onKeyDown={event => press(index, event)}
                onPaste={event => paste(index, event)}
              />
            </li>
          ))}
        </ol>
      </div>
      <p className="field-hint">
        Enter: next input. Shift + Enter: new line. Paste spreadsheet cells into an empty input to add many.
      </p>
    </>
  );
}

/** A function that focuses a row, which may have to be rendered first. */
function useRowFocus(scroller: { current: HTMLElement | null }, show: (row: number) => void): Go {
  const wanted = useRef<{ row: number; caret: "start" | "end" }>(undefined);
  const { inputRow } = useEditorContext();
  const handled = useRef<typeof inputRow>(undefined);
  const focusWanted = () => {
    if (!wanted.current) return;
    const { row, caret } = wanted.current;
    const field = scroller.current?.querySelector<HTMLTextAreaElement>(`[data-row="${row}"]`);
    if (!field) return;
    wanted.current = undefined;
    field.focus();
    const place = caret === "start" ? 0 : field.value.length;
    field.setSelectionRange(place, place);
  };
  const go: Go = (row, caret = "end") => {
    wanted.current = { row, caret };
    show(row);
    focusWanted();
  };
  // After each rendering, as the row may appear with any of them.
  useLayoutEffect(() => {
    if (inputRow && inputRow !== handled.current) go(inputRow.row);
    handled.current = inputRow;
    focusWanted();
  });
  return go;
}

type Paste = { latest: RefObject<Rows>; row: number; onRows: (rows: unknown[]) => void; go: Go };

/** Several lines or cells in an empty row become rows. In a row that has a text, line ends belong to the text. */
function pasteRows(event: ClipboardEvent, { latest, row, onRows, go }: Paste): void {
  const text = event.clipboardData.getData("text/plain");
  if (!isBlank(latest.current[row]) || !/[\r\n\t]/.test(text.trim())) return;
  event.preventDefault();
  const html = event.clipboardData.getData("text/html");
  void import("./pasted.ts").then(({ readPasted }) => {
    const { inputs, columns } = readPasted(text, html);
    if (inputs.length === 0) return;
    // Something may have been typed while the code loaded.
    const { rows: next, left, last } = pasted(latest.current, row, inputs);
    const added = inputs.length - left;
    onRows(next);
    go(last);
    const from = columns > 1 ? ` from the first of ${columns} columns` : "";
    const more = left > 0 ? ` ${numberText(left)} more exceed the limit of ${numberText(inputsMax)}.` : "";
    toast(`Pasted ${numberText(added)} inputs${from}.${more}`, {
      label: "Paste as one input",
      run: () => onRows(asOneInput(latest.current, inputs.slice(0, added), text)),
    });
  }, toastNotLoaded);
}

type InputRowProps = {
  row: number;
  text: string;
  lines: number;
  onText: (text: string) => void;
  onRemove: () => void;
  onFocus: () => void;
  onKeyDown: (event: KeyboardEvent<HTMLTextAreaElement>) => void;
  onPaste: (event: ClipboardEvent<HTMLTextAreaElement>) => void;
};

function InputRow({ row, text, lines, onText, onRemove, ...events }: InputRowProps) {
  const id = useId();
  const path = `inputs[${row}].input`;
  const { fault } = useFaultOf(path, { isEmpty: text === "" });
  return (
    <div className="inputs-row">
      <span className="inputs-number" aria-hidden="true">
        {numberText(row + 1)}
      </span>
      <div className="field">
        <textarea
          className="input"
          dir="auto"
          aria-label={`Input ${row + 1}`}
          aria-invalid={fault ? true : undefined}
          aria-describedby={fault ? id : undefined}
          data-row={row}
          data-path={path}
          rows={Math.min(lines, linesOf(text.slice(0, lines * lineCharacters)))}
          value={text}
          onChange={({ target }) => onText(target.value)}
          {...events}
        />
        <Fault id={id} fault={fault} />
      </div>
      <Button look="plain" small icon="trash" aria-label={`Remove input ${row + 1}`} onClick={onRemove} />
    </div>
  );
}

function linesOf(text: string): number {
  return text
    .split("\n")
    .reduce((lines, line) => lines + Math.max(1, Math.ceil(line.length / lineCharacters)), 0);
}
