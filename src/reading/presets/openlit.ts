// OpenLIT: the standard attributes since 1.36, with the values of tools as Python text; before, events with one text for all messages.
import { takeApartParts } from "../span/message-parts.ts";
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
  mend: {
    asked: asked => {
      const text = asked?.attribute === "gen_ai.content.prompt" ? asked.value[0]?.pieces[0] : undefined;
      const spoken = text?.kind === "text" && asked!.value.length === 1 ? spokenIn(text.text) : [];
      return spoken.length > 0 ? { ...asked!, value: spoken } : asked;
    },
  },
});

/** The messages of a text that begins each with its role; none if the text does not. */
function spokenIn(text: string) {
  if (!speaker.test(text)) return [];
  return text.split(/\n(?=(?:system|developer|user|assistant|tool): )/).map(line => {
    const [, role] = speaker.exec(line)!;
    return takeApartParts(role!, line.slice(role!.length + 2), []);
  });
}

const speaker = /^(system|developer|user|assistant|tool): /;
