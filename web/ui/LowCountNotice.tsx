// Notice that a judge's server counted far fewer tokens than were sent, so it may cut prompts to its context.
import type { ProjectJudge } from "../../src/http/judge/schemas.ts";
import { numberText } from "../format.ts";
import { Notice } from "./Notice.tsx";
import { RelativeTime } from "./Time.tsx";

export function LowCountNotice({ lowCount }: Pick<ProjectJudge, "lowCount">) {
  if (!lowCount) return null;
  const { at, counted, sent } = lowCount;
  return (
    <Notice tone="warn">
      <p>
        <strong>The server counted far fewer tokens than were sent; its context may be cut:</strong>{" "}
        {numberText(counted)} of about {numberText(sent)}, <RelativeTime at={at} />.
      </p>
      <p>Give the server a larger context, or choose another model; then test the connection.</p>
    </Notice>
  );
}
