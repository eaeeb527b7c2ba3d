// The five steps of Get started with their state, each linked to its section.
import { Icon } from "../../ui/Icon.tsx";

export const steps = [
  { id: "start-agent", title: "Agent" },
  { id: "start-key", title: "API key" },
  { id: "start-send", title: "Send a trace" },
  { id: "start-test", title: "First test" },
  { id: "start-verdict", title: "First verdict" },
] as const;

export type StepId = (typeof steps)[number]["id"];

/** The first step that is not done is the next one. */
export function Steps({ done }: { done: Record<StepId, boolean> }) {
  const next = steps.find(({ id }) => !done[id]);
  return (
    <ol className="start-steps" aria-label="Steps">
      {steps.map(({ id, title }, at) => {
        const state = done[id] ? "done" : id === next?.id ? "next" : "later";
        return (
          <li key={id} data-state={state} aria-current={state === "next" ? "step" : undefined}>
            <a href={`#${id}`}>
              <Icon name={state === "done" ? "check" : "none"} />
              <span>
                {at + 1}. {title}
              </span>
              <span className="small quiet">{words[state]}</span>
            </a>
          </li>
        );
      })}
    </ol>
  );
}

const words = { done: "Done", next: "Next", later: "Later" };
