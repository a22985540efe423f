-- +goose Up

-- Rows of waits are many: one index is the key and finds by source, the other one holds
-- a ref once however many rows it has.
ALTER TABLE waits DROP CONSTRAINT waits_pkey;
DROP INDEX waits_by_source;
ALTER TABLE waits ADD PRIMARY KEY (workspace_id, source, fact_type, until_at, ref);
CREATE INDEX waits_by_ref ON waits (workspace_id, ref);

-- A verdict is some kilobytes of JSON. Compressed by lz4, which takes some microseconds,
-- it is a third of that, stays on its page, and leaves room there to be rewritten. A
-- server that was built without lz4 keeps it as it is.
-- +goose StatementBegin
DO $$
BEGIN
  ALTER TABLE verdicts ALTER COLUMN form SET COMPRESSION lz4;
  ALTER TABLE verdicts SET (toast_tuple_target = 2040);
EXCEPTION WHEN feature_not_supported OR invalid_parameter_value THEN
  NULL;
END
$$;
-- +goose StatementEnd
