// A button: at most one "main" to a view, "danger" for what cannot be undone.
import type { ComponentProps } from "react";
import { Icon, type IconName } from "./Icon.tsx";

export type ButtonProps = Omit<ComponentProps<"button">, "disabled"> & {
  look?: "main" | "danger" | "plain" | "link";
  icon?: IconName;
  small?: boolean;
  /** At work: it keeps focus and name, and does nothing. */
  busy?: boolean;
};

/** With an icon and no children, `aria-label` must name it. */
export function Button({ look, icon, small, busy, children, onClick, className, ...rest }: ButtonProps) {
  const names = ["button", small && "button-small", icon && children == null && "button-icon", className];
  return (
    <button
      type="button"
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
