// Content of the command palette: type a few letters to find a page, an agent, a test, a trace or an action.
import { Autocomplete } from "@base-ui/react/autocomplete";
import type { ComponentProps } from "react";
import type { Project } from "../../src/http/projects/schemas.ts";
import { counted } from "../labels.ts";
import { persistedChoice } from "../persisted-choice.ts";
import { Icon } from "../ui/Icon.tsx";
import { TraceText } from "../ui/TraceText.tsx";
import { type Command, useCommands, useTraceCommand } from "./palette-commands.ts";
import { rank, withUsed } from "./palette-rank.ts";

const shownMax = 50;

/** The ids of used commands, the latest first. One a line. */
const recent = persistedChoice<string>("palette-recent", "", () => true);

type PaletteProps = {
  project: Project | undefined;
  text: string;
  onText: (text: string) => void;
  /** Of the search field. */
  input: ComponentProps<"input">;
  onClose: () => void;
  onHelp: () => void;
};

export default function Palette({ project, text, onText, input, onClose, onHelp }: PaletteProps) {
  const commands = useCommands(project, onHelp);
  const used = recent.use().split("\n");
  const { command: trace, isSearching } = useTraceCommand(text);
  const found = [...(trace ? [trace] : []), ...rank(commands, text, used)];
  return (
    <>
      <Autocomplete.Root
        inline
        open
        items={found.slice(0, shownMax)}
        filter={null}
        itemToStringValue={({ label }) => label}
        value={text}
        onValueChange={(next, { reason }) => {
          if (reason === "input-change") onText(next);
        }}
        autoHighlight="always"
        keepHighlight
      >
        <Autocomplete.Input {...input} />
        <Autocomplete.List aria-label="Pages and actions" className="palette-list">
          {(command: Command) => (
            <Autocomplete.Item
              key={command.id}
              value={command}
              className="menu-item"
              onClick={() => {
                onClose();
                recent.set(withUsed(used, command.id).join("\n"));
                command.run();
              }}
            >
              <Icon name={command.icon} />
              <span>
                <TraceText text={command.label} />
              </span>
            </Autocomplete.Item>
          )}
        </Autocomplete.List>
      </Autocomplete.Root>
      <p role="status" className={found.length === 0 || found.length > shownMax ? "quiet small" : "unseen"}>
        {found.length === 0 && isSearching ? "Searching" : resultText(found.length)}
      </p>
    </>
  );
}

function resultText(count: number): string {
  if (count === 0) return "No results";
  return count > shownMax
    ? `Showing ${shownMax} of ${count}. Type more to narrow the list.`
    : counted(count, "result");
}
