// A test case as a form: sections that say in one line what they contain, and open into fields.

import { Link } from "@tanstack/react-router";
import type { PassiveBehavior } from "../../../src/model/test-case/document.ts";
import { passiveBehaviors } from "../../labels.ts";
import { Button } from "../../ui/Button.tsx";
import { Choices } from "../../ui/Field.tsx";
import { Assertions } from "./Assertions.tsx";
import type { Doc, Editing } from "./document.ts";
import { useEditorContext, useFaultOf } from "./editor-context.ts";
import { TextBlock, TextLine } from "./fields.tsx";
import { NoJudgeNotice } from "./NoJudgeNotice.tsx";
import { Section } from "./Section.tsx";
import { TurnsSection } from "./Turns.tsx";

const behaviors = Object.entries(passiveBehaviors).map(([value, { text, about }]) => ({
  value: value as PassiveBehavior,
  label: text,
  note: about,
}));

type FormProps = {
  projectId: string;
  agentId: string;
  editing: Editing;
  /** Whether the user's message is asked for; undefined until that is known. */
  asks: boolean | undefined;
  /** Opens the scenario trial, which shows its cost first. */
  onTryScenario: () => void;
};

export function Form({ projectId, agentId, editing, asks, onTryScenario }: FormProps) {
  const { change } = useEditorContext();
  const { document } = editing;
  const bound = (name: string) => ({
    path: name,
    value: document[name],
    onValue: (value: unknown) => change({ kind: "field", name, value }),
  });
  return (
    <div className="stack editor-form">
      <Section name="name" title="Name" line={textLine(document["name"], "No name yet")}>
        <TextLine label="Name" {...bound("name")} />
      </Section>
      <WhenSection projectId={projectId} document={document} />
      <Section
        name="scenario"
        title="Scenario"
        line={textLine(document["scenario"], "No scenario. Only “Run when relevant” needs one.")}
      >
        <TextBlock
          label="Scenario"
          hint="The situation in plain words. The judge uses it to decide which traces this test applies to."
          {...bound("scenario")}
        />
        {typeof document["scenario"] === "string" && /\S/.test(document["scenario"]) && (
          <div className="line">
            <Button small icon="search" onClick={onTryScenario}>
              Try on recent inputs
            </Button>
          </div>
        )}
      </Section>
      {asks && <TurnsSection agentId={agentId} document={document} />}
      <Assertions projectId={projectId} editing={editing} />
      {asks === false && (
        <p className="quiet small">
          This agent has no connection, so its tests cannot be run manually.{" "}
          <Link to="/projects/$projectId/agents/$agentId/settings" params={{ projectId, agentId }}>
            Set up the connection
          </Link>
        </p>
      )}
    </div>
  );
}

function textLine(value: unknown, empty: string) {
  return typeof value === "string" && /\S/.test(value) ? (
    <bdi>{value}</bdi>
  ) : (
    <span className="quiet">{empty}</span>
  );
}

function WhenSection({ projectId, document }: { projectId: string; document: Doc }) {
  const { change } = useEditorContext();
  const { fault } = useFaultOf("passiveBehavior", {});
  const chosen = (document["passiveBehavior"] ?? "run_when_relevant") as PassiveBehavior;
  const choose = (value: PassiveBehavior) => change({ kind: "field", name: "passiveBehavior", value });
  const known = Object.hasOwn(passiveBehaviors, chosen) ? passiveBehaviors[chosen] : undefined;
  return (
    <Section
      name="when"
      title="When it runs"
      line={
        known && (
          <>
            {known.text} <span className="quiet">{known.about}</span>
          </>
        )
      }
      notice={
        <NoJudgeNotice
          projectId={projectId}
          document={document}
          about="scenario"
          onAlwaysRun={() => choose("always_run")}
        />
      }
    >
      <div data-path="passiveBehavior">
        <Choices
          name="passiveBehavior"
          label="Passive behavior"
          choices={behaviors}
          chosen={[chosen]}
          onChoose={([one]) => choose(one!)}
          fault={fault}
        />
      </div>
    </Section>
  );
}
