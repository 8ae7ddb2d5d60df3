-- Version 13: what the machine code of a candidate consists of, and what its time is spent on.

-- Numbers of instructions as they stand in the code; NULL: not known. A column that is added is NULL in all older rows.
ALTER TABLE evaluation_row ADD COLUMN instructions INTEGER;
ALTER TABLE evaluation_row ADD COLUMN loads_128 INTEGER;
ALTER TABLE evaluation_row ADD COLUMN loads_64 INTEGER;
ALTER TABLE evaluation_row ADD COLUMN loads_32 INTEGER;
ALTER TABLE evaluation_row ADD COLUMN stores INTEGER;
ALTER TABLE evaluation_row ADD COLUMN shared_loads INTEGER;
ALTER TABLE evaluation_row ADD COLUMN shared_stores INTEGER;
ALTER TABLE evaluation_row ADD COLUMN async_copies INTEGER;
ALTER TABLE evaluation_row ADD COLUMN tensor_operations INTEGER;
ALTER TABLE evaluation_row ADD COLUMN barriers INTEGER;
ALTER TABLE evaluation_row ADD COLUMN conversions INTEGER;
ALTER TABLE evaluation_row ADD COLUMN special_functions INTEGER;
ALTER TABLE evaluation_row ADD COLUMN integer_operations INTEGER;
ALTER TABLE evaluation_row ADD COLUMN float_operations INTEGER;
ALTER TABLE evaluation_row ADD COLUMN branches INTEGER;
ALTER TABLE evaluation_row ADD COLUMN local_accesses INTEGER;
ALTER TABLE evaluation_row ADD COLUMN bottleneck TEXT;   -- NULL: not looked at
ALTER TABLE evaluation_row ADD COLUMN evidence TEXT;     -- for it, one line

DROP VIEW evaluation_v7;
DROP VIEW evaluation;

CREATE VIEW evaluation AS
  SELECT e.run, e.candidate, e.outcome, e.stage, coalesce((SELECT t.content FROM text AS t WHERE t.text = e.message), '') AS message,
         coalesce((SELECT t.content FROM text AS t WHERE t.text = e.log), '') AS log, e.score_ns,
         (SELECT d.device FROM condition AS d WHERE d.condition = e.condition) AS device,
         (SELECT d.device_name FROM condition AS d WHERE d.condition = e.condition) AS device_name,
         (SELECT d.l2 FROM condition AS d WHERE d.condition = e.condition) AS l2,
         e.registers, e.static_shared_bytes, e.dynamic_shared_bytes, e.spill_bytes, e.local_bytes, e.occupancy, e.compile_ms, e.load_ms,
         e.check_ms, e.time_ms, e.queue_ms, e.image_digest, e.source_digest, e.program_digest, e.shared_run, e.shared_candidate, e.failed_case,
         e.failed_generator, e.failed_seed, e.reverification_ms, e.reverification_runs, e.failed_inputs,
         e.instructions, e.loads_128, e.loads_64, e.loads_32, e.stores, e.shared_loads, e.shared_stores, e.async_copies,
         e.tensor_operations, e.barriers, e.conversions, e.special_functions, e.integer_operations, e.float_operations, e.branches,
         e.local_accesses, e.bottleneck, coalesce(e.evidence, '') AS evidence
  FROM evaluation_row AS e;

CREATE TRIGGER evaluation_insert INSTEAD OF INSERT ON evaluation BEGIN
  INSERT INTO text (content) SELECT NEW.message WHERE NEW.message <> '' AND NOT EXISTS
    (SELECT 1 FROM text AS t WHERE length(t.content) = length(NEW.message) AND substr(t.content, 23, 16) = substr(NEW.message, 23, 16) AND
        substr(t.content, -16) = substr(NEW.message, -16) AND t.content IS NEW.message);
  INSERT INTO text (content) SELECT NEW.log WHERE NEW.log <> '' AND NOT EXISTS
    (SELECT 1 FROM text AS t WHERE length(t.content) = length(NEW.log) AND substr(t.content, 23, 16) = substr(NEW.log, 23, 16) AND
        substr(t.content, -16) = substr(NEW.log, -16) AND t.content IS NEW.log);
  INSERT OR IGNORE INTO condition (device, device_name, l2) VALUES (NEW.device, NEW.device_name, NEW.l2);
  INSERT INTO evaluation_row (
      run, candidate, outcome, stage, message, log, score_ns, condition, registers, static_shared_bytes, dynamic_shared_bytes,
      spill_bytes, local_bytes, occupancy, compile_ms, load_ms, check_ms, time_ms, queue_ms, image_digest, source_digest, program_digest,
      shared_run, shared_candidate, failed_case, failed_generator, failed_seed, reverification_ms, reverification_runs, failed_inputs,
      instructions, loads_128, loads_64, loads_32, stores, shared_loads, shared_stores, async_copies, tensor_operations, barriers,
      conversions, special_functions, integer_operations, float_operations, branches, local_accesses, bottleneck, evidence)
    VALUES (
      NEW.run, NEW.candidate, NEW.outcome, NEW.stage,
      (SELECT t.text FROM text AS t WHERE length(t.content) = length(NEW.message) AND substr(t.content, 23, 16) = substr(NEW.message, 23, 16) AND
        substr(t.content, -16) = substr(NEW.message, -16) AND t.content IS NEW.message LIMIT 1),
      (SELECT t.text FROM text AS t WHERE length(t.content) = length(NEW.log) AND substr(t.content, 23, 16) = substr(NEW.log, 23, 16) AND
        substr(t.content, -16) = substr(NEW.log, -16) AND t.content IS NEW.log LIMIT 1),
      NEW.score_ns,
      (SELECT d.condition FROM condition AS d WHERE d.device = NEW.device AND d.device_name = NEW.device_name AND d.l2 = NEW.l2),
      NEW.registers, NEW.static_shared_bytes, NEW.dynamic_shared_bytes, NEW.spill_bytes, NEW.local_bytes, NEW.occupancy, NEW.compile_ms,
      NEW.load_ms, NEW.check_ms, NEW.time_ms, NEW.queue_ms, NEW.image_digest, NEW.source_digest, coalesce(NEW.program_digest, ''),
      NEW.shared_run, NEW.shared_candidate, NEW.failed_case, NEW.failed_generator, NEW.failed_seed, coalesce(NEW.reverification_ms, 0),
      coalesce(NEW.reverification_runs, 0), NEW.failed_inputs,
      NEW.instructions, NEW.loads_128, NEW.loads_64, NEW.loads_32, NEW.stores, NEW.shared_loads, NEW.shared_stores, NEW.async_copies,
      NEW.tensor_operations, NEW.barriers, NEW.conversions, NEW.special_functions, NEW.integer_operations, NEW.float_operations,
      NEW.branches, NEW.local_accesses, NEW.bottleneck, NEW.evidence);
END;
CREATE TRIGGER evaluation_update INSTEAD OF UPDATE ON evaluation BEGIN
  INSERT INTO text (content) SELECT NEW.message WHERE NEW.message <> '' AND NOT EXISTS
    (SELECT 1 FROM text AS t WHERE length(t.content) = length(NEW.message) AND substr(t.content, 23, 16) = substr(NEW.message, 23, 16) AND
        substr(t.content, -16) = substr(NEW.message, -16) AND t.content IS NEW.message);
  INSERT INTO text (content) SELECT NEW.log WHERE NEW.log <> '' AND NOT EXISTS
    (SELECT 1 FROM text AS t WHERE length(t.content) = length(NEW.log) AND substr(t.content, 23, 16) = substr(NEW.log, 23, 16) AND
        substr(t.content, -16) = substr(NEW.log, -16) AND t.content IS NEW.log);
  INSERT OR IGNORE INTO condition (device, device_name, l2) VALUES (NEW.device, NEW.device_name, NEW.l2);
  UPDATE evaluation_row SET
      run = NEW.run, candidate = NEW.candidate, outcome = NEW.outcome, stage = NEW.stage,
      message = (SELECT t.text FROM text AS t WHERE length(t.content) = length(NEW.message) AND substr(t.content, 23, 16) = substr(NEW.message, 23, 16) AND
        substr(t.content, -16) = substr(NEW.message, -16) AND t.content IS NEW.message LIMIT 1),
      log = (SELECT t.text FROM text AS t WHERE length(t.content) = length(NEW.log) AND substr(t.content, 23, 16) = substr(NEW.log, 23, 16) AND
        substr(t.content, -16) = substr(NEW.log, -16) AND t.content IS NEW.log LIMIT 1),
      score_ns = NEW.score_ns,
      condition = (SELECT d.condition FROM condition AS d WHERE d.device = NEW.device AND d.device_name = NEW.device_name AND d.l2 = NEW.l2),
      registers = NEW.registers, static_shared_bytes = NEW.static_shared_bytes, dynamic_shared_bytes = NEW.dynamic_shared_bytes,
      spill_bytes = NEW.spill_bytes, local_bytes = NEW.local_bytes, occupancy = NEW.occupancy, compile_ms = NEW.compile_ms,
      load_ms = NEW.load_ms, check_ms = NEW.check_ms, time_ms = NEW.time_ms, queue_ms = NEW.queue_ms, image_digest = NEW.image_digest,
      source_digest = NEW.source_digest, program_digest = coalesce(NEW.program_digest, ''), shared_run = NEW.shared_run,
      shared_candidate = NEW.shared_candidate, failed_case = NEW.failed_case, failed_generator = NEW.failed_generator,
      failed_seed = NEW.failed_seed, reverification_ms = coalesce(NEW.reverification_ms, 0),
      reverification_runs = coalesce(NEW.reverification_runs, 0), failed_inputs = NEW.failed_inputs,
      instructions = NEW.instructions, loads_128 = NEW.loads_128, loads_64 = NEW.loads_64, loads_32 = NEW.loads_32, stores = NEW.stores,
      shared_loads = NEW.shared_loads, shared_stores = NEW.shared_stores, async_copies = NEW.async_copies,
      tensor_operations = NEW.tensor_operations, barriers = NEW.barriers, conversions = NEW.conversions,
      special_functions = NEW.special_functions, integer_operations = NEW.integer_operations, float_operations = NEW.float_operations,
      branches = NEW.branches, local_accesses = NEW.local_accesses, bottleneck = NEW.bottleneck, evidence = NEW.evidence
    WHERE run = OLD.run AND candidate = OLD.candidate;
END;
CREATE TRIGGER evaluation_delete INSTEAD OF DELETE ON evaluation BEGIN
  DELETE FROM evaluation_row WHERE run = OLD.run AND candidate = OLD.candidate;
END;

-- What operators won on parents of each bottleneck. valid and improving do not count neutral children.
CREATE VIEW operator_by_bottleneck AS
  SELECT c.run, pe.bottleneck, c.operator, count(*) AS tries, sum(e.outcome = 'ok' AND NOT (e.program_digest <> '' AND e.program_digest = pe.program_digest)) AS valid,
         sum(coalesce(e.score_ns < pe.score_ns, 0) AND NOT (e.program_digest <> '' AND e.program_digest = pe.program_digest)) AS improving,
         max(pe.score_ns / e.score_ns) AS best_gain
  FROM candidate_row AS c
  JOIN evaluation_row AS e ON e.run = c.run AND e.candidate = c.candidate
  JOIN parent AS p ON p.run = c.run AND p.candidate = c.candidate AND p.position = 0
  JOIN evaluation_row AS pe ON pe.run = p.run AND pe.candidate = p.parent
  WHERE e.outcome <> 'cancelled' AND pe.bottleneck IS NOT NULL
  GROUP BY c.run, pe.bottleneck, c.operator;

CREATE VIEW evaluation_v7 AS SELECT *, reverification_ms AS soak_ms, reverification_runs AS soak_runs FROM evaluation;
