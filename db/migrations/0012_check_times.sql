-- Version 12: how long the parts of a champion's check took.

-- Seconds, as in 'inputs 2.1 s, listed cases 3.0 s, search 20.0 s'. Empty before this version.
ALTER TABLE champion_check ADD COLUMN took TEXT NOT NULL DEFAULT '';
