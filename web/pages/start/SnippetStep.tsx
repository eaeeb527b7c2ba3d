// A complete snippet that sends a first trace without a framework.
import { useState } from "react";
import { CodeFigure } from "./CodeFigure.tsx";
import { type Given, type SnippetName, snippets } from "./snippets.ts";

type SnippetStepProps = {
  sender: string;
  target: Omit<Given, "endMs">;
  onCopied: () => void;
};

export function SnippetStep({ sender, target, onCopied }: SnippetStepProps) {
  const { before, text, after } = snippets[sender as SnippetName];
  const [endMs] = useState(Date.now);
  const given = { ...target, endMs };
  return (
    <>
      <p className="small break">
        {sender === "curl" || sender === "collector" ? before : <code>{before}</code>}
      </p>
      <CodeFigure text={text(given)} onCopied={onCopied} />
      {after && (
        <p className="small">
          {after.label}: <code className="start-name">{after.text(given)}</code>
        </p>
      )}
    </>
  );
}
