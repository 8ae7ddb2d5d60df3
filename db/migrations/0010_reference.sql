-- Version 10: what computed the right answers that a champion candidate was compared with.

-- 'reference.cu': kernels of the task in double precision; 'baseline': the baseline itself; else the name of a Python file.
ALTER TABLE champion_check ADD COLUMN reference TEXT NOT NULL DEFAULT 'reference.cu';
-- Milliseconds of one answer of a Python file to a small input, the median. NULL for others.
ALTER TABLE champion_check ADD COLUMN reference_ms REAL;
