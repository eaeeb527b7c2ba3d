// Expiry of a key or token: a number of days, never (with a warning), or options of the form itself.
import { useId } from "react";
import { Notice } from "../ui/Notice.tsx";

const days = ["7", "30", "60", "90", "180", "365"];

/** In days. */
export const defaultExpiry = "90";

type ExpiryFieldProps = {
  /** A number of days, "never", or the value of one of `others`. */
  value: string;
  onChange: (value: string) => void;
  others?: { value: string; label: string }[];
  /** What anyone who has the secret can do; continues with "until you revoke it". */
  risk: string;
};

export function ExpiryField({ value, onChange, others = [], risk }: ExpiryFieldProps) {
  const id = useId();
  return (
    <>
      <div className="field">
        <label htmlFor={id}>Expires</label>
        <select id={id} className="input" value={value} onChange={({ target }) => onChange(target.value)}>
          {days.map(count => (
            <option key={count} value={count}>
              {count} days
            </option>
          ))}
          {others.map(other => (
            <option key={other.value} value={other.value}>
              {other.label}
            </option>
          ))}
          <option value="never">Never</option>
        </select>
      </div>
      {value === "never" && (
        <Notice tone="warn" role="status">
          {risk} until you revoke it. An expiry date is safer.
        </Notice>
      )}
    </>
  );
}

/** The value as the API expects it; options of the form itself are not handled here. */
export function expiryOf(value: string): object {
  return value === "never" ? { neverExpires: true } : { expiresInDays: Number(value) };
}
