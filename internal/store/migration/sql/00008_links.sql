-- +goose Up

-- A new link of a member ends those that they have.
CREATE INDEX sign_ins_by_person ON sign_ins (workspace_id, person_id);
