// Test cases in a browser: their list, files, results and the editor.
import "./list.ts";
import "./changes.ts";
import "./files.ts";
import "./results.ts";
import "./editor.ts";
import "./editor-backtest.ts";
import "./editor-criteria.ts";
import "./editor-inputs.ts";
import "./editor-scenario.ts";
import "./editor-traces.ts";
