// Hook for media queries, for what CSS alone cannot do.
import { useSyncExternalStore } from "react";

/** `query` as in CSS: "(max-width: 767px)". */
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
