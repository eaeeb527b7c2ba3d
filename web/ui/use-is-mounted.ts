// Whether a component is still shown, for what follows a request that outlives the page.
import { useCallback, useEffect, useRef } from "react";

/** Returns a function that stays the same. */
export function useIsMounted(): () => boolean {
  const isMounted = useRef(false);
  useEffect(() => {
    isMounted.current = true;
    return () => {
      isMounted.current = false;
    };
  }, []);
  return useCallback(() => isMounted.current, []);
}
