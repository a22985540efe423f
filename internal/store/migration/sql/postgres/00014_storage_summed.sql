-- +goose Up

-- Whoever owns the tables may be bound by the policy of workspaces as everybody is, and
-- has copied nothing so far.
ALTER TABLE limit_sums NO FORCE ROW LEVEL SECURITY;
INSERT INTO limit_summed (workspace_id, limit_key, grp, until_at)
  SELECT workspace_id, limit_key, grp, MAX(bucket_at) + 8388608 FROM limit_sums WHERE width = 8388608 GROUP BY workspace_id, limit_key, grp
  ON CONFLICT DO NOTHING;
ALTER TABLE limit_sums FORCE ROW LEVEL SECURITY;
