-- Version 5: what operators have earned, neutral children apart.

-- A row a child that was evaluated and whose first parent was. neutral: it compiled to its first parent's program. gain: parent's time over its own.
CREATE VIEW operator_child AS
  SELECT c.run, c.candidate, c.operator, e.outcome, e.program_digest <> '' AND e.program_digest = pe.program_digest AS neutral,
         pe.score_ns AS parent_ns, e.score_ns, pe.score_ns / e.score_ns AS gain
  FROM candidate AS c
  JOIN evaluation AS e USING (run, candidate)
  JOIN parent AS p ON p.run = c.run AND p.candidate = c.candidate AND p.position = 0
  JOIN evaluation AS pe ON pe.run = p.run AND pe.candidate = p.parent
  WHERE e.outcome <> 'cancelled';

-- Of a run and operator. valid and improving do not count neutral children; mean_gain is that of the improving ones.
CREATE VIEW operator_earned AS
  WITH made AS (
    SELECT run, operator, count(*) AS tries, sum(outcome = 'ok' AND NOT neutral) AS valid, sum(neutral) AS neutral,
           sum(coalesce(gain > 1 AND NOT neutral, 0)) AS improving, total(CASE WHEN gain > 1 AND NOT neutral THEN gain END) AS gains, max(gain) AS best_gain
    FROM operator_child GROUP BY run, operator),
  missed AS (SELECT run, operator, sum(times) AS inapplicable FROM operator_inapplicable GROUP BY run, operator),
  known AS (SELECT run, operator FROM made UNION SELECT run, operator FROM missed)
  SELECT k.run, k.operator, coalesce(m.tries, 0) AS tries, coalesce(m.valid, 0) AS valid, coalesce(m.neutral, 0) AS neutral,
         coalesce(m.improving, 0) AS improving, coalesce(m.gains, 0) AS gains, m.gains / nullif(m.improving, 0) AS mean_gain, m.best_gain,
         coalesce(i.inapplicable, 0) AS inapplicable
  FROM known AS k
  LEFT JOIN made AS m USING (run, operator)
  LEFT JOIN missed AS i USING (run, operator);
