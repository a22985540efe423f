-- +goose Up

-- Pages that were swept need not be read by who counts from an index alone.
ALTER TABLE standings SET (autovacuum_vacuum_insert_scale_factor = 0.05);
