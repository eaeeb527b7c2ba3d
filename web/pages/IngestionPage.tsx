// The ingestion log.
import { Page } from "../ui/Page.tsx";

export function IngestionPage() {
  return <Page title="Ingestion log">{null}</Page>;
}
