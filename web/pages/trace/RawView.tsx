// The trace as stored JSON: shown up to a size limit, and complete as a download.
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
        <p className="quiet small">Exactly as stored</p>
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
                Only the first {numberText(rawBytesMax / 1000)} kB are shown. Download the file for the rest.
              </Notice>
            )}
            <pre className="raw-text">{text}</pre>
          </>
        )}
      </Loaded>
    </div>
  );
}

/** Indented if complete. A part is not valid JSON and stays as received. */
function shownText({ text, complete }: { text: string; complete: boolean }): string {
  return complete ? JSON.stringify(JSON.parse(text), null, 2) : text;
}
