// Until when a secret is good: for some days, for ever with a warning, or what else its form offers.
import { useId } from "react";
import { Notice } from "../ui/Notice.tsx";

const days = ["7", "30", "60", "90", "180", "365"];

/** What a form begins with, in days. */
export const usualExpiry = "90";

type ExpiryFieldProps = {
  /** A number of days, "never", or another's value. */
  value: string;
  onChange: (value: string) => void;
  others?: { value: string; label: string }[];
  /** What whoever finds it can do, as a sentence without its end. */
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
          {risk} until it is revoked. One with an end is safer.
        </Notice>
      )}
    </>
  );
}

/** As the API takes it, but for what the form itself offers. */
export function expiryOf(value: string): object {
  return value === "never" ? { neverExpires: true } : { expiresInDays: Number(value) };
}
