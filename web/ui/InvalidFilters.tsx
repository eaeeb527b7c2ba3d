// Says which parameters of the URL the page ignores, and offers the page without any.
import { Link } from "@tanstack/react-router";
import { Notice } from "./Notice.tsx";

/** `faults`: a sentence for each such parameter. */
export function InvalidFilters({ faults }: { faults: string[] }) {
  if (faults.length === 0) return null;
  return (
    <Notice tone="warn">
      <p>Invalid filter in the URL</p>
      <ul className="break">
        {faults.map(fault => (
          <li key={fault}>{fault}</li>
        ))}
      </ul>
      <p>
        <Link to="." search={{}}>
          Clear filters
        </Link>
      </p>
    </Notice>
  );
}
