-- A third kind of call: "classify" asks what a criterion rests on.
alter table judge_calls drop constraint judge_calls_kind_check,
  add constraint judge_calls_kind_check check (kind in ('route', 'semantic', 'classify'));
