// Makes the patterns of JSON Schemas run on the linear-time engine, for the whole thread that imports this file.
import { format } from "@cfworker/json-schema";
import { compilePattern } from "../../model/test-case/pattern.ts";
import { ecmaSpace } from "../../model/test-case/pattern-syntax.ts";

// The library has no option for another engine: it calls `new RegExp(pattern, "u").test(text)`. Its own expressions are
// literals, which this does not change. Only the sandbox's thread may import this file.
globalThis.RegExp = new Proxy(RegExp, {
  construct: (_, [source]: [string]) => ({
    test: (text: string) => compilePattern(source, "", ecmaSpace).occursIn(text),
  }),
});

// No format of JSON Schema: its expression took 1 s on 33 characters, twice as long for each further one.
delete format["url"];

// The library compiles the value, which may be any regular expression of JavaScript.
const native = Object.getPrototypeOf(/x/).constructor as typeof RegExp;
format["regex"] = value => {
  try {
    return native(value, "u") instanceof native;
  } catch {
    return false;
  }
};
