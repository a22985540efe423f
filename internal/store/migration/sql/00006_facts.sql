-- +goose Up

-- What sources have told, by type. With it the identities that an external id may have
-- are known, so that facts need no index of their own for it.
CREATE TABLE fact_kinds (
  workspace_id {text} NOT NULL,
  source       {text} NOT NULL,
  fact_type    {text} NOT NULL,
  PRIMARY KEY (workspace_id, source, fact_type)
);
INSERT INTO fact_kinds (workspace_id, source, fact_type) SELECT DISTINCT workspace_id, source, fact_type FROM facts;
DROP INDEX facts_by_external_id;
-- Two units that add one revision of a fact give it one ordinal, and are in conflict by
-- that; whether it is there is seen among the fact's few revisions.
DROP INDEX facts_by_digest;

-- How many wakes a row holds. If there are several, all of facts, external_id is a JSON list.
ALTER TABLE wakes ADD COLUMN holds BIGINT NOT NULL DEFAULT 1;
