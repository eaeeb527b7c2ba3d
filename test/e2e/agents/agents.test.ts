// Agents in a browser: their list, connection, alerts, Get started and the ingestion log.
import "./agents.ts";
import "./connection.ts";
import "./alerts.ts";
import "./start.ts";
import "./start-live.ts";
import "./start-snippets.ts";
import "./ingestion.ts";
