// The fields that the user has left at least once: before that, an empty field shows no error.
import { useEffect, useRef, useState } from "react";

/**
 * While a pointer is pressed, the field that it takes the focus from waits until the click has arrived: an error appears
 * below that field, and what is clicked would move away.
 */
export function useVisited() {
  const [visited, setVisited] = useState<ReadonlySet<string>>(new Set());
  const pressed = useRef(false);
  const waiting = useRef<string[]>([]);
  useEffect(() => {
    const press = () => {
      pressed.current = true;
    };
    const release = () => {
      pressed.current = false;
      const paths = waiting.current.splice(0);
      if (paths.length > 0) setVisited(visited => new Set([...visited, ...paths]));
    };
    // The click follows in the same task.
    const releaseLater = () => setTimeout(release);
    addEventListener("pointerdown", press, true);
    addEventListener("pointerup", releaseLater, true);
    addEventListener("pointercancel", releaseLater, true);
    return () => {
      removeEventListener("pointerdown", press, true);
      removeEventListener("pointerup", releaseLater, true);
      removeEventListener("pointercancel", releaseLater, true);
    };
  }, []);
  const visit = ({ target }: { target: Element }) => {
    const path = target instanceof HTMLElement ? target.dataset["path"] : undefined;
    if (path === undefined || visited.has(path)) return;
    if (pressed.current) waiting.current.push(path);
    else setVisited(visited => new Set([...visited, path]));
  };
  return { visited, visit };
}
