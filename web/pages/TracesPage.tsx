// Traces.
import { Page } from "../ui/Page.tsx";

export function TracesPage() {
  return <Page title="Traces">{null}</Page>;
}
