// An icon. Use it next to text or on a button with an accessible name.
import { type IconName, iconPaths } from "./icons.ts";

export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={iconPaths[name]} />
    </svg>
  );
}
