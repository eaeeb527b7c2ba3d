// For a trace with neither an input nor a reply: which settings make its SDKs write them.
import type { TraceOutline } from "../../src/http/traces/schemas.ts";
import { Copy } from "../ui/Copy.tsx";
import { Notice } from "../ui/Notice.tsx";
import { MessagesInLogs } from "./MessagesInLogs.tsx";

type ContentOffProps = {
  trace: Pick<TraceOutline, "contentSwitches" | "conventions">;
  /** What follows from it, as the end of a sentence. */
  effect?: string;
};

export function ContentOff({ trace: { contentSwitches, conventions }, effect = "" }: ContentOffProps) {
  return (
    <Notice tone="info">
      <div className="stack-tight">
        <p>
          <b>This trace has no user input and no reply</b>
          {effect}.
        </p>
        {contentSwitches.map(({ writtenBy, text, lines, logRecords }) => (
          <div key={writtenBy} className="stack-tight">
            <p>
              Written by <b>{writtenBy}</b>. {text}
              {logRecords && <MessagesInLogs hasConventions={conventions.length > 0} />}
            </p>
            {lines.length > 0 && (
              <div className="line">
                <code className="break lines">{lines.join("\n")}</code>
                <Copy small text={lines.join("\n")}>
                  Copy
                </Copy>
              </div>
            )}
          </div>
        ))}
      </div>
    </Notice>
  );
}
