// The refusal of who gave a password that was right when it was verified, and is not any more.
import { Refusal } from "../../model/refusal.ts";

export function passwordChanged(): Refusal {
  return new Refusal("UNAUTHORIZED", {
    message: "The password was changed.",
    hint: "Sign in with the new one.",
  });
}
