// The search field of the dialogs that list past traces.
import { Field } from "../../ui/Field.tsx";

/** The API's limit. */
const textMax = 200;

type TraceSearchProps = { hint: string; value: string; onChange: (text: string) => void };

export function TraceSearch({ hint, value, onChange }: TraceSearchProps) {
  return (
    <Field
      label="Search"
      name="text"
      type="search"
      hint={hint}
      value={value}
      maxLength={textMax}
      onChange={({ target }) => onChange(target.value)}
      autoComplete="off"
    />
  );
}

export function NoMatchingTraces() {
  return (
    <p className="quiet" role="status">
      No matching traces. Try another search.
    </p>
  );
}
