// Insights.
import { Page } from "../ui/Page.tsx";

export function InsightsPage() {
  return <Page title="Insights">{null}</Page>;
}
