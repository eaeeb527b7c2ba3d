-- The plan is kept, as that of `delete_unused_values`: with many traces, the planner preferred a new one at each deletion, which
-- took a quarter of its time (docs/decisions/047-keys-by-agent.md).
alter function delete_results_of_traces() set plan_cache_mode = force_generic_plan;
