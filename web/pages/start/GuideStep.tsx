// The lines that make an agent of one framework send its traces here, and how they are read.
import type { Agent } from "../../../src/model/agent/agent.ts";
import { useConventionTitles } from "../../forms/ReadIt.tsx";
import { CodeFigure } from "./CodeFigure.tsx";
import { fileName, type Guide, programText, ranWith, shellText, type Target } from "./guides/guide.ts";

type GuideStepProps = { guide: Guide; agent: Agent; target: Target; onCopied: () => void };

export function GuideStep({ guide, agent, target, onCopied }: GuideStepProps) {
  const { setup, example, note, notRun } = guide;
  const file = fileName(guide);
  const versions = ranWith(guide);
  return (
    <>
      <CodeFigure title="In your shell" text={shellText(guide, target)} onCopied={onCopied} />
      <CodeFigure
        title={file ? "At the start of your agent" : "In your project"}
        text={setup}
        onCopied={onCopied}
      />
      {note && <p className="small">{note}</p>}
      <p className="small">
        <HowRead guide={guide} agent={agent} />
      </p>
      {example && file && (
        <details className="start-example">
          <summary>Complete example with conversation and user</summary>
          <div className="stack">
            <CodeFigure title={file} text={programText(guide)} onCopied={onCopied} />
            <p className="small">
              Then run:{" "}
              <code>
                {guide.language === "Python" ? "python" : "node"} {file}
              </code>
            </p>
          </div>
        </details>
      )}
      <p className="small quiet break">
        {versions ? `Our tests run this example with ${versions}.` : `Not run by our tests: ${notRun}.`}
      </p>
    </>
  );
}

function HowRead({ guide: { convention }, agent: { id, conventions } }: { guide: Guide; agent: Agent }) {
  const titleOf = useConventionTitles(id, convention !== null);
  if (convention === null) return "Checks read these spans as they are.";
  const title = titleOf(convention);
  return conventions.includes("*") || conventions.includes(convention)
    ? `This agent reads the ${title} convention.`
    : `The spans are written in the ${title} convention. When the first trace arrives, press Read it beside it.`;
}
