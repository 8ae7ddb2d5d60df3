-- Version 15: candidates of a search that the GPU's own counters were read of while it went on.

-- At most one row a candidate. The columns from program on are those of hardware_counters.
CREATE TABLE counted_elite (
  run             INTEGER NOT NULL,
  candidate       INTEGER NOT NULL,
  generation      INTEGER NOT NULL,   -- was recorded with this one; what was bred later follows the class
  bottleneck      TEXT NOT NULL,      -- by the counters, in the place of evaluation.bottleneck
  evidence        TEXT NOT NULL,      -- for it, one line
  program         TEXT NOT NULL CHECK (program = 'candidate'),
  case_name       TEXT NOT NULL,
  counted_ns      REAL,
  dram            REAL,
  l2              REAL,
  l1              REAL,
  tensor          REAL,
  fma             REAL,
  alu             REAL,
  xu              REAL,
  lsu             REAL,
  issue           REAL,
  active_warps    REAL,
  bank_conflicts  REAL,
  wait_memory     REAL,
  wait_shared     REAL,
  wait_barrier    REAL,
  wait_math       REAL,
  wait_queue      REAL,
  wait_load_queue REAL,
  wait_fixed      REAL,
  PRIMARY KEY (run, candidate),
  FOREIGN KEY (run, candidate) REFERENCES candidate_row (run, candidate) ON DELETE CASCADE,
  FOREIGN KEY (run, generation) REFERENCES generation (run, generation) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
