// Client-side navigation for links with a composed URL, without reloading the page.
import { useNavigate } from "@tanstack/react-router";
import { type RefCallback, useCallback } from "react";

/** A `ref` for a link or an element with links. Clicks with modifier keys are left to the browser. */
export function useFollow(): RefCallback<Element> {
  const navigate = useNavigate();
  return useCallback(
    root => {
      if (!root) return;
      const onClick = (event: Event) => {
        const { target, button, metaKey, ctrlKey, shiftKey, altKey } = event as MouseEvent;
        const href = target instanceof Element && target.closest("a")?.getAttribute("href");
        if (!href || event.defaultPrevented || button !== 0 || metaKey || ctrlKey || shiftKey || altKey)
          return;
        event.preventDefault();
        void navigate({ href });
      };
      root.addEventListener("click", onClick);
      return () => root.removeEventListener("click", onClick);
    },
    [navigate],
  );
}
