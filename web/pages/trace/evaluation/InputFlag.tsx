// Marks a tried input that seems addressed to the judge.
import { Flag } from "./Flag.tsx";

export function InputFlag({ reason }: { reason: string }) {
  return (
    <Flag title="The user’s input seems addressed to the judge." reason={reason}>
      For such inputs, “no match” is ignored.
    </Flag>
  );
}
