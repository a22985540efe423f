-- +goose Up

-- Up to when what actions add to a rolling limit is added up: before that time there are
-- sums, and from it on there are the entries alone. A group that has only a few entries
-- has no sums and no row here. Until now every entry was added up at once, over the
-- shortest of the spans too.
CREATE TABLE limit_summed (
  workspace_id {text} NOT NULL,
  limit_key    {text} NOT NULL,
  grp          {text} NOT NULL,
  until_at     BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, limit_key, grp)
);
INSERT INTO limit_summed (workspace_id, limit_key, grp, until_at)
  SELECT workspace_id, limit_key, grp, MAX(bucket_at) + 8388608 FROM limit_sums WHERE width = 8388608 GROUP BY workspace_id, limit_key, grp;
