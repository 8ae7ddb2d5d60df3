-- Version 3: what the machine could do, how each measurement was launched, and what share of the machine it reached.

-- dtype of the task's first input: by its ceiling a share of arithmetic is measured. Empty in older runs.
ALTER TABLE run ADD COLUMN arithmetic TEXT NOT NULL DEFAULT '';

-- Measured by kernels of ours at the start and the end of a run.
CREATE TABLE machine (
  machine          INTEGER PRIMARY KEY,
  run              INTEGER NOT NULL REFERENCES run (run) ON DELETE CASCADE,
  moment           TEXT NOT NULL CHECK (moment IN ('start', 'end')),
  ordinal          INTEGER NOT NULL,        -- of the GPU
  launch_ns        REAL,                    -- an empty kernel
  control_ratio    REAL,                    -- a kernel over the same with a quarter of the work
  dram_bytes_per_s REAL,                    -- copied: read plus written
  l2_bytes_per_s   REAL,                    -- read
  f32_per_s        REAL,                    -- operations; a fused multiply-add is two
  tensor_per_s     REAL,                    -- the same on tensor cores, fp16 with sums in fp32
  l2_bytes         INTEGER NOT NULL,
  sm_mhz           INTEGER,
  sm_max_mhz       INTEGER,
  memory_mhz       INTEGER,
  temperature_c    INTEGER,
  power_w          REAL,
  held_back        TEXT NOT NULL,           -- why the clocks are below their most, as the driver says; empty: they are not
  measured_at      TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))
) STRICT;
CREATE INDEX machine_by_run ON machine (run);

ALTER TABLE case_measurement ADD COLUMN outliers INTEGER NOT NULL DEFAULT 0;    -- samples far above the median; kept
ALTER TABLE case_measurement ADD COLUMN sm_low_mhz INTEGER;                     -- clock while it was timed, lowest and highest seen
ALTER TABLE case_measurement ADD COLUMN sm_high_mhz INTEGER;
ALTER TABLE case_measurement ADD COLUMN held_back TEXT NOT NULL DEFAULT '';     -- as in machine
ALTER TABLE case_measurement ADD COLUMN launches TEXT NOT NULL DEFAULT '';      -- kernel, grid, block, shared memory, in order
ALTER TABLE case_measurement ADD COLUMN bytes REAL;                             -- least to be moved, as the task declares
ALTER TABLE case_measurement ADD COLUMN operations REAL;                        -- to be done, as the task declares
ALTER TABLE champion_case ADD COLUMN outliers INTEGER NOT NULL DEFAULT 0;
ALTER TABLE champion_case ADD COLUMN sm_low_mhz INTEGER;
ALTER TABLE champion_case ADD COLUMN sm_high_mhz INTEGER;
ALTER TABLE champion_case ADD COLUMN held_back TEXT NOT NULL DEFAULT '';
ALTER TABLE champion_case ADD COLUMN launches TEXT NOT NULL DEFAULT '';
ALTER TABLE champion_case ADD COLUMN bytes REAL;
ALTER TABLE champion_case ADD COLUMN operations REAL;

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
  FROM case_measurement AS m JOIN run AS r USING (run) LEFT JOIN ceiling AS c USING (run);
