// The search field above a long text or a JSON tree, with its results announced beside it.
import { type ReactNode, useId } from "react";

type FindFieldProps = {
  /** The name of what is searched. */
  label: string;
  value: string;
  onChange: (text: string) => void;
  onEnter?: () => void;
  /** What was found. */
  status: ReactNode;
};

export function FindField({ label, value, onChange, onEnter, status }: FindFieldProps) {
  const id = useId();
  return (
    <div className="json-find">
      <label htmlFor={id} className="unseen">
        Find in {label}
      </label>
      <input
        id={id}
        type="search"
        className="input"
        placeholder="Find"
        value={value}
        onChange={({ target }) => onChange(target.value)}
        onKeyDown={({ key }) => {
          if (key === "Enter") onEnter?.();
        }}
      />
      <span role="status" className="quiet small">
        {status}
      </span>
    </div>
  );
}
