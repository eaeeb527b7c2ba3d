// What the judge may see of traces.
import { Choices } from "../../ui/Field.tsx";
import type { DraftPrivacy } from "./draft.ts";
import { ruleChoices, withAll } from "./words.ts";

type JudgeSectionProps = {
  draft: DraftPrivacy;
  faults: ReadonlyMap<string, string>;
  onChange: (fields: Partial<DraftPrivacy>) => void;
};

export function JudgeSection({ draft, faults, onChange }: JudgeSectionProps) {
  return (
    <section className="card stack" aria-labelledby="privacy-judge">
      <div className="stack-tight">
        <h2 id="privacy-judge">What the judge sees</h2>
        <p className="quiet">
          The judge is a language model, usually of a provider. It can be sent less than is stored. A check
          that cannot be decided then is skipped, and says so.
        </p>
      </div>
      <Choices
        name="judgeRules"
        label="Redact what the judge is sent"
        many
        choices={ruleChoices}
        chosen={draft.judgeRules}
        onChoose={next => onChange({ judgeRules: withAll(next) })}
        fault={faults.get("judgeRules")}
      />
      <label className="choice">
        <input
          type="checkbox"
          checked={draft.judgeSeesToolResults}
          onChange={({ target }) => onChange({ judgeSeesToolResults: target.checked })}
        />
        <span>The judge sees what tools returned</span>
      </label>
    </section>
  );
}
