// A button: at most one "main" to a view, "danger" for what cannot be undone.
import { type ComponentProps, useImperativeHandle, useLayoutEffect, useRef } from "react";
import { Icon, type IconName } from "./Icon.tsx";

export type ButtonProps = Omit<ComponentProps<"button">, "disabled"> & {
  look?: "main" | "danger" | "plain" | "link";
  icon?: IconName;
  small?: boolean;
  /** At work: it keeps focus and name, and does nothing. */
  busy?: boolean;
};

/** With an icon and no children, `aria-label` must name it. */
export function Button({ ref, look, icon, small, busy, children, onClick, className, ...rest }: ButtonProps) {
  const own = useRef<HTMLButtonElement>(null);
  useImperativeHandle(ref, () => own.current!, []);
  useLayoutEffect(() => leaveFocusNear(own.current!), []);
  const names = ["button", small && "button-small", icon && children == null && "button-icon", className];
  return (
    <button
      type="button"
      ref={own}
      {...rest}
      className={names.filter(Boolean).join(" ")}
      data-look={look}
      aria-disabled={busy || undefined}
      onClick={event => {
        if (busy) event.preventDefault();
        else onClick?.(event);
      }}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** When it goes away by being pressed, or while it has the focus, that goes on to what is around it. */
function leaveFocusNear(button: HTMLButtonElement): () => void {
  // Here it still stands in the page.
  return () => {
    if (button !== document.activeElement) return;
    button.parentElement?.closest<HTMLElement>("[tabindex]")?.focus({ preventScroll: true });
  };
}
