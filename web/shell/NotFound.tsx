// For an address that leads nowhere, or to what belongs to somebody else.
import { Link } from "@tanstack/react-router";
import { EmptyState } from "../ui/State.tsx";
import { Title } from "../ui/Title.tsx";

export function NotFound() {
  return (
    <>
      <Title text="Not found" />
      <EmptyState icon="search" title="There is nothing here" whole>
        <p className="quiet">It was deleted, belongs to another account, or never was.</p>
        <Link to="/" className="button">
          Go to the agents
        </Link>
      </EmptyState>
    </>
  );
}
