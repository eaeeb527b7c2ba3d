// A text of a message as it was written; a cut one can be read whole.
import type { Passage } from "../../../../src/model/conversation-view.ts";
import { Button } from "../../../ui/Button.tsx";
import { LongText } from "../../../ui/LongText.tsx";
import { FailureNotice } from "../../../ui/Notice.tsx";
import { SpanValue } from "../span/SpanValue.tsx";
import { usePassage } from "./passage.ts";

export function PassageText({ passage, label }: { passage: Passage; label: string }) {
  const read = usePassage(passage);
  return (
    <>
      <LongText text={read.whole ? read.text : `${read.text}…`} label={label} />
      <ShowAll passage={passage} read={read} />
    </>
  );
}

/** One that may be JSON. */
export function PassageValue({ passage, label }: { passage: Passage; label: string }) {
  const read = usePassage(passage);
  return (
    <>
      <SpanValue value={read.text} label={label} whole={read.whole} />
      <ShowAll passage={passage} read={read} />
    </>
  );
}

function ShowAll({ passage, read }: { passage: Passage; read: ReturnType<typeof usePassage> }) {
  return (
    <>
      {!read.whole && (
        <Button small look="link" busy={read.loading} onClick={read.load}>
          Show all ({passage.length.toLocaleString("en")} characters)
        </Button>
      )}
      <FailureNotice failure={read.failure} />
    </>
  );
}
