-- +goose Up

-- The directory: what is asked before a workspace is known. These tables are not
-- under row-level security. They hold no credential that opens anything: of keys,
-- sessions and links only digests of random secrets, of passwords slow hashes.
CREATE TABLE workspaces (
  workspace_id   {text} NOT NULL PRIMARY KEY,
  name           {text} NOT NULL,
  plan           {text} NOT NULL,
  development    BOOLEAN NOT NULL,
  second_member  BOOLEAN NOT NULL,
  created_at     BIGINT NOT NULL,
  member_changes BIGINT NOT NULL -- raised by whoever is about to change members
);

CREATE TABLE people (
  person_id     {text} NOT NULL PRIMARY KEY,
  email         {text} NOT NULL,
  email_key     {text} NOT NULL, -- the address in small letters
  name          {text} NOT NULL,
  password_hash {text} NOT NULL,
  created_at    BIGINT NOT NULL
);
CREATE UNIQUE INDEX people_by_email ON people (email_key);

CREATE TABLE memberships (
  workspace_id {text} NOT NULL REFERENCES workspaces (workspace_id),
  person_id    {text} NOT NULL REFERENCES people (person_id),
  role         {text} NOT NULL,
  joined_at    BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, person_id)
);
CREATE INDEX memberships_by_person ON memberships (person_id);

CREATE TABLE api_keys (
  workspace_id {text} NOT NULL REFERENCES workspaces (workspace_id),
  key_id       {text} NOT NULL,
  prefix       {text} NOT NULL,
  hash         {bytes} NOT NULL,
  name         {text} NOT NULL,
  scopes       {text} NOT NULL,
  bounds       {text} NOT NULL, -- the sources and limits, as JSON
  created_at   BIGINT NOT NULL,
  expires_at   BIGINT NOT NULL,
  revoked_at   BIGINT NOT NULL,
  replaced_by  {text} NOT NULL,
  PRIMARY KEY (workspace_id, key_id)
);
CREATE UNIQUE INDEX api_keys_by_prefix ON api_keys (prefix);

CREATE TABLE sessions (
  workspace_id {text} NOT NULL REFERENCES workspaces (workspace_id),
  session_id   {text} NOT NULL PRIMARY KEY,
  hash         {bytes} NOT NULL,
  kind         {text} NOT NULL,
  person_id    {text} NOT NULL,
  issued_at    BIGINT NOT NULL,
  expires_at   BIGINT NOT NULL,
  revoked_at   BIGINT NOT NULL,
  confirmed_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX sessions_by_hash ON sessions (hash);
CREATE INDEX sessions_by_person ON sessions (workspace_id, person_id);
CREATE INDEX sessions_by_expiry ON sessions (expires_at);

CREATE TABLE sign_ins (
  workspace_id {text} NOT NULL REFERENCES workspaces (workspace_id),
  hash         {bytes} NOT NULL PRIMARY KEY,
  person_id    {text} NOT NULL,
  expires_at   BIGINT NOT NULL,
  used_at      BIGINT NOT NULL
);
CREATE INDEX sign_ins_by_expiry ON sign_ins (expires_at);

-- Small values of the whole installation, set once.
CREATE TABLE installation (
  name  {text} NOT NULL PRIMARY KEY,
  value {text} NOT NULL
);

-- Rows that are raised so that two units which must not overlap are in conflict.
CREATE TABLE turns (
  name  {text} NOT NULL PRIMARY KEY,
  taken BIGINT NOT NULL
);

-- Who stood behind a version of a contract, and that one version of each contract
-- governs at a time, whoever activates another one meanwhile.
CREATE TABLE contract_approvals (
  workspace_id {text} NOT NULL,
  contract_id  {text} NOT NULL,
  version      BIGINT NOT NULL,
  person_id    {text} NOT NULL,
  PRIMARY KEY (workspace_id, contract_id, version, person_id)
);
CREATE UNIQUE INDEX contract_states_active ON contract_states (workspace_id, contract_id) WHERE until_at = 0;

CREATE TABLE audit_entries (
  id           {serial},
  workspace_id {text} NOT NULL,
  at           BIGINT NOT NULL,
  actor        {text} NOT NULL,
  event        {text} NOT NULL,
  object       {text} NOT NULL,
  metadata     {bytes} NOT NULL
);
CREATE UNIQUE INDEX audit_entries_by_id ON audit_entries (workspace_id, id);

-- How many actions were declared in a period. Each unit adds a row of its own, so
-- that none waits for another; whoever numbers the ledger replaces many by one.
CREATE TABLE declared_counts (
  id           {serial},
  workspace_id {text} NOT NULL,
  period       {text} NOT NULL,
  declared     BIGINT NOT NULL
);
CREATE INDEX declared_counts_by_period ON declared_counts (workspace_id, period, id);

-- Leaves of the ledger. Only the number is ever set, once; it is -1 until then.
CREATE TABLE leaves (
  id           {serial},
  workspace_id {text} NOT NULL,
  kind         {text} NOT NULL,
  object       {text} NOT NULL,
  digest       {text} NOT NULL,
  at           BIGINT NOT NULL,
  number       BIGINT NOT NULL
);
CREATE INDEX leaves_waiting ON leaves (workspace_id, id) WHERE number < 0;
CREATE UNIQUE INDEX leaves_by_number ON leaves (workspace_id, number) WHERE number >= 0;
CREATE INDEX leaves_by_digest ON leaves (workspace_id, digest);

CREATE TABLE ledgers (
  workspace_id {text} NOT NULL PRIMARY KEY,
  size         BIGINT NOT NULL,
  peaks        {bytes} NOT NULL,
  checkpoint   {bytes} NOT NULL
);
CREATE TABLE ledger_nodes (
  workspace_id {text} NOT NULL,
  level        BIGINT NOT NULL,
  place        BIGINT NOT NULL,
  hash         {bytes} NOT NULL,
  PRIMARY KEY (workspace_id, level, place)
);

-- Sealed by the vault before they get here.
CREATE TABLE secrets (
  workspace_id {text} NOT NULL,
  name         {text} NOT NULL,
  sealed       {bytes} NOT NULL,
  PRIMARY KEY (workspace_id, name)
);
