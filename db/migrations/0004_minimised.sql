-- Version 4: champions cut to the edits that they need, and what each edit that is left is worth.

CREATE TABLE minimised (
  run       INTEGER NOT NULL,
  champion  INTEGER NOT NULL,               -- a candidate that passed its check
  candidate INTEGER NOT NULL,               -- what is left of it; the champion itself if it needs all its edits
  PRIMARY KEY (run, champion),
  FOREIGN KEY (run, champion) REFERENCES candidate (run, candidate) ON DELETE CASCADE,
  FOREIGN KEY (run, candidate) REFERENCES candidate (run, candidate) ON DELETE CASCADE
) STRICT;
CREATE INDEX minimised_by_candidate ON minimised (run, candidate);

CREATE TABLE left_out_edit (
  run       INTEGER NOT NULL,
  candidate INTEGER NOT NULL,               -- a minimised form
  position  INTEGER NOT NULL,               -- of one of its edits
  without   INTEGER,                        -- the candidate that lacks it; NULL if it could not be rendered or was not tried
  PRIMARY KEY (run, candidate, position),
  FOREIGN KEY (run, candidate) REFERENCES candidate (run, candidate) ON DELETE CASCADE,
  FOREIGN KEY (run, without) REFERENCES candidate (run, candidate) ON DELETE CASCADE
) STRICT;
CREATE INDEX left_out_edit_by_without ON left_out_edit (run, without);

-- worth: how many times slower the candidate is without the edit; NULL where it is not ok without it, or that is not known.
CREATE VIEW edit_worth AS
  SELECT l.run, l.candidate, l.position, json_extract(c.genome, '$.edits[' || l.position || '].op') AS operator, l.without, w.outcome,
         w.score_ns / e.score_ns AS worth
  FROM left_out_edit AS l
  JOIN candidate AS c USING (run, candidate)
  JOIN evaluation AS e USING (run, candidate)
  LEFT JOIN evaluation AS w ON w.run = l.run AND w.candidate = l.without;

-- One row per run: the fastest verified candidate; where there is none, the fastest that holds on the held-out cases; then the fastest
-- that was not checked. A candidate that failed a check is never best. A minimised form is as fast as its champion within the noise: it counts
-- with the better of the two times, and before the champion.
DROP VIEW best;
CREATE VIEW best AS
  WITH ranked AS (
    SELECT e.run, e.candidate, e.score_ns, v.speedup, coalesce(v.verdict, 'not checked') AS verdict,
           row_number() OVER (PARTITION BY e.run
                              ORDER BY CASE v.verdict WHEN 'verified' THEN 0 WHEN 'held-out ok' THEN 1 ELSE 2 END,
                                       min(e.score_ns, coalesce(w.score_ns, e.score_ns)), m.candidate IS NULL, e.candidate) AS place
    FROM evaluation AS e
    LEFT JOIN verdict AS v USING (run, candidate)
    LEFT JOIN minimised AS m USING (run, candidate)
    LEFT JOIN evaluation AS w ON w.run = m.run AND w.candidate = m.champion
    WHERE e.outcome = 'ok' AND coalesce(v.verdict, '') <> 'failed')
  SELECT b.run, r.task, b.candidate, c.template, c.operator, b.score_ns / 1000.0 AS score_us, b.speedup, b.verdict,
         r.device_name, r.l2, c.generation
  FROM ranked AS b JOIN candidate AS c USING (run, candidate) JOIN run AS r USING (run)
  WHERE b.place = 1;
