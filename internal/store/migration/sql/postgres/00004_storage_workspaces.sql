-- +goose Up

-- A leaf is written, and written once more when it gets its number: it finds room
-- on its page, and what it was before is swept early, since the look for leaves
-- without a number begins there.
ALTER TABLE leaves SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
ALTER TABLE declared_counts SET (autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 2000);
ALTER TABLE ledgers SET (fillfactor = 50);
