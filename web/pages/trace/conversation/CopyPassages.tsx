// Copies the full texts of a turn, also truncated ones.

import { useQueryClient } from "@tanstack/react-query";
import type { Passage } from "../../../../src/model/trace/shown.ts";
import { failureOf } from "../../../api.ts";
import { Button } from "../../../ui/Button.tsx";
import { copyText } from "../../../ui/copy-text.ts";
import { toast } from "../../../ui/Toast.tsx";
import { wholeText } from "./passage.ts";
import { useTurns } from "./turns.ts";

/** For the label: `what` is copied, such as "message", and `of` whom. */
export function CopyPassages({ passages, what, of }: { passages: Passage[]; what: string; of: string }) {
  const queries = useQueryClient();
  const { trace } = useTurns();
  const copy = async () => {
    try {
      const texts = await Promise.all(passages.map(passage => wholeText(queries, trace.id, passage)));
      await copyText(texts.join(""), what);
    } catch (error) {
      toast(failureOf(error).message);
    }
  };
  return (
    <Button
      small
      look="plain"
      icon="copy"
      aria-label={`Copy ${what} of ${of}`}
      title={`Copy ${what}`}
      onClick={() => void copy()}
    />
  );
}
