// A component whose code is loaded on first use. If that fails, the page stays, and the next use tries again.
import { type ComponentType, type ReactNode, useEffect, useRef, useState } from "react";
import { toast } from "./Toast.tsx";

type Load<Props> = () => Promise<{ default: ComponentType<Props> }>;

/** Unlike React's `lazy`, which keeps a failure and makes the whole page fail with it. */
export function lazyPart<Props extends object>(
  load: Load<Props>,
  onFailure: (props: Props) => void,
  standIn: (props: Props) => ReactNode = () => null,
): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined;
  return function LazyPart(props: Props) {
    const [Part, setPart] = useState(() => loaded);
    const latest = useRef(props);
    useEffect(() => {
      latest.current = props;
    });
    useEffect(() => {
      if (Part) return;
      let isShown = true;
      load().then(
        module => {
          loaded = module.default;
          setPart(() => module.default);
        },
        () => {
          if (isShown) onFailure(latest.current);
        },
      );
      return () => {
        isShown = false;
      };
    }, [Part]);
    return Part ? <Part {...props} /> : standIn(props);
  };
}

/** For code that the user asked for. */
export function toastNotLoaded(): void {
  toast("Part of this page did not load. Check your network connection, or reload the page.");
}

/** For a dialog, a menu or a popover. */
export function closeNotLoaded({ onClose }: { onClose: () => void }): void {
  toastNotLoaded();
  onClose();
}
