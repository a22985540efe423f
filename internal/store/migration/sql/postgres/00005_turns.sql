-- +goose Up

-- Empty tables that units lock before their snapshot is taken, so that those which
-- must not overlap run one after the other: see internal/store/postgres/turn.go. A
-- workspace has one of them, which it may share with others.
-- +goose StatementBegin
DO $$
BEGIN
  FOR n IN 0..31 LOOP
    EXECUTE format('CREATE TABLE turn_%s ()', n);
  END LOOP;
END
$$;
-- +goose StatementEnd
