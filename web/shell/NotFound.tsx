// "Not found" page, also shown for things that belong to another account.
import { Link } from "@tanstack/react-router";
import { EmptyState } from "../ui/State.tsx";
import { Title } from "../ui/Title.tsx";

export function NotFound() {
  return (
    <>
      <Title text="Not found" />
      <EmptyState icon="search" title="Not found" whole>
        <p className="quiet">It may have been deleted, or it belongs to another account.</p>
        <Link to="/" className="button">
          Go to agents
        </Link>
      </EmptyState>
    </>
  );
}
