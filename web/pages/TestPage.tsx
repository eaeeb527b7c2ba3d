// Test case.
import { Page } from "../ui/Page.tsx";

export function TestPage() {
  return <Page title="Test case">{null}</Page>;
}
