// Evaluations in a browser: of a trace, the judge and its cost.
import "./evaluation.ts";
import "./judging.ts";
import "./judge.ts";
import "./judging-costs.ts";
import "./labels.ts";
