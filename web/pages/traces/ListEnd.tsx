// The note above a list of traces, and its end: how many were found, how far it was searched, and searching further.
import { failureOf } from "../../api.ts";
import { counted } from "../../labels.ts";
import type { TraceSearch } from "../../queries/trace-search.ts";
import type { ShownTraces, Traces } from "../../queries/use-trace-list.ts";
import { Button } from "../../ui/Button.tsx";
import { FailureNotice } from "../../ui/Notice.tsx";
import { orderedText, searchedText } from "./list-notes.ts";

type NotesProps = { shown: ShownTraces; search: TraceSearch };

/** How many traces are in this order, if not all are. */
export function OrderNote({ shown: { ordered }, search }: NotesProps) {
  const text = ordered && orderedText(search, ordered);
  if (!text) return null;
  return (
    <p className="traces-notes quiet small" role="note">
      {text}
    </p>
  );
}

type ListEndProps = NotesProps & { list: Traces };

export function ListEnd(props: ListEndProps) {
  const { list, shown } = props;
  const { rows, nextCursor, failure } = shown;
  if (failure) {
    return (
      <div className="stack">
        <FailureNotice failure={failureOf(failure)} />
        <div className="line line-center">
          <Button onClick={() => list.retry()}>Retry</Button>
        </div>
      </div>
    );
  }
  if (list.kind === "searched") {
    return (
      <div className="traces-end">
        <SearchFurther {...props} />
      </div>
    );
  }
  return (
    <p className="traces-end quiet small" role="status">
      {nextCursor === null ? counted(rows.length, "trace") : "Loading more traces…"}
    </p>
  );
}

/** How far the spans were searched, and the button that continues. */
export function SearchFurther({ list, shown, search }: ListEndProps) {
  const { rows, nextCursor, busy, searched } = shown;
  const order = search.order === "oldest" ? "oldest" : "newest";
  const further = order === "newest" ? "older" : "newer";
  // Lists by other filters search on by themselves while nothing matches.
  const isByUser = list.kind === "searched";
  const found = rows.length > 0 ? `${counted(rows.length, "trace")} found. ` : "";
  const text = searched && found + searchedText(searched, order);
  return (
    <>
      <p className="quiet small" role="status">
        {!isByUser || (busy && nextCursor !== null) ? `Searching ${further} traces…` : text}
      </p>
      {isByUser && nextCursor !== null && (
        <Button icon="search" busy={busy} onClick={() => void list.more("user")}>
          Search {further} traces
        </Button>
      )}
    </>
  );
}
