// Trace.
import { Page } from "../ui/Page.tsx";

export function TracePage() {
  return <Page title="Trace">{null}</Page>;
}
