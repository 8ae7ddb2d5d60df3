-- Version 2: what a candidate failed on, where an evaluation was taken from, and what the sanitizers said of a would-be champion.

ALTER TABLE evaluation ADD COLUMN program_digest TEXT NOT NULL DEFAULT '';   -- of the image and of how it is launched
-- The same program had been evaluated before: there are its samples. Both NULL for an evaluation of its own.
ALTER TABLE evaluation ADD COLUMN shared_run INTEGER;
ALTER TABLE evaluation ADD COLUMN shared_candidate INTEGER;
-- The inputs on which it was found out; drawn again from these they are the same. NULL if it was not.
ALTER TABLE evaluation ADD COLUMN failed_case TEXT;
ALTER TABLE evaluation ADD COLUMN failed_generator INTEGER;   -- counted as the task lists them
ALTER TABLE evaluation ADD COLUMN failed_seed TEXT;           -- decimal

ALTER TABLE case_measurement ADD COLUMN given_up INTEGER NOT NULL DEFAULT 0;   -- 1: clearly slower than the fastest; few samples
ALTER TABLE champion_case ADD COLUMN given_up INTEGER NOT NULL DEFAULT 0;

CREATE INDEX evaluation_by_source ON evaluation (source_digest);

-- A tool run over the candidate's smallest case of several blocks.
CREATE TABLE tool_check (
  champion_check INTEGER NOT NULL REFERENCES champion_check (champion_check) ON DELETE CASCADE,
  position       INTEGER NOT NULL,
  tool           TEXT NOT NULL,             -- memcheck, racecheck, initcheck, synccheck
  result         TEXT NOT NULL CHECK (result IN ('clean', 'error', 'unsupported', 'timeout', 'missing')),
  message        TEXT NOT NULL,
  PRIMARY KEY (champion_check, position)
) STRICT;

-- A candidate is verified if it holds on the held-out cases, one tool at least found nothing, and none found an error.
CREATE VIEW verdict AS
  WITH tools AS (
    SELECT champion_check, sum(result = 'clean') AS clean, sum(result = 'error') AS errors FROM tool_check GROUP BY champion_check)
  SELECT k.run, k.candidate, k.champion_check, k.outcome, k.speedup,
         CASE WHEN k.outcome <> 'ok' OR coalesce(t.errors, 0) > 0 THEN 'failed'
              WHEN coalesce(t.clean, 0) > 0 THEN 'verified'
              ELSE 'held-out ok' END AS verdict
  FROM latest_check AS k LEFT JOIN tools AS t USING (champion_check);

-- One row per run: the fastest verified candidate; where there is none, the fastest that holds on the held-out cases; then the fastest
-- that was not checked. A candidate that failed a check is never best.
DROP VIEW best;
CREATE VIEW best AS
  WITH ranked AS (
    SELECT e.run, e.candidate, e.score_ns, v.speedup, coalesce(v.verdict, 'not checked') AS verdict,
           row_number() OVER (PARTITION BY e.run
                              ORDER BY CASE v.verdict WHEN 'verified' THEN 0 WHEN 'held-out ok' THEN 1 ELSE 2 END, e.score_ns, e.candidate) AS place
    FROM evaluation AS e LEFT JOIN verdict AS v USING (run, candidate)
    WHERE e.outcome = 'ok' AND coalesce(v.verdict, '') <> 'failed')
  SELECT b.run, r.task, b.candidate, c.template, c.operator, b.score_ns / 1000.0 AS score_us, b.speedup, b.verdict,
         r.device_name, r.l2, c.generation
  FROM ranked AS b JOIN candidate AS c USING (run, candidate) JOIN run AS r USING (run)
  WHERE b.place = 1;

DROP VIEW progress;
CREATE VIEW progress AS
  WITH fastest AS (
    SELECT g.run, g.generation, min(CASE WHEN coalesce(v.verdict, '') <> 'failed' THEN e.score_ns END) AS best_ns
    FROM generation AS g
    LEFT JOIN candidate AS c USING (run, generation)
    LEFT JOIN evaluation AS e USING (run, candidate)
    LEFT JOIN verdict AS v USING (run, candidate)
    GROUP BY g.run, g.generation)
  SELECT g.run, g.generation, g.evaluated, g.valid, g.duplicates, f.best_ns,
         min(f.best_ns) OVER (PARTITION BY g.run ORDER BY g.generation) AS best_so_far_ns
  FROM generation AS g JOIN fastest AS f USING (run, generation);

-- What kills most.
CREATE VIEW counterexample AS
  SELECT run, failed_case, failed_generator, count(*) AS candidates
  FROM evaluation WHERE failed_case IS NOT NULL
  GROUP BY run, failed_case, failed_generator;
