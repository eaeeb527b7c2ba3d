// Grouping, time range, interval and view of the insights. Every choice is a link.
import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import type { Insights } from "../../../src/http/projects/insights-schemas.ts";
import { Button } from "../../ui/Button.tsx";
import { Field } from "../../ui/Field.tsx";
import {
  bys,
  forms,
  hasChoice,
  intervals,
  isWholeAgent,
  rangeFault,
  ranges,
  type Search,
  type View,
} from "./view.ts";

type Params = { projectId: string; agentId: string };
type ControlsProps = { view: View; search: Search; params: Params; insights: Insights | undefined };

export function Controls({ view, search, params, insights }: ControlsProps) {
  const choices = { params, search };
  // A custom range starts with the range shown.
  const custom = insights && view.range !== "custom" ? { from: insights.from, to: insights.to } : {};
  const rangeOf = (range: string): Search =>
    range === "custom"
      ? { range, ...custom }
      : { range, from: undefined, to: undefined, interval: undefined };
  const ranked = !isWholeAgent(view.by) && !(view.by === "test" && view.testId);
  return (
    <div className="controls">
      <Choice
        {...choices}
        label="Group by"
        of={bys}
        chosen={view.by}
        to={by => ({ by, testId: undefined })}
      />
      <Choice {...choices} label="Time range" of={ranges} chosen={view.range} to={rangeOf} />
      {hasChoice(view) && (
        <Choice
          {...choices}
          label="Interval"
          of={intervals}
          chosen={view.interval}
          to={interval => ({ interval })}
        />
      )}
      {!ranked && <Choice {...choices} label="View" of={forms} chosen={view.form} to={form => ({ form })} />}
    </div>
  );
}

type ChoiceProps = {
  label: string;
  of: Record<string, string>;
  chosen: string;
  to: (value: string) => Search;
  search: Search;
  params: Params;
};

function Choice({ label, of, chosen, to, search, params }: ChoiceProps) {
  return (
    <nav className="options" aria-label={label}>
      {Object.entries(of).map(([value, text]) => (
        <Link
          key={value}
          to="/projects/$projectId/agents/$agentId/insights"
          params={params}
          search={{ ...search, ...to(value) }}
          activeOptions={{ exact: true, includeSearch: true }}
          data-chosen={value === chosen || undefined}
          aria-current={value === chosen ? "true" : undefined}
        >
          {text}
        </Link>
      ))}
    </nav>
  );
}

type CustomRangeProps = {
  view: View;
  insights: Insights | undefined;
  onChoose: (from: string, to: string) => void;
};

export function CustomRange({ view, insights, onChoose }: CustomRangeProps) {
  const [fault, setFault] = useState(() => rangeFault(view.from, view.to));
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const [from, to] = [`${fields.get("from")}Z`, `${fields.get("to")}Z`];
    const [begin, end] = [Date.parse(from), Date.parse(to)];
    if (Number.isNaN(begin) || Number.isNaN(end)) return setFault("Choose a date and time for both.");
    const found = rangeFault(from, to);
    setFault(found);
    if (!found) onChoose(new Date(begin).toISOString(), new Date(end).toISOString());
  };
  const textOf = (given: string | undefined, shown: string | undefined) =>
    (given ?? shown ?? "").slice(0, 16);
  return (
    <form className="custom-range" noValidate onSubmit={submit}>
      <Field
        label="From (UTC)"
        name="from"
        type="datetime-local"
        step={3600}
        defaultValue={textOf(view.from, insights?.from)}
        fault={fault}
      />
      <Field
        label="To (UTC)"
        name="to"
        type="datetime-local"
        step={3600}
        defaultValue={textOf(view.to, insights?.to)}
      />
      <Button type="submit">Apply</Button>
    </form>
  );
}
