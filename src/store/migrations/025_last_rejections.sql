-- The latest rejected request of each minute that the ingestion log counts: when it came, and what was wrong with it.

-- {"code", "requestId", "paths"}: paths of invalid fields up to the first step that is not a field of the formats, so
-- that nothing of a payload is kept. Null if no request was rejected, and in rows from before this migration.
alter table ingestion_minutes add column rejected_at timestamptz, add column rejection jsonb;
create index ingestion_minutes_rejected on ingestion_minutes (project_id, rejected_at desc) where rejection is not null;
