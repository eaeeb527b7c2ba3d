-- What stands for redacted values in the reason: JSON, as the list of results shows it.
alter table backtest_results add column reason_redactions text;
