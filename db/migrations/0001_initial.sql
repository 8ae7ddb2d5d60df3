-- Version 1 of the history. docs/database.md explains every table; units stand in the column names (_ns, _ms, _bytes).
-- A number that is not known is NULL.

CREATE TABLE run (
  run             INTEGER PRIMARY KEY,
  task            TEXT NOT NULL,
  task_directory  TEXT NOT NULL,
  task_digest     TEXT NOT NULL,
  baseline        TEXT NOT NULL,            -- template name
  device          TEXT NOT NULL,            -- cpu or cuda
  device_name     TEXT NOT NULL,
  arch            TEXT NOT NULL,
  l2              TEXT NOT NULL,            -- hot or cold
  population_kind TEXT NOT NULL,
  seed            TEXT NOT NULL,            -- decimal: SQLite's integers cannot hold every 64-bit unsigned number
  generations     INTEGER NOT NULL,         -- asked for
  population      INTEGER NOT NULL,
  children        INTEGER NOT NULL,
  options         TEXT NOT NULL,            -- JSON
  tool_version    TEXT NOT NULL,
  status          TEXT NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'finished', 'interrupted', 'failed')),
  status_message  TEXT NOT NULL DEFAULT '',
  started_at      TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
  ended_at        TEXT                      -- NULL while running
) STRICT;

CREATE TABLE template (
  digest TEXT PRIMARY KEY,
  text   TEXT NOT NULL
) STRICT;

CREATE TABLE run_template (
  run      INTEGER NOT NULL REFERENCES run (run) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  name     TEXT NOT NULL,
  digest   TEXT NOT NULL REFERENCES template (digest),
  PRIMARY KEY (run, position),
  UNIQUE (run, name)
) STRICT;

CREATE TABLE run_operator (
  run      INTEGER NOT NULL REFERENCES run (run) ON DELETE CASCADE,
  operator TEXT NOT NULL,
  weight   REAL NOT NULL,
  PRIMARY KEY (run, operator)
) STRICT;

CREATE TABLE generation (
  run         INTEGER NOT NULL REFERENCES run (run) ON DELETE CASCADE,
  generation  INTEGER NOT NULL,
  evaluated   INTEGER NOT NULL,
  valid       INTEGER NOT NULL,             -- of those, with outcome ok
  duplicates  INTEGER NOT NULL,             -- children dropped because they had been seen
  recorded_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
  PRIMARY KEY (run, generation)
) STRICT;

CREATE TABLE operator_inapplicable (
  run        INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  operator   TEXT NOT NULL,
  times      INTEGER NOT NULL,
  PRIMARY KEY (run, generation, operator),
  FOREIGN KEY (run, generation) REFERENCES generation (run, generation) ON DELETE CASCADE
) STRICT;

CREATE TABLE candidate (
  run         INTEGER NOT NULL,
  candidate   INTEGER NOT NULL,             -- from 1 in each run
  generation  INTEGER NOT NULL,
  idx         INTEGER NOT NULL,             -- place within the generation
  template    TEXT NOT NULL,
  operator    TEXT NOT NULL,                -- that made it; 'default' is a template at its default parameters
  genome_hash TEXT NOT NULL,
  genome      TEXT NOT NULL CHECK (json_valid(genome)),
  PRIMARY KEY (run, candidate),
  UNIQUE (run, generation, idx),
  FOREIGN KEY (run, generation) REFERENCES generation (run, generation) ON DELETE CASCADE
) STRICT;
CREATE INDEX candidate_by_genome ON candidate (genome_hash);

CREATE TABLE parent (
  run       INTEGER NOT NULL,
  candidate INTEGER NOT NULL,
  position  INTEGER NOT NULL,               -- 0: the one that was changed; 1: the other one of a crossover
  parent    INTEGER NOT NULL,
  PRIMARY KEY (run, candidate, position),
  FOREIGN KEY (run, candidate) REFERENCES candidate (run, candidate) ON DELETE CASCADE,
  FOREIGN KEY (run, parent) REFERENCES candidate (run, candidate) DEFERRABLE INITIALLY DEFERRED
) STRICT;
CREATE INDEX parent_by_parent ON parent (run, parent);

CREATE TABLE dropped_edit (
  run       INTEGER NOT NULL,
  candidate INTEGER NOT NULL,
  position  INTEGER NOT NULL,
  reason    TEXT NOT NULL,
  PRIMARY KEY (run, candidate, position),
  FOREIGN KEY (run, candidate) REFERENCES candidate (run, candidate) ON DELETE CASCADE
) STRICT;

CREATE TABLE evaluation (
  run                  INTEGER NOT NULL,
  candidate            INTEGER NOT NULL,
  outcome              TEXT NOT NULL,
  stage                TEXT NOT NULL,       -- the last stage begun
  message              TEXT NOT NULL,
  log                  TEXT NOT NULL,
  score_ns             REAL,                -- weighted geometric mean of the medians; a number exactly if the outcome is ok
  device               TEXT NOT NULL,
  device_name          TEXT NOT NULL,
  l2                   TEXT NOT NULL,
  registers            INTEGER,             -- per thread
  static_shared_bytes  INTEGER,             -- per block
  dynamic_shared_bytes INTEGER,             -- per block
  spill_bytes          INTEGER,             -- per thread
  local_bytes          INTEGER,             -- per thread
  occupancy            REAL,                -- 0 to 1
  compile_ms           REAL,
  load_ms              REAL,
  check_ms             REAL,
  time_ms              REAL,
  queue_ms             REAL,
  image_digest         TEXT NOT NULL,
  source_digest        TEXT NOT NULL,
  PRIMARY KEY (run, candidate),
  FOREIGN KEY (run, candidate) REFERENCES candidate (run, candidate) ON DELETE CASCADE
) STRICT;
CREATE INDEX evaluation_by_score ON evaluation (run, score_ns);

CREATE TABLE case_measurement (
  run       INTEGER NOT NULL,
  candidate INTEGER NOT NULL,
  position  INTEGER NOT NULL,
  case_name TEXT NOT NULL,
  weight    REAL NOT NULL,
  median_ns REAL,
  p10_ns    REAL,
  p90_ns    REAL,
  busy_ns   REAL,
  wall_ns   REAL,
  tick_ns   REAL,
  discarded INTEGER NOT NULL,               -- samples thrown away as disturbed
  max_error REAL,                           -- over the reference's root mean square
  l2_error  REAL,                           -- relative
  samples   BLOB NOT NULL CHECK (length(samples) % 4 = 0),   -- spans in ticks, 32-bit unsigned, little-endian
  PRIMARY KEY (run, candidate, position),
  FOREIGN KEY (run, candidate) REFERENCES candidate (run, candidate) ON DELETE CASCADE
) STRICT;

CREATE TABLE champion_check (
  champion_check INTEGER PRIMARY KEY,       -- a candidate may be checked again: its largest number counts
  run            INTEGER NOT NULL,
  candidate      INTEGER NOT NULL,
  outcome        TEXT NOT NULL,             -- of the held-out cases
  message        TEXT NOT NULL,
  candidate_ns   REAL,
  baseline_ns    REAL,
  speedup        REAL,                      -- baseline_ns / candidate_ns
  checked_at     TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
  FOREIGN KEY (run, candidate) REFERENCES candidate (run, candidate) ON DELETE CASCADE
) STRICT;
CREATE INDEX champion_check_by_candidate ON champion_check (run, candidate);

CREATE TABLE champion_case (
  champion_check INTEGER NOT NULL REFERENCES champion_check (champion_check) ON DELETE CASCADE,
  side           TEXT NOT NULL CHECK (side IN ('candidate', 'baseline')),
  position       INTEGER NOT NULL,
  case_name      TEXT NOT NULL,
  weight         REAL NOT NULL,
  median_ns      REAL,
  p10_ns         REAL,
  p90_ns         REAL,
  busy_ns        REAL,
  wall_ns        REAL,
  tick_ns        REAL,
  discarded      INTEGER NOT NULL,
  max_error      REAL,
  l2_error       REAL,
  samples        BLOB NOT NULL CHECK (length(samples) % 4 = 0),
  PRIMARY KEY (champion_check, side, position)
) STRICT;

CREATE TABLE held_out_case (
  champion_check INTEGER NOT NULL REFERENCES champion_check (champion_check) ON DELETE CASCADE,
  position       INTEGER NOT NULL,
  case_name      TEXT NOT NULL,
  PRIMARY KEY (champion_check, position)
) STRICT;

-- The genome is kept once, as JSON; these two open it up.
CREATE VIEW parameter AS
  SELECT c.run, c.candidate, p.key AS name, p.value AS value
  FROM candidate AS c, json_each(c.genome, '$.parameters') AS p;

CREATE VIEW edit AS
  SELECT c.run, c.candidate, e.key AS position, json_extract(e.value, '$.op') AS operator, e.value AS edit
  FROM candidate AS c, json_each(c.genome, '$.edits') AS e;

-- A check that was cancelled says nothing.
CREATE VIEW latest_check AS
  SELECT k.* FROM champion_check AS k
  WHERE k.champion_check = (SELECT max(champion_check) FROM champion_check
                            WHERE run = k.run AND candidate = k.candidate AND outcome <> 'cancelled');

-- One row per run: the fastest candidate that passed the champion check; where none did, the fastest that was not checked. A
-- candidate that failed the check is never best.
CREATE VIEW best AS
  WITH ranked AS (
    SELECT e.run, e.candidate, e.score_ns, k.outcome AS check_outcome, k.speedup,
           row_number() OVER (PARTITION BY e.run ORDER BY k.outcome IS NULL, e.score_ns, e.candidate) AS place
    FROM evaluation AS e LEFT JOIN latest_check AS k USING (run, candidate)
    WHERE e.outcome = 'ok' AND coalesce(k.outcome, 'ok') = 'ok')
  SELECT b.run, r.task, b.candidate, c.template, c.operator, b.score_ns / 1000.0 AS score_us, b.speedup,
         CASE WHEN b.check_outcome IS NULL THEN 'not checked' ELSE 'held-out ok' END AS verdict,
         r.device_name, r.l2, c.generation
  FROM ranked AS b JOIN candidate AS c USING (run, candidate) JOIN run AS r USING (run)
  WHERE b.place = 1;

-- A candidate's line of first parents; steps_back 0 is the candidate itself. Always ask for one candidate of one run.
CREATE VIEW lineage AS
  WITH RECURSIVE line (run, candidate, steps_back, ancestor) AS (
    SELECT run, candidate, 0, candidate FROM candidate
    UNION ALL
    SELECT l.run, l.candidate, l.steps_back + 1, p.parent
    FROM line AS l JOIN parent AS p ON p.run = l.run AND p.candidate = l.ancestor AND p.position = 0)
  SELECT l.run, l.candidate, l.steps_back, l.ancestor, c.generation, c.operator, e.outcome, e.score_ns
  FROM line AS l
  JOIN candidate AS c ON c.run = l.run AND c.candidate = l.ancestor
  LEFT JOIN evaluation AS e ON e.run = l.run AND e.candidate = l.ancestor;

CREATE VIEW operator_success AS
  WITH child AS (
    SELECT c.run, c.operator, e.outcome, pe.score_ns / e.score_ns AS gain
    FROM candidate AS c
    JOIN evaluation AS e USING (run, candidate)
    LEFT JOIN parent AS p ON p.run = c.run AND p.candidate = c.candidate AND p.position = 0
    LEFT JOIN evaluation AS pe ON pe.run = p.run AND pe.candidate = p.parent),
  made AS (
    SELECT run, operator, count(*) AS children, sum(outcome = 'ok') AS valid, sum(coalesce(gain > 1, 0)) AS faster,
           max(gain) AS best_gain
    FROM child GROUP BY run, operator),
  missed AS (SELECT run, operator, sum(times) AS inapplicable FROM operator_inapplicable GROUP BY run, operator),
  known AS (SELECT run, operator FROM made UNION SELECT run, operator FROM missed)
  SELECT k.run, k.operator, coalesce(m.children, 0) AS children, coalesce(m.valid, 0) AS valid,
         coalesce(m.faster, 0) AS faster_than_parent, m.best_gain, coalesce(i.inapplicable, 0) AS inapplicable
  FROM known AS k
  LEFT JOIN made AS m USING (run, operator)
  LEFT JOIN missed AS i USING (run, operator);

-- A candidate that failed the champion check is not counted among the fastest.
CREATE VIEW progress AS
  WITH fastest AS (
    SELECT g.run, g.generation, min(CASE WHEN coalesce(k.outcome, 'ok') = 'ok' THEN e.score_ns END) AS best_ns
    FROM generation AS g
    LEFT JOIN candidate AS c USING (run, generation)
    LEFT JOIN evaluation AS e USING (run, candidate)
    LEFT JOIN latest_check AS k USING (run, candidate)
    GROUP BY g.run, g.generation)
  SELECT g.run, g.generation, g.evaluated, g.valid, g.duplicates, f.best_ns,
         min(f.best_ns) OVER (PARTITION BY g.run ORDER BY g.generation) AS best_so_far_ns
  FROM generation AS g JOIN fastest AS f USING (run, generation);

-- One row per sample. A byte's value is found through its two hexadecimal digits: SQLite has no function from blob to integer.
CREATE VIEW sample AS
  WITH RECURSIVE place (i) AS (
    SELECT 0
    UNION ALL
    SELECT i + 1 FROM place WHERE i + 1 < (SELECT max(length(samples)) / 4 FROM case_measurement)),
  word AS (
    SELECT m.run, m.candidate, m.case_name, m.tick_ns, p.i, hex(substr(m.samples, 4 * p.i + 1, 4)) AS h
    FROM case_measurement AS m JOIN place AS p ON p.i < length(m.samples) / 4),
  tick AS (
    SELECT run, candidate, case_name, tick_ns, i,
           (instr('123456789ABCDEF', substr(h, 7, 1)) << 28) + (instr('123456789ABCDEF', substr(h, 8, 1)) << 24) +
           (instr('123456789ABCDEF', substr(h, 5, 1)) << 20) + (instr('123456789ABCDEF', substr(h, 6, 1)) << 16) +
           (instr('123456789ABCDEF', substr(h, 3, 1)) << 12) + (instr('123456789ABCDEF', substr(h, 4, 1)) << 8) +
           (instr('123456789ABCDEF', substr(h, 1, 1)) << 4) + instr('123456789ABCDEF', substr(h, 2, 1)) AS ticks
    FROM word)
  SELECT run, candidate, case_name, i AS idx, ticks, ticks * tick_ns AS span_ns FROM tick;
