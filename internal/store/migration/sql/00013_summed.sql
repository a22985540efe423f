-- +goose Up

-- Up to when what actions add to a rolling limit is added up: before that time there are
-- sums, and from it on there are the entries alone. A group that has only a few entries
-- has no sums and no row here. Until now every entry was added up at once, over fewer
-- spans: those sums say nothing that the entries do not, and are made anew from them.
DROP TABLE limit_sums;
CREATE TABLE limit_sums (
  id           {serial},
  workspace_id {text} NOT NULL,
  limit_key    {text} NOT NULL,
  grp          {text} NOT NULL,
  width        BIGINT NOT NULL,
  bucket_at    BIGINT NOT NULL,
  shadow       BOOLEAN NOT NULL,
  currency     {text} NOT NULL,
  entries      BIGINT NOT NULL,
  amount       {text} NOT NULL,
  received_at  BIGINT NOT NULL -- the latest of them
);
CREATE INDEX limit_sums_by_bucket ON limit_sums (workspace_id, limit_key, grp, width, bucket_at);
CREATE TABLE limit_summed (
  workspace_id {text} NOT NULL,
  limit_key    {text} NOT NULL,
  grp          {text} NOT NULL,
  until_at     BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, limit_key, grp)
);
