// The filters of the ingestion log: time, code, service name and key.
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useId } from "react";
import type { IngestionSummary } from "../../../src/http/ingestion/schemas.ts";
import { keysQuery } from "../../queries/keys.ts";
import { type LogSearch, times } from "./search.ts";

const route = getRouteApi("/member/projects/$projectId/ingestion");

type Option = { value: string; label: string };

type FiltersProps = { projectId: string; sums: IngestionSummary; isClearable: boolean };

export function Filters({ projectId, sums, isClearable }: FiltersProps) {
  const search = route.useSearch();
  const navigate = useNavigate();
  const { data: keys = [] } = useInfiniteQuery(keysQuery(projectId));
  const choose = (name: keyof LogSearch, value: string) =>
    void navigate({
      to: "/projects/$projectId/ingestion",
      params: { projectId },
      search: { ...search, [name]: value || undefined },
    });
  const choice = (name: keyof LogSearch, label: string, any: string, options: readonly Option[]) => (
    <Choice
      label={label}
      any={any}
      options={options}
      value={search[name] ?? ""}
      onChoose={value => choose(name, value)}
    />
  );
  return (
    <search className="ingestion-filters" aria-label="Filters">
      {choice("time", "Time", "Last 7 days", times)}
      {choice(
        "code",
        "Code",
        "Any code",
        sums.codes.map(({ code }) => ({ value: code, label: code })),
      )}
      {choice(
        "service",
        "Service name",
        "Any service name",
        sums.services.map(({ serviceName }) => ({ value: serviceName, label: serviceName })),
      )}
      {choice(
        "key",
        "Key",
        "Any key",
        keys.map(({ id, name, masked }) => ({ value: id, label: `${name} (${masked})` })),
      )}
      {isClearable && (
        <Link to="/projects/$projectId/ingestion" params={{ projectId }} search={{}} className="button">
          Clear filters
        </Link>
      )}
    </search>
  );
}

type ChoiceProps = {
  label: string;
  any: string;
  options: readonly Option[];
  value: string;
  onChoose: (value: string) => void;
};

/** The chosen value stays an option, even when no request has it. */
function Choice({ label, any, options, value, onChoose }: ChoiceProps) {
  const id = useId();
  const isListed = value === "" || options.some(option => option.value === value);
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select id={id} className="input" value={value} onChange={event => onChoose(event.target.value)}>
        <option value="">{any}</option>
        {!isListed && <option value={value}>{value}</option>}
        {options.map(option => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </div>
  );
}
