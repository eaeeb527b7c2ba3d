// OpenLIT 1.36 and later: the standard attributes, with the values of tools as Python text.
import { preset } from "../span/table.ts";

export const openLit = preset({
  name: "openlit",
  title: "OpenLIT",
  writes: "OpenLIT’s instrumentations.",
  marks: [],
  signs: [{ attributes: { "gen_ai.workflow.input": ["input"], "gen_ai.workflow.output": ["reply"] } }],
  scope: /^openlit\./,
  contentSwitches: [
    {
      says: "It writes messages unless capture_message_content is off.",
      lines: ["openlit.init(capture_message_content=True)"],
    },
  ],
  input: ["gen_ai.workflow.input", "gen_ai.input.messages"],
  output: ["gen_ai.output.messages", "gen_ai.workflow.output"],
});
