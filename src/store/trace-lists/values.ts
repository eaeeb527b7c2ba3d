// Walks the minutes in which the traces of an agent have a value, so that a list reads only these.

import type { Outcome } from "../../model/run/outcome.ts";
import { placeOf } from "../cluster/routing.ts";
import type { Database } from "../db.ts";
import { idAt, minuteOfId } from "../listing.ts";
import { outcomeLetters, outcomeValue, versionValue } from "../runs/result-values.ts";
import type { Look } from "../scan.ts";
import type { TraceFilters } from "./filters.ts";
import type { Order } from "./path.ts";

/** A trace has one of the values. `minutes`: how long each time lasts that `trace_values` has for it. */
export type Value = {
  kind: "tool" | "model" | "provider" | "redacted" | "outcome" | "version";
  values: string[];
  minutes: number;
};

/** The values that the filters ask for, the most precise first. */
export function valuesOf(filters: TraceFilters): Value[] {
  const { redacted, tool, model, provider, testId, testOutcome, testVersion } = filters;
  const found: Value[] = [];
  if (redacted !== undefined) found.push({ kind: "redacted", values: [redacted], minutes: 1 });
  if (tool !== undefined) found.push({ kind: "tool", values: [tool], minutes: 1 });
  if (model !== undefined) found.push({ kind: "model", values: [model], minutes: 1 });
  if (provider !== undefined) found.push({ kind: "provider", values: [provider], minutes: 1 });
  if (testId === undefined) return found;
  if (testVersion !== undefined) {
    found.push({ kind: "version", values: [versionValue(testId, testVersion)], minutes: 60 });
  }
  if (testOutcome !== undefined) {
    found.push({ kind: "outcome", values: [outcomeValue(testId, testOutcome)], minutes: 60 });
  }
  if (testVersion === undefined && testOutcome === undefined) {
    const values = Object.keys(outcomeLetters).map(outcome => outcomeValue(testId, outcome as Outcome));
    found.push({ kind: "outcome", values, minutes: 60 });
  }
  return found;
}

/** Of as many minutes as are read at a time, a common value needs few; those of a rare one are read in a millisecond. */
const minutesMax = 200;

type Bounds = { from: string; to: string };
type Walked = { minutes: number[]; reached: number | null };

/** Times in which all values occur, as ids: from `lows` to below `highs`. In the order of the list. */
export type Ranges = [lows: string[], highs: string[]];

/** One walk of one list, look by look. */
export class ValueWalk {
  readonly #db: Database;
  readonly #agentId: string;
  readonly #values: [Value, ...Value[]];
  readonly #order: Order;

  constructor(db: Database, agentId: string, values: [Value, ...Value[]], order: Order) {
    this.#db = db;
    this.#agentId = agentId;
    this.#values = values;
    this.#order = order;
  }

  /** Looks at the next times in which the values occur. `look` is given their ranges. */
  async look<Row>(bounds: Bounds, look: (ranges: Ranges) => Promise<Look<Row>>): Promise<Look<Row>> {
    const { minutes, reached } = await this.#walk(bounds);
    const length = this.#values[0].minutes;
    const reach = reached === null ? null : idAtMinute(this.#order === "newest" ? reached : reached + length);
    if (minutes.length === 0) return { rows: [], reach };
    const found = await look(rangesOf(minutes, length));
    return { rows: found.rows, reach: found.reach ?? reach };
  }

  /** The next minutes in which all values occur, in the order of the list, and the last one walked; null: all are. */
  async #walk({ from, to }: Bounds): Promise<Walked> {
    const [{ kind, values, minutes: length }, ...others] = this.#values;
    const isNewestFirst = this.#order === "newest";
    const direction = isNewestFirst ? "desc" : "asc";
    const [low, high] = (isNewestFirst ? [to, from] : [from, to]).map(minuteOfId) as [number, number];
    const parameters: unknown[] = [this.#agentId, kind, values, low - length + 1, high, minutesMax];
    const has = others.map(other => {
      parameters.push(other.kind, other.values, other.minutes);
      const [otherKind, otherValues, otherLength] = [2, 1, 0].map(back => `$${parameters.length - back}`);
      return `exists (
        select from unnest(${otherValues}::text[]) as one (value)
          join trace_values o on o.agent_id = $1 and o.kind = ${otherKind} and o.value = one.value
            and o.minute = walked.minute / ${otherLength}::bigint * ${otherLength}::bigint
      )`;
    });
    const { rows } = await this.#db.pool.query<{ minute: number; has: boolean }>({
      // Of several values there are many texts.
      ...(others.length === 0 && { name: `walk_values_${this.#order}` }),
      text: `with walked as materialized (
        select distinct minute
        from unnest($3::text[]) as one (value) cross join lateral (
          select minute from trace_values v
          where v.agent_id = $1 and v.kind = $2 and v.value = one.value and v.minute between $4::bigint and $5::bigint
          order by v.minute ${direction} limit $6::int
        ) found
        order by minute ${direction} limit $6::int
      )
      select minute, ${has.join(" and ") || "true"} as has from walked order by minute ${direction}`,
      values: parameters,
    });
    const minutes = rows.filter(row => row.has).map(row => row.minute);
    return { minutes, reached: rows.length < minutesMax ? null : rows.at(-1)!.minute };
  }
}

function idAtMinute(minute: number): string {
  return idAt(minute * 60_000);
}

/** Adjacent times become one range. */
function rangesOf(minutes: number[], length: number): Ranges {
  const lows: string[] = [];
  const highs: string[] = [];
  for (let at = 0; at < minutes.length; ) {
    let next = at + 1;
    while (next < minutes.length && Math.abs(minutes[next]! - minutes[next - 1]!) === length) next++;
    const [one, other] = [minutes[at]!, minutes[next - 1]!];
    lows.push(idAtMinute(Math.min(one, other)));
    highs.push(idAtMinute(Math.max(one, other) + length));
    at = next;
  }
  return [lows, highs];
}

const listedMax = 500;

/** The names of an agent's tools, models, providers or rules that redacted, each once, found by a few reads of the index for each. */
export async function listTraceValues(
  db: Database,
  agentId: string,
  kind: "tool" | "model" | "provider" | "redacted",
): Promise<string[]> {
  const { rows } = await (await placeOf(db, agentId)).pool.query<{ value: string }>({
    name: "list_trace_values",
    text: `with recursive found as (
      (select value from trace_values where agent_id = $1 and kind = $2 order by value limit 1)
      union all
      select (
        select v.value from trace_values v where v.agent_id = $1 and v.kind = $2 and v.value > found.value
        order by v.value limit 1
      ) from found where found.value is not null
    )
    select value from found where value is not null limit ${listedMax}`,
    values: [agentId, kind],
  });
  return rows.map(({ value }) => value);
}
