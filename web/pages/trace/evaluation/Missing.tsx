// Missing instrumentation: which attribute, where it was looked for, and the lines of code that add it.
import { useState } from "react";
import type { Assertion } from "../../../../src/model/assertion.ts";
import type { Check } from "../../../../src/model/run.ts";
import { Button } from "../../../ui/Button.tsx";
import { Copy } from "../../../ui/Copy.tsx";
import { useTrace } from "./context.ts";
import { type Language, languages, missingAttributes, snippetOf, whereLooked } from "./instrumentation.ts";
import { Facts } from "./Value.tsx";

export function Missing({ check, assertion }: { check: Check; assertion: Assertion }) {
  const { trace } = useTrace();
  const [language, setLanguage] = useState<Language>(trace.path === "otlp" ? "JavaScript" : "JSON");
  const attributes = missingAttributes(check);
  const snippet = snippetOf(language, assertion, attributes);
  return (
    <>
      <Facts
        facts={[
          ["Missing", attributes.length > 0 && <Attributes attributes={attributes} />],
          ["Looked for", whereLooked(assertion)],
        ]}
      />
      <div className="snippet">
        <div className="line line-apart">
          {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms. */}
          <div className="line" role="group" aria-label="Language of the example">
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
          <Copy text={snippet}>Copy</Copy>
        </div>
        <pre>{snippet}</pre>
      </div>
    </>
  );
}

function Attributes({ attributes }: { attributes: string[] }) {
  return (
    <span className="names">
      {attributes.map(attribute => (
        <code key={attribute}>{attribute}</code>
      ))}
    </span>
  );
}
