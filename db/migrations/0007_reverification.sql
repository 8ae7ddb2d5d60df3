-- Version 7: further checks while nothing else waited for the device.

-- Milliseconds of them, and how often they launched the candidate.
ALTER TABLE evaluation ADD COLUMN soak_ms REAL NOT NULL DEFAULT 0;
ALTER TABLE evaluation ADD COLUMN soak_runs INTEGER NOT NULL DEFAULT 0;
