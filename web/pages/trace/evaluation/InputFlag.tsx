// Of an input that is tried out: that it spoke to the judge, and what that means for its scenario.
import { Flag } from "./Flag.tsx";

export function InputFlag({ reason }: { reason: string }) {
  return (
    <Flag title="The user’s input looks as if it spoke to a judge." reason={reason}>
      No answer that it does not match is taken from such an input.
    </Flag>
  );
}
