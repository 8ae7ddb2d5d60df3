-- Version 16: the class that counts, where a candidate was counted, is decided here.

-- Of a candidate: by the counters if it was counted, else as it was found without them. NULL: not recorded.
CREATE VIEW candidate_class AS
  SELECT e.run, e.candidate, coalesce(k.bottleneck, e.bottleneck) AS bottleneck, coalesce(k.evidence, e.evidence) AS evidence,
         k.generation AS counted_in
  FROM evaluation_row AS e LEFT JOIN counted_elite AS k USING (run, candidate);

-- Of a child whose first parent is known: the class that the parent had when it was bred, and what became of the child.
CREATE VIEW child_by_class AS
  SELECT c.run, c.candidate, c.operator, e.outcome, coalesce(e.program_digest <> '' AND e.program_digest = pe.program_digest, 0) AS neutral,
         pe.score_ns AS parent_ns, e.score_ns,
         coalesce((SELECT k.bottleneck FROM counted_elite AS k WHERE k.run = pe.run AND k.candidate = pe.candidate AND k.generation < c.generation),
           pe.bottleneck) AS bottleneck
  FROM candidate_row AS c
  JOIN evaluation_row AS e ON e.run = c.run AND e.candidate = c.candidate
  JOIN parent AS p ON p.run = c.run AND p.candidate = c.candidate AND p.position = 0
  JOIN evaluation_row AS pe ON pe.run = p.run AND pe.candidate = p.parent
  WHERE e.outcome <> 'cancelled';

DROP VIEW operator_by_bottleneck;
-- What operators won on parents of each bottleneck. valid and improving do not count neutral children.
CREATE VIEW operator_by_bottleneck AS
  SELECT run, bottleneck, operator, count(*) AS tries, sum(outcome = 'ok' AND NOT neutral) AS valid,
         sum(coalesce(score_ns < parent_ns, 0) AND NOT neutral) AS improving, max(parent_ns / score_ns) AS best_gain
  FROM child_by_class WHERE bottleneck IS NOT NULL
  GROUP BY run, bottleneck, operator;
