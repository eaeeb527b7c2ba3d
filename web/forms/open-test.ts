// The test case that is open in the editor. Its status is changed through the editor, which shows it and keeps the draft.
import { useEffect, useRef } from "react";
import type { ListedTest } from "../../src/http/test-cases/schemas.ts";
import type { Answer } from "../api.ts";

type SetStatus = (status: ListedTest["status"]) => Promise<Answer<ListedTest>>;

let open: { id: string; setStatus: SetStatus } | undefined;

/** Registers the editor of a test while it is mounted; none for a test that was never saved. */
export function useOpenTest(id: string | undefined, setStatus: SetStatus): void {
  const latest = useRef(setStatus);
  useEffect(() => {
    latest.current = setStatus;
  });
  useEffect(() => {
    if (id === undefined) return;
    const test = { id, setStatus: (status: ListedTest["status"]) => latest.current(status) };
    open = test;
    return () => {
      if (open === test) open = undefined;
    };
  }, [id]);
}

/** How the editor changes the status of this test; undefined if it is not open there. */
export function openTestStatus(id: string): SetStatus | undefined {
  return open?.id === id ? open.setStatus : undefined;
}
