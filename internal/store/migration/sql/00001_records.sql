-- +goose Up

-- An action by its first declaration. Columns that lists and links look for hold
-- keys: a text that is too long for an index stands there as its digest. The form
-- holds the declaration itself.
CREATE TABLE actions (
  workspace_id  {text} NOT NULL,
  ref           {text} NOT NULL,
  action_id     {text} NOT NULL,
  contract_id   {text} NOT NULL,
  action_type   {text} NOT NULL,
  subject_id    {text} NOT NULL,
  subject_kind  {text} NOT NULL,
  agent_id      {text} NOT NULL,
  workflow_id   {text} NOT NULL,
  compensates   {text} NOT NULL,
  start_at      BIGINT NOT NULL,
  received_at   BIGINT NOT NULL,
  version       BIGINT NOT NULL, -- of the contract that governs; 0 if none does
  mode          {text} NOT NULL,
  declared_by   {text} NOT NULL,
  self_attested BOOLEAN NOT NULL,
  form          {bytes} NOT NULL,
  body          {bytes} NOT NULL,
  PRIMARY KEY (workspace_id, ref)
);
CREATE UNIQUE INDEX actions_by_id ON actions (workspace_id, action_id);
CREATE INDEX actions_by_start ON actions (workspace_id, start_at, ref);
CREATE INDEX actions_by_contract ON actions (workspace_id, contract_id, start_at, ref);
CREATE INDEX actions_by_subject ON actions (workspace_id, subject_id, start_at, ref) WHERE subject_id <> '';
CREATE INDEX actions_by_agent ON actions (workspace_id, agent_id, start_at, ref) WHERE agent_id <> '';
CREATE INDEX actions_by_workflow ON actions (workspace_id, workflow_id, start_at, ref) WHERE workflow_id <> '';
CREATE INDEX actions_by_target ON actions (workspace_id, compensates) WHERE compensates <> '';

-- Declarations after the first.
CREATE TABLE declarations (
  workspace_id  {text} NOT NULL,
  ref           {text} NOT NULL,
  revision      BIGINT NOT NULL,
  received_at   BIGINT NOT NULL,
  declared_by   {text} NOT NULL,
  self_attested BOOLEAN NOT NULL,
  form          {bytes} NOT NULL,
  body          {bytes} NOT NULL,
  PRIMARY KEY (workspace_id, ref, revision)
);

-- The declared parameters by which facts may belong to an action.
CREATE TABLE action_links (
  workspace_id {text} NOT NULL,
  contract_id  {text} NOT NULL,
  param        {text} NOT NULL,
  value        {text} NOT NULL,
  start_at     BIGINT NOT NULL,
  ref          {text} NOT NULL,
  PRIMARY KEY (workspace_id, contract_id, param, value, start_at, ref)
);

-- What an action adds to a rolling limit, and the same added up over spans of
-- time. Sums are only ever added, and many small ones replaced by one, so that
-- units that declare never wait for each other.
CREATE TABLE limit_entries (
  workspace_id {text} NOT NULL,
  limit_key    {text} NOT NULL,
  grp          {text} NOT NULL,
  start_at     BIGINT NOT NULL,
  ref          {text} NOT NULL,
  received_at  BIGINT NOT NULL,
  shadow       BOOLEAN NOT NULL,
  currency     {text} NOT NULL,
  amount       {text} NOT NULL,
  PRIMARY KEY (workspace_id, limit_key, grp, start_at, ref)
);
CREATE TABLE limit_sums (
  id           {serial},
  workspace_id {text} NOT NULL,
  limit_key    {text} NOT NULL,
  grp          {text} NOT NULL,
  width        BIGINT NOT NULL,
  bucket_at    BIGINT NOT NULL,
  shadow       BOOLEAN NOT NULL,
  currency     {text} NOT NULL,
  entries      BIGINT NOT NULL,
  amount       {text} NOT NULL,
  received_at  BIGINT NOT NULL -- the latest of them
);
CREATE INDEX limit_sums_by_bucket ON limit_sums (workspace_id, limit_key, grp, width, bucket_at);

-- The latest verdict of an action: the wide row, and the narrow one that lists
-- look for, which changes far less often.
CREATE TABLE verdicts (
  workspace_id {text} NOT NULL,
  ref          {text} NOT NULL,
  form         {bytes} NOT NULL,
  covered      {bytes} NOT NULL, -- the sources of its case
  PRIMARY KEY (workspace_id, ref)
);
CREATE TABLE standings (
  workspace_id {text} NOT NULL,
  ref          {text} NOT NULL,
  contract_id  {text} NOT NULL,
  start_at     BIGINT NOT NULL,
  badge        {text} NOT NULL,
  outcome      {text} NOT NULL,
  conformance  {text} NOT NULL,
  status       {text} NOT NULL,
  settles_at   BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, ref)
);
CREATE INDEX standings_by_badge ON standings (workspace_id, badge, start_at, ref);
CREATE INDEX standings_by_contract ON standings (workspace_id, contract_id, badge, start_at, ref);
CREATE INDEX standings_pending ON standings (workspace_id, settles_at, ref) WHERE status = 'provisional';
CREATE INDEX standings_by_status ON standings (workspace_id, status, start_at, ref);

CREATE TABLE settled (
  workspace_id {text} NOT NULL,
  ref          {text} NOT NULL,
  revision     BIGINT NOT NULL,
  form         {bytes} NOT NULL,
  case_form    {bytes} NOT NULL,
  PRIMARY KEY (workspace_id, ref, revision)
);

CREATE TABLE waits (
  workspace_id {text} NOT NULL,
  ref          {text} NOT NULL,
  source       {text} NOT NULL,
  fact_type    {text} NOT NULL,
  until_at     BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, ref, source, fact_type, until_at)
);
CREATE INDEX waits_by_source ON waits (workspace_id, source, fact_type, until_at, ref);

CREATE TABLE wakes (
  id           {serial},
  workspace_id {text} NOT NULL,
  kind         BIGINT NOT NULL,
  due_at       BIGINT NOT NULL,
  ref          {text} NOT NULL,
  fact_source  {text} NOT NULL,
  family       {text} NOT NULL,
  external_id  {text} NOT NULL,
  source       {text} NOT NULL,
  fact_type    {text} NOT NULL,
  watermark    BIGINT NOT NULL
);
CREATE UNIQUE INDEX wakes_by_due ON wakes (workspace_id, due_at, id);
CREATE INDEX wakes_by_ref ON wakes (workspace_id, ref) WHERE kind <= 2;

-- Revisions of facts. The identity is a digest of source, family and external id;
-- the ordinal counts its revisions, so that two units that add one conflict.
CREATE TABLE facts (
  seq          {serial},
  workspace_id {text} NOT NULL,
  identity     {bytes} NOT NULL,
  ordinal      BIGINT NOT NULL,
  digest       {bytes} NOT NULL, -- of what makes it another revision
  source       {text} NOT NULL,
  external_id  {text} NOT NULL,
  fact_type    {text} NOT NULL,
  subject_id   {text} NOT NULL,
  occurred_at  BIGINT NOT NULL,
  moved        BOOLEAN NOT NULL, -- an earlier revision has another subject or type
  kept_by      {text} NOT NULL,
  form         {bytes} NOT NULL,
  body         {bytes} NOT NULL
);
CREATE UNIQUE INDEX facts_by_seq ON facts (workspace_id, seq);
CREATE UNIQUE INDEX facts_by_identity ON facts (workspace_id, identity, ordinal);
CREATE UNIQUE INDEX facts_by_digest ON facts (workspace_id, identity, digest);
CREATE INDEX facts_by_external_id ON facts (workspace_id, external_id, seq);
CREATE INDEX facts_by_subject ON facts (workspace_id, subject_id, occurred_at) WHERE subject_id <> '';
CREATE INDEX facts_by_type ON facts (workspace_id, source, fact_type, occurred_at);
CREATE INDEX facts_by_source ON facts (workspace_id, source, fact_type, seq);

CREATE TABLE fact_refs (
  workspace_id {text} NOT NULL,
  name         {text} NOT NULL,
  value        {text} NOT NULL,
  identity     {bytes} NOT NULL,
  PRIMARY KEY (workspace_id, name, value, identity)
);

-- The subjects and types of facts that have had several of them.
CREATE TABLE fact_moves (
  workspace_id {text} NOT NULL,
  source       {text} NOT NULL, -- of a type; empty for a subject
  value        {text} NOT NULL, -- the subject or the type
  identity     {bytes} NOT NULL,
  PRIMARY KEY (workspace_id, source, value, identity)
);

CREATE TABLE sources (
  workspace_id {text} NOT NULL,
  name         {text} NOT NULL,
  trust        {text} NOT NULL,
  provides     {text} NOT NULL, -- a JSON list
  resolution   BIGINT NOT NULL, -- in nanoseconds; 0 is a second
  title        {text} NOT NULL,
  created_at   BIGINT NOT NULL,
  created_by   {text} NOT NULL,
  PRIMARY KEY (workspace_id, name)
);
CREATE TABLE watermarks (
  workspace_id {text} NOT NULL,
  source       {text} NOT NULL,
  fact_type    {text} NOT NULL,
  reached_at   BIGINT NOT NULL,
  stated_by    {text} NOT NULL,
  PRIMARY KEY (workspace_id, source, fact_type)
);
-- How many facts of a source were kept; small rows are replaced by one.
CREATE TABLE source_tallies (
  id           {serial},
  workspace_id {text} NOT NULL,
  source       {text} NOT NULL,
  number       BIGINT NOT NULL,
  last_at      BIGINT NOT NULL
);
CREATE INDEX source_tallies_by_source ON source_tallies (workspace_id, source);

-- Contracts in all their versions. The text is never changed.
CREATE TABLE contract_versions (
  workspace_id {text} NOT NULL,
  contract_id  {text} NOT NULL,
  version      BIGINT NOT NULL,
  digest       {text} NOT NULL,
  text         {text} NOT NULL,
  note         {text} NOT NULL,
  saved_at     BIGINT NOT NULL,
  saved_by     {text} NOT NULL,
  saver        {text} NOT NULL,
  PRIMARY KEY (workspace_id, contract_id, version)
);
-- When a version governs, for those that were ever activated.
CREATE TABLE contract_states (
  workspace_id {text} NOT NULL,
  contract_id  {text} NOT NULL,
  version      BIGINT NOT NULL,
  mode         {text} NOT NULL,
  from_at      BIGINT NOT NULL,
  until_at     BIGINT NOT NULL, -- 0: still active
  activated_by {text} NOT NULL,
  PRIMARY KEY (workspace_id, contract_id, version)
);
-- The fact types that versions look for, activated or not.
CREATE TABLE contract_types (
  workspace_id {text} NOT NULL,
  fact_type    {text} NOT NULL,
  contract_id  {text} NOT NULL,
  version      BIGINT NOT NULL,
  PRIMARY KEY (workspace_id, fact_type, contract_id, version)
);
