// Following links whose address is put together, without loading the page anew.
import { useNavigate } from "@tanstack/react-router";
import { type MouseEvent, useCallback } from "react";

/** For `onClick` of a link, or of what holds links; what opens another tab is left to the browser. */
export function useFollow(): (event: MouseEvent) => void {
  const navigate = useNavigate();
  return useCallback(
    event => {
      const link = event.target instanceof Element ? event.target.closest("a") : null;
      const href = link?.getAttribute("href");
      if (!href || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey)
        return;
      event.preventDefault();
      void navigate({ href });
    },
    [navigate],
  );
}
