// The button: use at most one "main" per view, and "danger" for actions that cannot be undone.
import { type ComponentProps, useImperativeHandle, useLayoutEffect, useRef } from "react";
import { Icon } from "./Icon.tsx";
import type { IconName } from "./icons.ts";

export type ButtonProps = Omit<ComponentProps<"button">, "disabled"> & {
  look?: "main" | "danger" | "plain" | "link";
  icon?: IconName;
  small?: boolean;
  /** While busy it keeps focus and name, and ignores clicks. */
  busy?: boolean;
};

/** With an icon and no children, `aria-label` must name it. */
export function Button({ ref, look, icon, small, busy, children, onClick, className, ...rest }: ButtonProps) {
  const own = useRef<HTMLButtonElement>(null);
  useImperativeHandle(ref, () => own.current!, []);
  useLayoutEffect(() => keepFocusNear(own.current!), []);
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

/** When a focused button is removed, moves the focus to its nearest focusable ancestor. */
function keepFocusNear(button: HTMLButtonElement): () => void {
  // A layout effect's cleanup runs while the button is still in the page.
  return () => {
    if (button !== document.activeElement) return;
    button.parentElement?.closest<HTMLElement>("[tabindex]")?.focus({ preventScroll: true });
  };
}
