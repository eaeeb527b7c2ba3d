// Notice that part of the judge's token usage is estimated.
import { numberText } from "../format.ts";
import { Notice } from "./Notice.tsx";

export function EstimatedNotice({ tokens }: { tokens: number }) {
  return (
    <Notice tone="info">
      <p>
        {numberText(Math.round(tokens))} tokens are estimated, because the judge’s server reported no usage.
        They count toward cost and budget.
      </p>
    </Notice>
  );
}
