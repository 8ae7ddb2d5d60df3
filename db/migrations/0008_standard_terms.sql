-- Version 8: columns and views are named by the field's standard terms. Views with the old names stay for this version.

ALTER TABLE evaluation RENAME COLUMN soak_ms TO reverification_ms;
ALTER TABLE evaluation RENAME COLUMN soak_runs TO reverification_runs;
ALTER TABLE case_measurement RENAME COLUMN given_up TO pruned;
ALTER TABLE case_measurement RENAME COLUMN held_back TO throttle_reason;
ALTER TABLE champion_case RENAME COLUMN given_up TO pruned;
ALTER TABLE champion_case RENAME COLUMN held_back TO throttle_reason;
ALTER TABLE machine RENAME COLUMN held_back TO throttle_reason;

UPDATE evaluation SET stage = 'reverify' WHERE stage = 'soak';
UPDATE run SET options = json_remove(json_set(options, '$.rewards', json_extract(options, '$.earned')), '$.earned')
  WHERE json_valid(options) AND json_type(options, '$.earned') IS NOT NULL;

-- A row per run and operator. valid and improving do not count neutral children; mean_gain is that of the improving children.
CREATE VIEW operator_reward AS
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

-- Old names.
DROP VIEW operator_earned;
CREATE VIEW operator_earned AS SELECT * FROM operator_reward;
CREATE VIEW evaluation_v7 AS SELECT *, reverification_ms AS soak_ms, reverification_runs AS soak_runs FROM evaluation;
CREATE VIEW case_measurement_v7 AS SELECT *, pruned AS given_up, throttle_reason AS held_back FROM case_measurement;
CREATE VIEW champion_case_v7 AS SELECT *, pruned AS given_up, throttle_reason AS held_back FROM champion_case;
CREATE VIEW machine_v7 AS SELECT *, throttle_reason AS held_back FROM machine;
