// Agents in a browser: their list, connection, alerts, Get started, the ingestion log and privacy.
import "./agents.ts";
import "./connection.ts";
import "./alerts.ts";
import "./start.ts";
import "./start-live.ts";
import "./start-snippets.ts";
import "./ingestion.ts";
import "./privacy.ts";
import "./saved-elsewhere.ts";
import "./unsaved-settings.ts";
