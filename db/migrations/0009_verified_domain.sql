-- Version 9: on which inputs and sizes a champion candidate was shown right, and what a search for counter-examples found.

-- An input program (docs/measurement.md) by which the inputs of failed_case are drawn; empty: the generator alone. NULL if no check failed.
ALTER TABLE evaluation ADD COLUMN failed_inputs TEXT;

-- The inputs on which a champion candidate failed, as in evaluation. NULL if none.
ALTER TABLE champion_check ADD COLUMN failed_case TEXT;
ALTER TABLE champion_check ADD COLUMN failed_generator INTEGER;
ALTER TABLE champion_check ADD COLUMN failed_seed TEXT;   -- decimal
ALTER TABLE champion_check ADD COLUMN failed_inputs TEXT;
-- The search for counter-examples. A version before 9 made none.
ALTER TABLE champion_check ADD COLUMN adversary_inputs INTEGER NOT NULL DEFAULT 0;   -- number of inputs tried
ALTER TABLE champion_check ADD COLUMN adversary_worst REAL;                          -- largest error over its bound; more than 1 is wrong
ALTER TABLE champion_check ADD COLUMN adversary_worst_inputs TEXT NOT NULL DEFAULT '';
-- Time on contents that no launch has seen over time on contents that repeat, relative to the baseline's.
ALTER TABLE champion_check ADD COLUMN fresh_ratio REAL;

-- What a check has covered beyond the cases of the task, and what it has left out.
CREATE TABLE verified_domain (
  champion_check INTEGER NOT NULL REFERENCES champion_check (champion_check) ON DELETE CASCADE,
  position       INTEGER NOT NULL,
  kind           TEXT NOT NULL CHECK (kind IN ('sizes', 'inputs', 'left out')),
  what           TEXT NOT NULL,                 -- sizes such as 'ROWS=1,COLS=1283', or an input program
  reason         TEXT NOT NULL DEFAULT '',      -- why it was left out
  PRIMARY KEY (champion_check, position)
) STRICT;

-- Inputs that candidates failed on, found by any check of any run of a task.
CREATE VIEW task_counterexample AS
  WITH found AS (
    SELECT run, failed_case, failed_generator, failed_seed, failed_inputs FROM evaluation WHERE failed_case IS NOT NULL
    UNION ALL
    SELECT run, failed_case, failed_generator, failed_seed, failed_inputs FROM champion_check WHERE failed_case IS NOT NULL)
  SELECT r.task, r.task_digest, f.failed_case, f.failed_generator, coalesce(f.failed_inputs, '') AS failed_inputs,
         max(f.failed_seed) AS failed_seed, count(*) AS candidates
  FROM found AS f JOIN run AS r USING (run)
  GROUP BY r.task_digest, f.failed_case, f.failed_generator, coalesce(f.failed_inputs, '');
