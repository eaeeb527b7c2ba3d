// Get started.
import { Page } from "../ui/Page.tsx";

export function StartPage() {
  return <Page title="Get started">{null}</Page>;
}
