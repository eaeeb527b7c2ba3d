// Copying to the clipboard where the success is said at the edge of the page.
import { toast } from "./Toast.tsx";

/** `what` is copied, in a word: "path". Says so, or why not. */
export async function copyText(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast(`Copied the ${what}.`);
  } catch {
    // Over plain HTTP from another machine browsers offer no clipboard.
    toast("This browser does not allow copying here: select the text instead.");
  }
}
