// A code example for instrumentation, in JavaScript, Python or JSON.
import { useState } from "react";
import { Button } from "../../ui/Button.tsx";
import { Copy } from "../../ui/Copy.tsx";

export const languages = ["JavaScript", "Python", "JSON"] as const;
export type Language = (typeof languages)[number];

type SnippetProps = {
  lines: Record<Language, string>;
  /** Decides the first language: OTLP is sent by programs, the canonical form is written as JSON. */
  path: "otlp" | "canonical";
};

export function Snippet({ lines, path }: SnippetProps) {
  const [language, setLanguage] = useState<Language>(path === "otlp" ? "JavaScript" : "JSON");
  return (
    <div className="snippet">
      <div className="line line-apart">
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms. */}
        <div className="line" role="group" aria-label="Example language">
          {languages.map(name => (
            <Button
              key={name}
              small
              look="plain"
              aria-pressed={name === language}
              onClick={() => setLanguage(name)}
            >
              {name}
            </Button>
          ))}
        </div>
        <Copy text={lines[language]} small>
          Copy
        </Copy>
      </div>
      <pre>{lines[language]}</pre>
    </div>
  );
}
