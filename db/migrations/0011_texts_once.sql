-- Version 11: texts that repeat are stored once, rows lie under their keys, and each generation has its sums, so that a million candidates are
-- read as quickly as a hundred. `candidate`, `evaluation` and `case_measurement` are views now, which can be written like tables: triggers put
-- what is inserted, updated or deleted into `candidate_row`, `evaluation_row`, `case_row` and `text`. docs/database.md explains it.

DROP VIEW operator_earned;
DROP VIEW evaluation_v7;
DROP VIEW case_measurement_v7;
DROP VIEW champion_case_v7;
DROP VIEW machine_v7;
DROP VIEW operator_reward;
DROP VIEW operator_child;
DROP VIEW operator_success;
DROP VIEW task_counterexample;
DROP VIEW counterexample;
DROP VIEW edit_worth;
DROP VIEW efficiency;
DROP VIEW progress;
DROP VIEW best;
DROP VIEW lineage;
DROP VIEW sample;
DROP VIEW edit;
DROP VIEW parameter;
DROP VIEW verdict;
DROP VIEW latest_check;

-- A text is found through its length and two parts of it, since SQLite has no hash function, and an index of whole texts would store each
-- twice. In the JSON of an edit the first part is a digest. The comparison of the whole is spelt IS: after =, SQLite would put the value in the
-- place of the column everywhere, and see no index.
CREATE TABLE text (
  text    INTEGER PRIMARY KEY,
  content TEXT NOT NULL
) STRICT;
CREATE INDEX text_by_content ON text (length(content), substr(content, 23, 16), substr(content, -16));

-- Where and how an evaluation was timed.
CREATE TABLE condition (
  condition   INTEGER PRIMARY KEY,
  device      TEXT NOT NULL,
  device_name TEXT NOT NULL,
  l2          TEXT NOT NULL,
  UNIQUE (device, device_name, l2)
) STRICT;

-- The foreign keys of other tables follow a table that gets a new name; the table itself is made anew below.
ALTER TABLE candidate RENAME TO candidate_row;
ALTER TABLE evaluation RENAME TO evaluation_v10;
ALTER TABLE case_measurement RENAME TO case_measurement_v10;
ALTER TABLE parent RENAME TO parent_v10;

CREATE TABLE candidate_v11 (
  run         INTEGER NOT NULL,
  candidate   INTEGER NOT NULL,
  generation  INTEGER NOT NULL,
  idx         INTEGER NOT NULL,
  template    TEXT NOT NULL,
  operator    TEXT NOT NULL,
  genome_hash TEXT NOT NULL,
  head        INTEGER NOT NULL REFERENCES text (text),   -- the genome without its edits
  edits       TEXT,                                      -- JSON, the numbers of the edits' texts; NULL: head is the whole genome
  PRIMARY KEY (run, candidate),
  FOREIGN KEY (run, generation) REFERENCES generation (run, generation) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE parent (
  run       INTEGER NOT NULL,
  candidate INTEGER NOT NULL,
  position  INTEGER NOT NULL,               -- 0: the one that was changed; 1: the other one of a crossover
  parent    INTEGER NOT NULL,
  PRIMARY KEY (run, candidate, position),
  FOREIGN KEY (run, candidate) REFERENCES candidate_row (run, candidate) ON DELETE CASCADE,
  FOREIGN KEY (run, parent) REFERENCES candidate_row (run, candidate) DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;

CREATE TABLE evaluation_row (
  run                  INTEGER NOT NULL,
  candidate            INTEGER NOT NULL,
  outcome              TEXT NOT NULL,
  stage                TEXT NOT NULL,
  message              INTEGER REFERENCES text (text),   -- NULL: empty
  log                  INTEGER REFERENCES text (text),   -- NULL: empty
  score_ns             REAL,
  condition            INTEGER NOT NULL REFERENCES condition (condition),
  registers            INTEGER,
  static_shared_bytes  INTEGER,
  dynamic_shared_bytes INTEGER,
  spill_bytes          INTEGER,
  local_bytes          INTEGER,
  occupancy            REAL,
  compile_ms           REAL,
  load_ms              REAL,
  check_ms             REAL,
  time_ms              REAL,
  queue_ms             REAL,
  image_digest         TEXT NOT NULL,
  source_digest        TEXT NOT NULL,
  program_digest       TEXT NOT NULL,
  shared_run           INTEGER,
  shared_candidate     INTEGER,
  failed_case          TEXT,
  failed_generator     INTEGER,
  failed_seed          TEXT,
  reverification_ms    REAL NOT NULL,
  reverification_runs  INTEGER NOT NULL,
  failed_inputs        TEXT,
  PRIMARY KEY (run, candidate),
  FOREIGN KEY (run, candidate) REFERENCES candidate_row (run, candidate) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE case_row (
  run             INTEGER NOT NULL,
  candidate       INTEGER NOT NULL,
  position        INTEGER NOT NULL,
  case_name       TEXT NOT NULL,
  weight          REAL NOT NULL,
  median_ns       REAL,
  p10_ns          REAL,
  p90_ns          REAL,
  busy_ns         REAL,
  wall_ns         REAL,
  tick_ns         REAL,
  discarded       INTEGER NOT NULL,
  max_error       REAL,
  l2_error        REAL,
  samples         BLOB NOT NULL CHECK (length(samples) % 4 = 0),
  pruned          INTEGER NOT NULL,
  outliers        INTEGER NOT NULL,
  sm_low_mhz      INTEGER,
  sm_high_mhz     INTEGER,
  throttle_reason TEXT NOT NULL,
  launches        INTEGER REFERENCES text (text),        -- NULL: empty
  bytes           REAL,
  operations      REAL,
  PRIMARY KEY (run, candidate, position),
  FOREIGN KEY (run, candidate) REFERENCES candidate_row (run, candidate) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- The old rows move. A genome comes apart only if it can be put together to the same bytes.
CREATE TEMP TABLE moved_edit AS
  SELECT DISTINCT e.value AS content FROM candidate_row AS c, json_each(iif(json_valid(c.genome), c.genome, '{}'), '$.edits') AS e;
INSERT INTO text (content)
  SELECT content FROM moved_edit WHERE typeof(content) = 'text' UNION
  SELECT json_remove(genome, '$.edits') FROM candidate_row WHERE json_valid(genome) UNION
  SELECT message FROM evaluation_v10 WHERE message <> '' UNION
  SELECT log FROM evaluation_v10 WHERE log <> '' UNION
  SELECT launches FROM case_measurement_v10 WHERE launches <> '';
DROP TABLE moved_edit;
CREATE TEMP TABLE text_number (content TEXT PRIMARY KEY, text INTEGER) WITHOUT ROWID;
INSERT INTO text_number SELECT content, text FROM text;

INSERT INTO candidate_v11
  SELECT run, candidate, generation, idx, template, operator, genome_hash,
         coalesce((SELECT text FROM text_number WHERE content = json_remove(iif(json_valid(genome), genome, 'null'), '$.edits')), 0),
         (SELECT json_group_array((SELECT text FROM text_number WHERE content = e.value))
          FROM json_each(iif(json_valid(genome), genome, '{}'), '$.edits') AS e)
  FROM candidate_row ORDER BY run, candidate;
CREATE TEMP TABLE whole_genome AS
  SELECT o.run, o.candidate, o.genome FROM candidate_row AS o JOIN candidate_v11 AS n USING (run, candidate)
  WHERE o.genome IS NOT '{"edits":[' ||
        coalesce((SELECT group_concat(content, ',') FROM (SELECT (SELECT content FROM text WHERE text = e.value) AS content FROM json_each(n.edits) AS e)), '') ||
        '],' || substr((SELECT content FROM text WHERE text = n.head), 2);
INSERT INTO text (content) SELECT DISTINCT genome FROM whole_genome WHERE genome NOT IN (SELECT content FROM text_number);
INSERT OR IGNORE INTO text_number SELECT content, text FROM text WHERE content IN (SELECT genome FROM whole_genome);
UPDATE candidate_v11 SET edits = NULL, head = (SELECT text FROM text_number AS t JOIN whole_genome AS w ON t.content = w.genome
                                               WHERE w.run = candidate_v11.run AND w.candidate = candidate_v11.candidate)
  WHERE (run, candidate) IN (SELECT run, candidate FROM whole_genome);
DROP TABLE whole_genome;

INSERT INTO parent SELECT run, candidate, position, parent FROM parent_v10 ORDER BY run, candidate, position;
INSERT OR IGNORE INTO condition (device, device_name, l2) SELECT DISTINCT device, device_name, l2 FROM evaluation_v10;
INSERT INTO evaluation_row
  SELECT run, candidate, outcome, stage, (SELECT text FROM text_number WHERE content = message AND message <> ''),
         (SELECT text FROM text_number WHERE content = log AND log <> ''), score_ns,
         (SELECT condition FROM condition AS c WHERE c.device = e.device AND c.device_name = e.device_name AND c.l2 = e.l2),
         registers, static_shared_bytes, dynamic_shared_bytes, spill_bytes, local_bytes, occupancy, compile_ms, load_ms, check_ms, time_ms,
         queue_ms, image_digest, source_digest, program_digest, shared_run, shared_candidate, failed_case, failed_generator, failed_seed,
         reverification_ms, reverification_runs, failed_inputs
  FROM evaluation_v10 AS e ORDER BY run, candidate;
INSERT INTO case_row
  SELECT run, candidate, position, case_name, weight, median_ns, p10_ns, p90_ns, busy_ns, wall_ns, tick_ns, discarded, max_error, l2_error, samples,
         pruned, outliers, sm_low_mhz, sm_high_mhz, throttle_reason, (SELECT text FROM text_number WHERE content = launches AND launches <> ''),
         bytes, operations
  FROM case_measurement_v10 ORDER BY run, candidate, position;
DROP TABLE text_number;
DROP TABLE case_measurement_v10;
DROP TABLE evaluation_v10;
DROP TABLE parent_v10;
DROP TABLE candidate_row;
ALTER TABLE candidate_v11 RENAME TO candidate_row;

CREATE UNIQUE INDEX candidate_by_generation ON candidate_row (run, generation, idx);
CREATE INDEX parent_by_parent ON parent (run, parent);
CREATE INDEX evaluation_by_score ON evaluation_row (run, score_ns) WHERE outcome = 'ok';
CREATE INDEX evaluation_by_failure ON evaluation_row (run, failed_case) WHERE failed_case IS NOT NULL;

CREATE VIEW candidate AS
  SELECT c.run, c.candidate, c.generation, c.idx, c.template, c.operator, c.genome_hash,
         CASE WHEN c.edits IS NULL THEN (SELECT t.content FROM text AS t WHERE t.text = c.head)
              ELSE '{"edits":[' ||
                   coalesce((SELECT group_concat(x.content, ',')
                             FROM (SELECT (SELECT t.content FROM text AS t WHERE t.text = e.value) AS content FROM json_each(c.edits) AS e) AS x), '') ||
                   '],' || substr((SELECT t.content FROM text AS t WHERE t.text = c.head), 2) END AS genome
  FROM candidate_row AS c;

CREATE VIEW evaluation AS
  SELECT e.run, e.candidate, e.outcome, e.stage, coalesce((SELECT t.content FROM text AS t WHERE t.text = e.message), '') AS message,
         coalesce((SELECT t.content FROM text AS t WHERE t.text = e.log), '') AS log, e.score_ns,
         (SELECT d.device FROM condition AS d WHERE d.condition = e.condition) AS device,
         (SELECT d.device_name FROM condition AS d WHERE d.condition = e.condition) AS device_name,
         (SELECT d.l2 FROM condition AS d WHERE d.condition = e.condition) AS l2,
         e.registers, e.static_shared_bytes, e.dynamic_shared_bytes, e.spill_bytes, e.local_bytes, e.occupancy, e.compile_ms, e.load_ms,
         e.check_ms, e.time_ms, e.queue_ms, e.image_digest, e.source_digest, e.program_digest, e.shared_run, e.shared_candidate, e.failed_case,
         e.failed_generator, e.failed_seed, e.reverification_ms, e.reverification_runs, e.failed_inputs
  FROM evaluation_row AS e;

CREATE VIEW case_measurement AS
  SELECT m.run, m.candidate, m.position, m.case_name, m.weight, m.median_ns, m.p10_ns, m.p90_ns, m.busy_ns, m.wall_ns, m.tick_ns, m.discarded,
         m.max_error, m.l2_error, m.samples, m.pruned, m.outliers, m.sm_low_mhz, m.sm_high_mhz, m.throttle_reason,
         coalesce((SELECT t.content FROM text AS t WHERE t.text = m.launches), '') AS launches, m.bytes, m.operations
  FROM case_row AS m;

-- Writing the views.
CREATE TRIGGER candidate_insert INSTEAD OF INSERT ON candidate BEGIN
  INSERT INTO text (content) SELECT DISTINCT e.value FROM json_each(iif(json_valid(NEW.genome), NEW.genome, '{}'), '$.edits') AS e
    WHERE typeof(e.value) = 'text' AND NOT EXISTS
    (SELECT 1 FROM text AS t WHERE length(t.content) = length(e.value) AND substr(t.content, 23, 16) = substr(e.value, 23, 16) AND
        substr(t.content, -16) = substr(e.value, -16) AND t.content IS e.value);
  INSERT INTO text (content) SELECT json_remove(iif(json_valid(NEW.genome), NEW.genome, '{}'), '$.edits') WHERE json_remove(iif(json_valid(NEW.genome), NEW.genome, '{}'), '$.edits') <> '' AND NOT EXISTS
    (SELECT 1 FROM text AS t WHERE length(t.content) = length(json_remove(iif(json_valid(NEW.genome), NEW.genome, '{}'), '$.edits')) AND substr(t.content, 23, 16) = substr(json_remove(iif(json_valid(NEW.genome), NEW.genome, '{}'), '$.edits'), 23, 16) AND
        substr(t.content, -16) = substr(json_remove(iif(json_valid(NEW.genome), NEW.genome, '{}'), '$.edits'), -16) AND t.content IS json_remove(iif(json_valid(NEW.genome), NEW.genome, '{}'), '$.edits'));
  INSERT INTO candidate_row (run, candidate, generation, idx, template, operator, genome_hash, head, edits)
    VALUES (NEW.run, NEW.candidate, NEW.generation, NEW.idx, NEW.template, NEW.operator, NEW.genome_hash,
      (SELECT t.text FROM text AS t WHERE length(t.content) = length(json_remove(iif(json_valid(NEW.genome), NEW.genome, '{}'), '$.edits')) AND substr(t.content, 23, 16) = substr(json_remove(iif(json_valid(NEW.genome), NEW.genome, '{}'), '$.edits'), 23, 16) AND
        substr(t.content, -16) = substr(json_remove(iif(json_valid(NEW.genome), NEW.genome, '{}'), '$.edits'), -16) AND t.content IS json_remove(iif(json_valid(NEW.genome), NEW.genome, '{}'), '$.edits') LIMIT 1),
      (SELECT json_group_array((SELECT t.text FROM text AS t WHERE length(t.content) = length(e.value) AND substr(t.content, 23, 16) = substr(e.value, 23, 16) AND
        substr(t.content, -16) = substr(e.value, -16) AND t.content IS e.value LIMIT 1)) FROM json_each(iif(json_valid(NEW.genome), NEW.genome, '{}'), '$.edits') AS e));
  -- A genome that cannot be put together to the same bytes stays whole.
  INSERT INTO text (content) SELECT NEW.genome WHERE NEW.genome <> '' AND NEW.genome IS NOT (SELECT c.genome FROM candidate AS c WHERE c.run = NEW.run AND c.candidate = NEW.candidate) AND NOT EXISTS
    (SELECT 1 FROM text AS t WHERE length(t.content) = length(NEW.genome) AND substr(t.content, 23, 16) = substr(NEW.genome, 23, 16) AND
        substr(t.content, -16) = substr(NEW.genome, -16) AND t.content IS NEW.genome);
  UPDATE candidate_row SET edits = NULL, head = (SELECT t.text FROM text AS t WHERE length(t.content) = length(NEW.genome) AND substr(t.content, 23, 16) = substr(NEW.genome, 23, 16) AND
        substr(t.content, -16) = substr(NEW.genome, -16) AND t.content IS NEW.genome LIMIT 1)
    WHERE run = NEW.run AND candidate = NEW.candidate AND NEW.genome IS NOT (SELECT c.genome FROM candidate AS c WHERE c.run = NEW.run AND c.candidate = NEW.candidate);
END;
CREATE TRIGGER candidate_update INSTEAD OF UPDATE ON candidate BEGIN
  INSERT INTO text (content) SELECT DISTINCT e.value FROM json_each(iif(json_valid(NEW.genome), NEW.genome, '{}'), '$.edits') AS e
    WHERE typeof(e.value) = 'text' AND NOT EXISTS
    (SELECT 1 FROM text AS t WHERE length(t.content) = length(e.value) AND substr(t.content, 23, 16) = substr(e.value, 23, 16) AND
        substr(t.content, -16) = substr(e.value, -16) AND t.content IS e.value);
  INSERT INTO text (content) SELECT json_remove(iif(json_valid(NEW.genome), NEW.genome, '{}'), '$.edits') WHERE json_remove(iif(json_valid(NEW.genome), NEW.genome, '{}'), '$.edits') <> '' AND NOT EXISTS
    (SELECT 1 FROM text AS t WHERE length(t.content) = length(json_remove(iif(json_valid(NEW.genome), NEW.genome, '{}'), '$.edits')) AND substr(t.content, 23, 16) = substr(json_remove(iif(json_valid(NEW.genome), NEW.genome, '{}'), '$.edits'), 23, 16) AND
        substr(t.content, -16) = substr(json_remove(iif(json_valid(NEW.genome), NEW.genome, '{}'), '$.edits'), -16) AND t.content IS json_remove(iif(json_valid(NEW.genome), NEW.genome, '{}'), '$.edits'));
  UPDATE candidate_row SET run = NEW.run, candidate = NEW.candidate, generation = NEW.generation, idx = NEW.idx, template = NEW.template,
    operator = NEW.operator, genome_hash = NEW.genome_hash, head = (SELECT t.text FROM text AS t WHERE length(t.content) = length(json_remove(iif(json_valid(NEW.genome), NEW.genome, '{}'), '$.edits')) AND substr(t.content, 23, 16) = substr(json_remove(iif(json_valid(NEW.genome), NEW.genome, '{}'), '$.edits'), 23, 16) AND
        substr(t.content, -16) = substr(json_remove(iif(json_valid(NEW.genome), NEW.genome, '{}'), '$.edits'), -16) AND t.content IS json_remove(iif(json_valid(NEW.genome), NEW.genome, '{}'), '$.edits') LIMIT 1),
    edits = (SELECT json_group_array((SELECT t.text FROM text AS t WHERE length(t.content) = length(e.value) AND substr(t.content, 23, 16) = substr(e.value, 23, 16) AND
        substr(t.content, -16) = substr(e.value, -16) AND t.content IS e.value LIMIT 1)) FROM json_each(iif(json_valid(NEW.genome), NEW.genome, '{}'), '$.edits') AS e)
    WHERE run = OLD.run AND candidate = OLD.candidate;
  -- A genome that cannot be put together to the same bytes stays whole.
  INSERT INTO text (content) SELECT NEW.genome WHERE NEW.genome <> '' AND NEW.genome IS NOT (SELECT c.genome FROM candidate AS c WHERE c.run = NEW.run AND c.candidate = NEW.candidate) AND NOT EXISTS
    (SELECT 1 FROM text AS t WHERE length(t.content) = length(NEW.genome) AND substr(t.content, 23, 16) = substr(NEW.genome, 23, 16) AND
        substr(t.content, -16) = substr(NEW.genome, -16) AND t.content IS NEW.genome);
  UPDATE candidate_row SET edits = NULL, head = (SELECT t.text FROM text AS t WHERE length(t.content) = length(NEW.genome) AND substr(t.content, 23, 16) = substr(NEW.genome, 23, 16) AND
        substr(t.content, -16) = substr(NEW.genome, -16) AND t.content IS NEW.genome LIMIT 1)
    WHERE run = NEW.run AND candidate = NEW.candidate AND NEW.genome IS NOT (SELECT c.genome FROM candidate AS c WHERE c.run = NEW.run AND c.candidate = NEW.candidate);
END;
CREATE TRIGGER candidate_delete INSTEAD OF DELETE ON candidate BEGIN
  DELETE FROM candidate_row WHERE run = OLD.run AND candidate = OLD.candidate;
END;
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
      shared_run, shared_candidate, failed_case, failed_generator, failed_seed, reverification_ms, reverification_runs, failed_inputs)
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
      coalesce(NEW.reverification_runs, 0), NEW.failed_inputs);
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
      reverification_runs = coalesce(NEW.reverification_runs, 0), failed_inputs = NEW.failed_inputs
    WHERE run = OLD.run AND candidate = OLD.candidate;
END;
CREATE TRIGGER evaluation_delete INSTEAD OF DELETE ON evaluation BEGIN
  DELETE FROM evaluation_row WHERE run = OLD.run AND candidate = OLD.candidate;
END;
CREATE TRIGGER case_measurement_insert INSTEAD OF INSERT ON case_measurement BEGIN
  INSERT INTO text (content) SELECT NEW.launches WHERE NEW.launches <> '' AND NOT EXISTS
    (SELECT 1 FROM text AS t WHERE length(t.content) = length(NEW.launches) AND substr(t.content, 23, 16) = substr(NEW.launches, 23, 16) AND
        substr(t.content, -16) = substr(NEW.launches, -16) AND t.content IS NEW.launches);
  INSERT INTO case_row (
      run, candidate, position, case_name, weight, median_ns, p10_ns, p90_ns, busy_ns, wall_ns, tick_ns, discarded, max_error, l2_error,
      samples, pruned, outliers, sm_low_mhz, sm_high_mhz, throttle_reason, launches, bytes, operations)
    VALUES (
      NEW.run, NEW.candidate, NEW.position, NEW.case_name, NEW.weight, NEW.median_ns, NEW.p10_ns, NEW.p90_ns, NEW.busy_ns, NEW.wall_ns,
      NEW.tick_ns, NEW.discarded, NEW.max_error, NEW.l2_error, NEW.samples, coalesce(NEW.pruned, 0), coalesce(NEW.outliers, 0),
      NEW.sm_low_mhz, NEW.sm_high_mhz, coalesce(NEW.throttle_reason, ''),
      (SELECT t.text FROM text AS t WHERE length(t.content) = length(NEW.launches) AND substr(t.content, 23, 16) = substr(NEW.launches, 23, 16) AND
        substr(t.content, -16) = substr(NEW.launches, -16) AND t.content IS NEW.launches LIMIT 1),
      NEW.bytes, NEW.operations);
END;
CREATE TRIGGER case_measurement_update INSTEAD OF UPDATE ON case_measurement BEGIN
  INSERT INTO text (content) SELECT NEW.launches WHERE NEW.launches <> '' AND NOT EXISTS
    (SELECT 1 FROM text AS t WHERE length(t.content) = length(NEW.launches) AND substr(t.content, 23, 16) = substr(NEW.launches, 23, 16) AND
        substr(t.content, -16) = substr(NEW.launches, -16) AND t.content IS NEW.launches);
  UPDATE case_row SET
      run = NEW.run, candidate = NEW.candidate, position = NEW.position, case_name = NEW.case_name, weight = NEW.weight,
      median_ns = NEW.median_ns, p10_ns = NEW.p10_ns, p90_ns = NEW.p90_ns, busy_ns = NEW.busy_ns, wall_ns = NEW.wall_ns,
      tick_ns = NEW.tick_ns, discarded = NEW.discarded, max_error = NEW.max_error, l2_error = NEW.l2_error, samples = NEW.samples,
      pruned = coalesce(NEW.pruned, 0), outliers = coalesce(NEW.outliers, 0), sm_low_mhz = NEW.sm_low_mhz, sm_high_mhz = NEW.sm_high_mhz,
      throttle_reason = coalesce(NEW.throttle_reason, ''),
      launches = (SELECT t.text FROM text AS t WHERE length(t.content) = length(NEW.launches) AND substr(t.content, 23, 16) = substr(NEW.launches, 23, 16) AND
        substr(t.content, -16) = substr(NEW.launches, -16) AND t.content IS NEW.launches LIMIT 1),
      bytes = NEW.bytes, operations = NEW.operations
    WHERE run = OLD.run AND candidate = OLD.candidate AND position = OLD.position;
END;
CREATE TRIGGER case_measurement_delete INSTEAD OF DELETE ON case_measurement BEGIN
  DELETE FROM case_row WHERE run = OLD.run AND candidate = OLD.candidate AND position = OLD.position;
END;

-- What is counted when a generation is stored, of it and of its run. The views whose names begin with counted_ count it again from the candidates.
CREATE TABLE generation_outcome (
  run        INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  outcome    TEXT NOT NULL,
  candidates INTEGER NOT NULL,
  best_ns    REAL,                          -- fastest score, whatever a check said later
  PRIMARY KEY (run, generation, outcome),
  FOREIGN KEY (run, generation) REFERENCES generation (run, generation) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE operator_total (
  run        INTEGER NOT NULL REFERENCES run (run) ON DELETE CASCADE,
  operator   TEXT NOT NULL,
  children   INTEGER NOT NULL,              -- evaluated
  ok         INTEGER NOT NULL,              -- of those
  faster     INTEGER NOT NULL,              -- of those, than their first parent
  tries      INTEGER NOT NULL,              -- children with a first parent, not cancelled; the next four are of these
  valid      INTEGER NOT NULL,              -- ok and not neutral
  neutral    INTEGER NOT NULL,              -- compiled to their first parent's program
  improving  INTEGER NOT NULL,              -- faster and not neutral
  gains      REAL NOT NULL,                 -- of the improving ones, summed: first parent's score / own
  best_gain  REAL,
  inapplicable INTEGER NOT NULL,            -- drawn, and nothing to change; not among the tries
  PRIMARY KEY (run, operator)
) STRICT, WITHOUT ROWID;

CREATE VIEW counted_outcome AS
  SELECT c.run, c.generation, e.outcome, count(*) AS candidates, min(e.score_ns) AS best_ns
  FROM candidate_row AS c INDEXED BY candidate_by_generation CROSS JOIN evaluation_row AS e ON e.run = c.run AND e.candidate = c.candidate
  GROUP BY c.run, c.generation, e.outcome;

CREATE VIEW counted_operator AS
  SELECT run, generation, operator, count(*) AS children, sum(outcome = 'ok') AS ok, sum(coalesce(gain > 1, 0)) AS faster, sum(tried) AS tries,
         sum(tried AND outcome = 'ok' AND NOT neutral) AS valid, sum(tried AND neutral) AS neutral,
         sum(coalesce(gain > 1 AND NOT neutral, 0)) AS improving, total(CASE WHEN gain > 1 AND NOT neutral THEN gain END) AS gains,
         max(gain) AS best_gain
  FROM (SELECT c.run, c.generation, c.operator, e.outcome, pe.candidate IS NOT NULL AND e.outcome <> 'cancelled' AS tried,
               coalesce(e.program_digest <> '' AND e.program_digest = pe.program_digest, 0) AS neutral,
               CASE WHEN e.outcome <> 'cancelled' THEN pe.score_ns / e.score_ns END AS gain
        FROM candidate_row AS c INDEXED BY candidate_by_generation
        CROSS JOIN evaluation_row AS e ON e.run = c.run AND e.candidate = c.candidate
        LEFT JOIN parent AS p ON p.run = c.run AND p.candidate = c.candidate AND p.position = 0
        LEFT JOIN evaluation_row AS pe ON pe.run = p.run AND pe.candidate = p.parent)
  GROUP BY run, generation, operator;

INSERT INTO generation_outcome SELECT * FROM counted_outcome;
INSERT INTO operator_total
  SELECT run, operator, sum(children), sum(ok), sum(faster), sum(tries), sum(valid), sum(neutral), sum(improving), sum(gains), max(best_gain), 0
  FROM counted_operator GROUP BY run, operator;
INSERT INTO operator_total
  SELECT run, operator, 0, 0, 0, 0, 0, 0, 0, 0, NULL, sum(times) FROM operator_inapplicable WHERE true GROUP BY run, operator
  ON CONFLICT DO UPDATE SET inapplicable = excluded.inapplicable;

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
-- that was not checked. A candidate that failed a check is never best. A minimised form is as fast as its champion within the noise: it counts
-- with the better of the two times, and before the champion. Of the candidates without a check only the fastest is looked at.
CREATE VIEW best AS
  WITH eligible AS (
    SELECT r.run, (SELECT e.candidate FROM evaluation_row AS e
                   WHERE e.run = r.run AND e.outcome = 'ok' AND e.score_ns IS NOT NULL
                     AND NOT EXISTS (SELECT 1 FROM latest_check AS k WHERE k.run = e.run AND k.candidate = e.candidate)
                   ORDER BY e.score_ns, e.candidate LIMIT 1) AS candidate
    FROM run AS r
    UNION SELECT run, candidate FROM champion_check
    UNION SELECT run, candidate FROM minimised),
  ranked AS (
    SELECT e.run, e.candidate, e.score_ns, v.speedup, coalesce(v.verdict, 'not checked') AS verdict,
           row_number() OVER (PARTITION BY e.run
                              ORDER BY CASE v.verdict WHEN 'verified' THEN 0 WHEN 'held-out ok' THEN 1 ELSE 2 END,
                                       min(e.score_ns, coalesce(w.score_ns, e.score_ns)), m.candidate IS NULL, e.candidate) AS place
    FROM eligible AS l
    CROSS JOIN evaluation_row AS e ON e.run = l.run AND e.candidate = l.candidate
    LEFT JOIN verdict AS v ON v.run = e.run AND v.candidate = e.candidate
    LEFT JOIN minimised AS m ON m.run = e.run AND m.candidate = e.candidate
    LEFT JOIN evaluation_row AS w ON w.run = m.run AND w.candidate = m.champion
    WHERE e.outcome = 'ok' AND coalesce(v.verdict, '') <> 'failed')
  SELECT b.run, r.task, b.candidate, c.template, c.operator, b.score_ns / 1000.0 AS score_us, b.speedup, b.verdict,
         r.device_name, r.l2, c.generation
  FROM ranked AS b JOIN candidate_row AS c USING (run, candidate) JOIN run AS r USING (run)
  WHERE b.place = 1;

-- A candidate's line of first parents; steps_back 0 is the candidate itself. A parent is always older than its child.
CREATE VIEW lineage AS
  SELECT c.run, c.candidate, a.key AS steps_back, a.value AS ancestor, o.generation, o.operator, e.outcome, e.score_ns
  FROM candidate_row AS c
  CROSS JOIN
       json_each((WITH RECURSIVE line (ancestor) AS (
                    SELECT c.candidate
                    UNION ALL
                    SELECT p.parent FROM line AS l JOIN parent AS p
                      ON p.run = c.run AND p.candidate = l.ancestor AND p.position = 0 AND p.parent < l.ancestor)
                  SELECT json_group_array(ancestor) FROM line)) AS a
  CROSS JOIN candidate_row AS o ON o.run = c.run AND o.candidate = a.value
  LEFT JOIN evaluation_row AS e ON e.run = c.run AND e.candidate = a.value;

-- A failed check is rare: only generations with one are looked through.
CREATE VIEW progress AS
  WITH failed AS (
    SELECT c.run, c.generation FROM verdict AS v JOIN candidate_row AS c USING (run, candidate) WHERE v.verdict = 'failed'),
  fastest AS (
    SELECT g.run, g.generation,
           CASE WHEN (g.run, g.generation) IN (SELECT run, generation FROM failed)
                THEN (SELECT min(e.score_ns) FROM candidate_row AS c INDEXED BY candidate_by_generation
                      CROSS JOIN evaluation_row AS e ON e.run = c.run AND e.candidate = c.candidate
                      WHERE c.run = g.run AND c.generation = g.generation
                        AND NOT EXISTS (SELECT 1 FROM verdict AS v WHERE v.run = c.run AND v.candidate = c.candidate AND v.verdict = 'failed'))
                ELSE (SELECT min(o.best_ns) FROM generation_outcome AS o WHERE o.run = g.run AND o.generation = g.generation) END AS best_ns
    FROM generation AS g)
  SELECT g.run, g.generation, g.evaluated, g.valid, g.duplicates, f.best_ns,
         min(f.best_ns) OVER (PARTITION BY g.run ORDER BY g.generation) AS best_so_far_ns
  FROM generation AS g JOIN fastest AS f USING (run, generation);

CREATE VIEW outcome_by_generation AS
  SELECT o.run, o.generation, o.outcome, o.candidates, 1.0 * o.candidates / nullif(g.evaluated, 0) AS share, o.best_ns
  FROM generation_outcome AS o JOIN generation AS g USING (run, generation);

-- One row per sample. The digits of a blob of zeros count the samples; a byte's value is found through its two hexadecimal digits, because
-- SQLite has no function from blob to integer.
CREATE VIEW sample AS
  WITH word AS (
    SELECT m.run, m.candidate, m.case_name, m.tick_ns, p.key AS i, hex(substr(m.samples, 4 * p.key + 1, 4)) AS h
    FROM case_row AS m, json_each('[' || rtrim(replace(hex(zeroblob(length(m.samples) / 4)), '00', '0,'), ',') || ']') AS p),
  tick AS (
    SELECT run, candidate, case_name, tick_ns, i,
           (instr('123456789ABCDEF', substr(h, 7, 1)) << 28) + (instr('123456789ABCDEF', substr(h, 8, 1)) << 24) +
           (instr('123456789ABCDEF', substr(h, 5, 1)) << 20) + (instr('123456789ABCDEF', substr(h, 6, 1)) << 16) +
           (instr('123456789ABCDEF', substr(h, 3, 1)) << 12) + (instr('123456789ABCDEF', substr(h, 4, 1)) << 8) +
           (instr('123456789ABCDEF', substr(h, 1, 1)) << 4) + instr('123456789ABCDEF', substr(h, 2, 1)) AS ticks
    FROM word)
  SELECT run, candidate, case_name, i AS idx, ticks, ticks * tick_ns AS span_ns FROM tick;

-- A row a child that was evaluated and whose first parent was. neutral: it compiled to its first parent's program. gain: parent's time over its own.
CREATE VIEW operator_child AS
  SELECT c.run, c.candidate, c.operator, e.outcome, e.program_digest <> '' AND e.program_digest = pe.program_digest AS neutral,
         pe.score_ns AS parent_ns, e.score_ns, pe.score_ns / e.score_ns AS gain
  FROM candidate_row AS c
  JOIN evaluation_row AS e ON e.run = c.run AND e.candidate = c.candidate
  JOIN parent AS p ON p.run = c.run AND p.candidate = c.candidate AND p.position = 0
  JOIN evaluation_row AS pe ON pe.run = p.run AND pe.candidate = p.parent
  WHERE e.outcome <> 'cancelled';

CREATE VIEW operator_success AS
  SELECT run, operator, children, ok AS valid, faster AS faster_than_parent, best_gain, inapplicable FROM operator_total;

-- A row per run and operator. valid and improving do not count neutral children; mean_gain is that of the improving children.
CREATE VIEW operator_reward AS
  SELECT run, operator, tries, valid, neutral, improving, gains, gains / nullif(improving, 0) AS mean_gain, best_gain, inapplicable
  FROM operator_total WHERE tries > 0 OR inapplicable > 0;

-- What kills most.
CREATE VIEW counterexample AS
  SELECT run, failed_case, failed_generator, count(*) AS candidates
  FROM evaluation_row WHERE failed_case IS NOT NULL
  GROUP BY run, failed_case, failed_generator;

-- Inputs that candidates failed on, found by any check of any run of a task.
CREATE VIEW task_counterexample AS
  WITH found AS (
    SELECT run, failed_case, failed_generator, failed_seed, failed_inputs FROM evaluation_row WHERE failed_case IS NOT NULL
    UNION ALL
    SELECT run, failed_case, failed_generator, failed_seed, failed_inputs FROM champion_check WHERE failed_case IS NOT NULL)
  SELECT r.task, r.task_digest, f.failed_case, f.failed_generator, coalesce(f.failed_inputs, '') AS failed_inputs,
         max(f.failed_seed) AS failed_seed, count(*) AS candidates
  FROM found AS f JOIN run AS r USING (run)
  GROUP BY r.task_digest, f.failed_case, f.failed_generator, coalesce(f.failed_inputs, '');

-- worth: how many times slower the candidate is without the edit; NULL where it is not ok without it, or that is not known.
CREATE VIEW edit_worth AS
  SELECT l.run, l.candidate, l.position, json_extract(c.genome, '$.edits[' || l.position || '].op') AS operator, l.without, w.outcome,
         w.score_ns / e.score_ns AS worth
  FROM left_out_edit AS l
  JOIN candidate AS c ON c.run = l.run AND c.candidate = l.candidate
  JOIN evaluation_row AS e ON e.run = l.run AND e.candidate = l.candidate
  LEFT JOIN evaluation_row AS w ON w.run = l.run AND w.candidate = l.without;

-- Rates that candidates reached, beside the best that their machine was seen to do. The memory ceiling is that of DRAM where L2 was cold or
-- cannot hold what is moved, else that of L2. Shares are from 0 to 1; NULL where one of the two is not known.
CREATE VIEW efficiency AS
  WITH ceiling AS (
    SELECT run, max(dram_bytes_per_s) AS dram, max(l2_bytes_per_s) AS l2, max(f32_per_s) AS f32, max(tensor_per_s) AS tensor,
           max(l2_bytes) AS l2_bytes
    FROM machine GROUP BY run)
  SELECT m.run, m.candidate, m.position, m.case_name, m.median_ns / 1000.0 AS median_us,
         m.bytes / m.median_ns AS gb_per_s, m.operations / m.median_ns / 1000.0 AS tflop_per_s,
         m.bytes / m.median_ns * 1e9 / CASE WHEN r.l2 = 'cold' OR m.bytes > c.l2_bytes THEN c.dram ELSE c.l2 END AS memory_share,
         m.operations / m.median_ns * 1e9 / CASE WHEN r.arithmetic IN ('f16', 'bf16') THEN c.tensor ELSE c.f32 END AS arithmetic_share
  FROM case_row AS m JOIN run AS r USING (run) LEFT JOIN ceiling AS c USING (run);

-- Old names.
CREATE VIEW operator_earned AS SELECT * FROM operator_reward;
CREATE VIEW evaluation_v7 AS SELECT *, reverification_ms AS soak_ms, reverification_runs AS soak_runs FROM evaluation;
CREATE VIEW case_measurement_v7 AS SELECT *, pruned AS given_up, throttle_reason AS held_back FROM case_measurement;
CREATE VIEW champion_case_v7 AS SELECT *, pruned AS given_up, throttle_reason AS held_back FROM champion_case;
CREATE VIEW machine_v7 AS SELECT *, throttle_reason AS held_back FROM machine;
