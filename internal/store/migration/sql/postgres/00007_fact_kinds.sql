-- +goose Up

-- Whoever owns the tables may be bound by the policy of workspaces as everybody is, and
-- has copied nothing so far.
ALTER TABLE facts NO FORCE ROW LEVEL SECURITY;
INSERT INTO fact_kinds (workspace_id, source, fact_type)
  SELECT DISTINCT workspace_id, source, fact_type FROM facts ON CONFLICT DO NOTHING;
ALTER TABLE facts FORCE ROW LEVEL SECURITY;
