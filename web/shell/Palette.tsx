// Command palette: type a few letters to find a page, an agent, a test, a trace or an action.
import { Autocomplete } from "@base-ui/react/autocomplete";
import { useState } from "react";
import type { Project } from "../../src/model/project.ts";
import { counted } from "../labels.ts";
import { persistedChoice } from "../persisted-choice.ts";
import { plainText } from "../redaction-marks.ts";
import { Dialog } from "../ui/Dialog.tsx";
import { Icon } from "../ui/Icon.tsx";
import { RedactedText } from "../ui/RedactedText.tsx";
import { type Command, useCommands, useTraceCommand } from "./palette-commands.ts";
import { rank, withUsed } from "./palette-rank.ts";

const shownMax = 50;

/** The ids of used commands, the latest first. One a line. */
const recent = persistedChoice<string>("palette-recent", "", () => true);

type PaletteProps = { project: Project | undefined; onClose: () => void; onHelp: () => void };

export default function Palette({ project, onClose, onHelp }: PaletteProps) {
  const commands = useCommands(project, onHelp);
  const [text, setText] = useState("");
  const used = recent.use().split("\n");
  const { command: trace, isSearching } = useTraceCommand(text);
  const found = [...(trace ? [trace] : []), ...rank(commands, text, used)];
  return (
    <Dialog title="Go to…" onClose={onClose}>
      <Autocomplete.Root
        inline
        open
        items={found.slice(0, shownMax)}
        filter={null}
        itemToStringValue={({ label }) => plainText(label)}
        value={text}
        onValueChange={(next, { reason }) => {
          if (reason === "input-change") setText(next);
        }}
        autoHighlight="always"
        keepHighlight
      >
        <Autocomplete.Input
          className="input"
          aria-label="Search pages and actions"
          placeholder="A page, agent, test, trace ID or action"
        />
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
                <RedactedText text={command.label} />
              </span>
            </Autocomplete.Item>
          )}
        </Autocomplete.List>
      </Autocomplete.Root>
      <p role="status" className={found.length === 0 || found.length > shownMax ? "quiet small" : "unseen"}>
        {found.length === 0 && isSearching ? "Searching" : resultText(found.length)}
      </p>
    </Dialog>
  );
}

function resultText(count: number): string {
  if (count === 0) return "No results";
  return count > shownMax
    ? `Showing ${shownMax} of ${count}. Type more to narrow the list.`
    : counted(count, "result");
}
