// A scrollable list of names.

/** `label` is the accessible name of the list. */
export function NameList({ label, names }: { label: string; names: readonly string[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
    <ul className="choices-boxed name-list" aria-label={label} tabIndex={0}>
      {names.map((name, index) => (
        <li key={index}>{name}</li>
      ))}
    </ul>
  );
}
