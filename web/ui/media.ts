// What the window is like at the moment, for the little that styles alone cannot say.
import { useSyncExternalStore } from "react";

/** `query` as in styles: "(max-width: 767px)". */
export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    listener => {
      const media = matchMedia(query);
      media.addEventListener("change", listener);
      return () => media.removeEventListener("change", listener);
    },
    () => matchMedia(query).matches,
  );
}
