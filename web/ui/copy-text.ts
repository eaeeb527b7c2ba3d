// Copies to the clipboard and confirms with a toast.
import { toast } from "./Toast.tsx";

/** `what` names the text in the toast: "path". */
export async function copyText(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast(`Copied ${what}`);
  } catch {
    // Browsers offer no clipboard on plain HTTP from another machine.
    toast("The browser blocked copying. Select the text instead.");
  }
}
