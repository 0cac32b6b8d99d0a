-- Notes. CREATE TABLE fake (id int);
PRAGMA foreign_keys = ON;

/* All notes. */
CREATE TABLE IF NOT EXISTS notes (
    id INTEGER PRIMARY KEY, -- the key;
    text TEXT NOT NULL DEFAULT 'it''s; (',
    author INTEGER REFERENCES "users" (id)
);

create unique index notes_by_author on notes (author, id);

CREATE VIEW "recent notes" AS
SELECT id, CASE WHEN text = ';' THEN 'x' ELSE 'y' END AS kind
FROM notes;

INSERT INTO notes (text) VALUES ('CREATE TABLE other (id int);');

CREATE OR REPLACE FUNCTION public.touch(note integer, "when" timestamp)
RETURNS trigger AS $body$
BEGIN
    CREATE TABLE inner_table (id int);
    RETURN NEW;
END;
$body$ LANGUAGE plpgsql;

CREATE TRIGGER notes_touched AFTER UPDATE ON notes
BEGIN
    UPDATE notes SET text = CASE WHEN 1 THEN 'a' ELSE 'b' END WHERE id = NEW.id;
    DELETE FROM log;
END;

CREATE PROCEDURE clean(IN days INT)
BEGIN
    IF days > 0 THEN
        DELETE FROM notes WHERE age > days;
    END IF;
    label: LOOP
        LEAVE label;
    END LOOP;
END;

CREATE TYPE mood AS ENUM ('sad', 'ok');

BEGIN;
ALTER TABLE notes ADD COLUMN mood mood;
COMMIT;
