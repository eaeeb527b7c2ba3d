// The paths of a rejected request's invalid fields, without their values.

export function Paths({ paths }: { paths: string[] }) {
  return paths.map((path, at) => (
    <span key={path}>
      {at > 0 && ", "}
      <code className="break">{path}</code>
    </span>
  ));
}
