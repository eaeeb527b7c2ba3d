// A text of a message as it was written; a cut one can be read whole.
import { useState } from "react";
import type { Passage } from "../../../../src/model/conversation-view.ts";
import { Button } from "../../../ui/Button.tsx";
import { LongText } from "../../../ui/LongText.tsx";
import { FailureNotice } from "../../../ui/Notice.tsx";
import { SpanValue } from "../span/SpanValue.tsx";
import { usePassage } from "./passage.ts";

/** Longer ones would push away what else was said. */
const shownMax = 3_000;

export function PassageText({ passage, label }: { passage: Passage; label: string }) {
  const read = usePassage(passage);
  const [unfolded, setUnfolded] = useState(false);
  const short = !unfolded && passage.length > shownMax;
  const shown = short ? read.text.slice(0, shownMax) : read.text;
  return (
    <>
      <LongText text={short || !read.whole ? `${shown}…` : shown} label={label} />
      {short ? (
        <ShowAllButton
          length={passage.length}
          onShow={() => {
            setUnfolded(true);
            if (!read.whole) read.load();
          }}
        />
      ) : (
        <ShowAll passage={passage} read={read} />
      )}
    </>
  );
}

/** One that may be JSON. */
export function PassageValue({ passage, label }: { passage: Passage; label: string }) {
  const read = usePassage(passage);
  return (
    <>
      <SpanValue
        value={read.text}
        label={label}
        whole={read.whole}
        unfolded={passage.length > passage.text.length}
      />
      <ShowAll passage={passage} read={read} />
    </>
  );
}

function ShowAll({ passage, read }: { passage: Passage; read: ReturnType<typeof usePassage> }) {
  return (
    <>
      {!read.whole && <ShowAllButton length={passage.length} busy={read.loading} onShow={read.load} />}
      <FailureNotice failure={read.failure} />
    </>
  );
}

type ShowAllButtonProps = { length: number; busy?: boolean; onShow: () => void };

function ShowAllButton({ length, busy = false, onShow }: ShowAllButtonProps) {
  return (
    <Button small look="link" busy={busy} onClick={onShow}>
      Show all ({length.toLocaleString("en")} characters)
    </Button>
  );
}
