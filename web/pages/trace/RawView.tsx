// The trace as the JSON that is stored: shown as far as a page bears, and whole as a file.

import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { TraceOutline } from "../../../src/http/traces/schemas.ts";
import { numberText } from "../../format.ts";
import { rawBytesMax, rawPath, rawQuery } from "../../queries/traces.ts";
import { Copy } from "../../ui/Copy.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { Notice } from "../../ui/Notice.tsx";
import { Loaded } from "../../ui/State.tsx";

export function RawView({ trace }: { trace: TraceOutline }) {
  const raw = useQuery(rawQuery(trace.id));
  const text = useMemo(() => raw.data && shownText(raw.data), [raw.data]);
  return (
    <div className="raw">
      <div className="line line-apart">
        <p className="quiet small">Exactly as it is stored.</p>
        <span className="line">
          {raw.data?.complete && text && <Copy text={text}>Copy</Copy>}
          <a className="button" href={rawPath(trace.id)} download>
            <Icon name="download" />
            Download
          </a>
        </span>
      </div>
      <Loaded query={raw}>
        {({ complete }) => (
          <>
            {!complete && (
              <Notice tone="info">
                It is too long to be shown at once: here are the first {numberText(rawBytesMax / 1000)} kB.
                The file has all of it.
              </Notice>
            )}
            <pre className="raw-text">{text}</pre>
          </>
        )}
      </Loaded>
    </div>
  );
}

/** Indented where it is all there; a part is no JSON and stays as it came. */
function shownText({ text, complete }: { text: string; complete: boolean }): string {
  return complete ? JSON.stringify(JSON.parse(text), null, 2) : text;
}
