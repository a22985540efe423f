-- +goose Up

-- Many small rows are replaced by one, and a group's time is written anew.
ALTER TABLE limit_sums SET (autovacuum_vacuum_scale_factor = 0.02);
ALTER TABLE limit_summed SET (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
