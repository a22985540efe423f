-- +goose Up

-- Empty tables that units which evaluate lock before their snapshot is taken, one of
-- them for each workspace: see internal/store/postgres/turn.go.
-- +goose StatementBegin
DO $$
BEGIN
  FOR n IN 0..31 LOOP
    EXECUTE format('CREATE TABLE evaluating_%s ()', n);
  END LOOP;
END
$$;
-- +goose StatementEnd
