-- +goose Up

-- Counting reads these two and nothing else: what it counts by stands at their end.
DROP INDEX standings_by_badge;
CREATE INDEX standings_by_badge ON standings (workspace_id, badge, start_at, ref, contract_id, outcome, conformance, status);
DROP INDEX standings_by_contract;
CREATE INDEX standings_by_contract ON standings (workspace_id, contract_id, badge, start_at, ref, outcome, conformance, status);
