// Insights and manual runs in a browser.
import "./insights.ts";
import "./overview.ts";
import "./ranking.ts";
import "./runs.ts";
