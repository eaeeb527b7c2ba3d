// Agents in a browser: their list, connection, Get started and the ingestion log.
import "./agents.ts";
import "./connection.ts";
import "./start.ts";
import "./start-live.ts";
import "./start-snippets.ts";
import "./ingestion.ts";
