//! The data directory as someone else sees it: another SQLite connection, or plain bytes.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};
use tslp_core::path::RelPath;
use tslp_projections::file_code::{TrackedFileRow, TrueEntity};

/// A connection of our own to the ledger.
pub(crate) fn open(data: &Path) -> Connection {
    Connection::open(data.join("ledger.db")).unwrap()
}

/// How many events of each kind the ledger holds.
pub(crate) fn kinds(data: &Path) -> BTreeMap<String, i64> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
    let connection = Connection::open_with_flags(data.join("ledger.db"), flags).unwrap();
    let mut statement = connection
        .prepare("SELECT abs(kind), count(*) FROM ledger GROUP BY 1")
        .unwrap();
    let word = |number| tslp_migrations::kind_of(number).unwrap().to_string();
    let rows = statement.query_map([], |row| Ok((word(row.get(0)?), row.get(1)?)));
    rows.unwrap().map(Result::unwrap).collect()
}

/// What the table `state_map` holds.
pub(crate) fn tracked_files(connection: &Connection) -> Vec<TrackedFileRow> {
    let rows = "SELECT path, entities, versions FROM state_map ORDER BY path";
    let mut rows = connection.prepare(rows).unwrap();
    let rows = rows.query_map([], |row| {
        Ok(TrackedFileRow {
            path: RelPath::from_normalised(&row.get::<_, String>(0)?),
            entities: row.get(1)?,
            versions: row.get::<_, Vec<u8>>(2)?.into(),
        })
    });
    rows.unwrap().map(Result::unwrap).collect()
}

/// Puts a row into the table `state_map`, in the place of one that is there.
pub(crate) fn put_tracked(connection: &Connection, row: &TrackedFileRow) {
    let put = "INSERT OR REPLACE INTO state_map (path, entities, versions) VALUES (?1, ?2, ?3)";
    let cells = (row.path.as_str(), row.entities, &*row.versions);
    connection.execute(put, cells).unwrap();
}

/// Changes everything that is true, in the table `state_map` alone.
pub(crate) fn forge_truth(data: &Path, forge: fn(&mut TrueEntity)) {
    let connection = open(data);
    let rows = tracked_files(&connection);
    assert!(!rows.is_empty());
    for row in rows {
        let mut truths = row.true_entities().unwrap();
        truths.iter_mut().for_each(forge);
        put_tracked(&connection, &TrackedFileRow::of_entities(row.path, &truths));
    }
}

/// How many events the ledger holds.
pub(crate) fn events(data: &Path) -> i64 {
    kinds(data).values().sum()
}

/// What the files of evidence hold; the lock and SQLite's shared memory are no evidence.
pub(crate) fn evidence(data: &Path) -> BTreeMap<String, Vec<u8>> {
    files(data)
        .into_iter()
        .filter(|(name, _)| name != "lock" && !name.ends_with("-shm"))
        .collect()
}

/// Has the next start look at every event itself, and not only the scrub behind it.
pub(crate) fn distrust(data: &Path) {
    let gone = "DELETE FROM meta WHERE key = 'applied_seq'";
    let shell = open(data);
    // As tslp's own connections: the WAL stays.
    let stays = rusqlite::config::DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
    shell.set_db_config(stays, true).unwrap();
    shell.execute_batch(gone).unwrap();
}

/// Every file of a folder.
pub(crate) fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            for (inner, bytes) in self::files(&path) {
                files.insert(format!("{name}/{inner}"), bytes);
            }
        } else if path.is_file() {
            files.insert(name, std::fs::read(&path).unwrap());
        }
    }
    files
}

/// Whether the bytes hold the text.
pub(crate) fn holds(bytes: &[u8], text: &str) -> bool {
    bytes
        .windows(text.len())
        .any(|window| window == text.as_bytes())
}

/// Flips a byte of a recorded text wherever the data directory holds it.
pub(crate) fn damage(data: &Path, text: &str) {
    let mut damaged = 0;
    for (name, mut bytes) in evidence(data) {
        let places: Vec<usize> = bytes
            .windows(text.len())
            .enumerate()
            .filter(|(_, window)| *window == text.as_bytes())
            .map(|(at, _)| at)
            .collect();
        if places.is_empty() {
            continue;
        }
        for at in places {
            bytes[at] ^= 1;
        }
        std::fs::write(data.join(name), bytes).unwrap();
        damaged += 1;
    }
    assert!(damaged > 0, "the data directory holds {text:?}");
}
