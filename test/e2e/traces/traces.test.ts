// Traces in a browser: their list, the page of one, its spans, and hostile texts on every screen.
import "./traces.ts";
import "./filters.ts";
import "./display.ts";
import "./selection.ts";
import "./outages.ts";
import "./result-states.ts";
import "./trace.ts";
import "./content.ts";
import "./redaction.ts";
import "./redacted-words.ts";
import "./conventions.ts";
import "./conversations.ts";
import "./trace-tree.ts";
import "./span.ts";
import "./hostile.ts";
