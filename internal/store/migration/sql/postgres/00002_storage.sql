-- +goose Up

-- Rows that are rewritten find room on their page, and no index is touched.
-- A verdict is some kilobytes, which are neither compressed nor put elsewhere each
-- time they change.
ALTER TABLE verdicts SET (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05, toast_tuple_target = 8160);
ALTER TABLE standings SET (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
-- A queue is swept early: what was taken from it lies where the next look begins.
ALTER TABLE wakes SET (autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_insert_scale_factor = 0.0, autovacuum_vacuum_insert_threshold = 10000);
ALTER TABLE waits SET (autovacuum_vacuum_scale_factor = 0.02);
ALTER TABLE limit_sums SET (autovacuum_vacuum_scale_factor = 0.02);
ALTER TABLE source_tallies SET (autovacuum_vacuum_scale_factor = 0.02);
