// Test cases.
import { Page } from "../ui/Page.tsx";

export function TestsPage() {
  return <Page title="Test cases">{null}</Page>;
}
