//! Projection tables: made, changed, read, found out of date, made anew.

use super::*;
use crate::ledger::tables::TablesState;

fn state(path: &str, symbol: &str, note: Option<&str>) -> Vec<Value> {
    let row = StateRow {
        path: path.into(),
        symbol: symbol.into(),
        note: note.map(str::to_owned),
    };
    row.into_cells()
}

fn rows(log: &SqliteLog, table: usize) -> Vec<Vec<Value>> {
    let mut rows = Vec::new();
    log.read_table(table, &mut |row| {
        rows.push(row.to_vec());
        ControlFlow::Continue(())
    })
    .unwrap();
    rows
}

/// Appends the next event with these changes.
fn change(log: &mut SqliteLog, changes: &[RowChange]) -> Result<Head, String> {
    append_next(log, changes).map_err(|error| format!("{error:?}"))
}

fn check_rebuild(fixture: &Fixture, word: &str) {
    match fixture.open().tables {
        TablesState::Rebuild { reason } => assert!(reason.contains(word), "{reason}"),
        other => panic!("the tables are {other:?}"),
    }
}

fn rebuild(log: &mut SqliteLog) {
    let head = log.head().unwrap().seq;
    let mut rebuild = log.begin_rebuild().unwrap();
    rebuild
        .fill_table(STATE, |visit| visit(state("a.c", "f", None)))
        .unwrap();
    rebuild
        .fill_table(ORDER, |visit| visit(vec![Value::Integer(1)]))
        .unwrap();
    rebuild.set_applied(head).unwrap();
    rebuild.commit().unwrap();
}

#[test]
fn rows_in_key_order() {
    let fixture = Fixture::new();
    let mut log = fixture.open().log;
    change(
        &mut log,
        &[
            put(STATE, state("b.c", "f", None)),
            put(STATE, state("a.c", "g", Some("first"))),
            put(STATE, state("a.c", "f", None)),
            put(STATE, state("a.c", "g", Some("second"))),
            RowChange {
                table: STATE,
                change: Change::Remove(vec!["b.c".into(), "f".into()]),
            },
            RowChange {
                table: STATE,
                change: Change::Remove(vec!["never".into(), "there".into()]),
            },
        ],
    )
    .unwrap();
    let expected = [state("a.c", "f", None), state("a.c", "g", Some("second"))];
    assert_eq!(rows(&log, STATE), expected);
    drop(log);
    let opened = fixture.open();
    assert_eq!(opened.tables, TablesState::UpTo(Seq(1)));
    assert_eq!(rows(&opened.log, STATE), expected);
}

#[test]
fn misfit_rows() {
    for misfit in [
        put(STATE, vec!["a.c".into()]),
        put(STATE, vec![Value::Null, "f".into(), Value::Null]),
        put(ORDER, vec!["text".into()]),
        RowChange {
            table: STATE,
            change: Change::Remove(vec!["a.c".into()]),
        },
    ] {
        let fixture = Fixture::new();
        let mut log = fixture.open().log;
        change(&mut log, &[misfit]).unwrap_err();
        drop(log);
        assert_eq!(fixture.open().log.head().unwrap().seq, Seq(0));
    }
}

#[test]
fn first_row_kept() {
    let fixture = Fixture::new();
    let mut log = fixture.open().log;
    let row = |byte: u8, seq: u64| vec![Value::from(&[byte; 32]), seq.into()];
    let first = [put(VAULT, row(1, 1)), put(VAULT, row(2, 1))];
    change(&mut log, &first).unwrap();
    let again = [put(VAULT, row(1, 2)), put(VAULT, row(3, 2))];
    change(&mut log, &again).unwrap();
    let expected = [row(1, 1), row(2, 1), row(3, 2)];
    assert_eq!(rows(&log, VAULT), expected);
    let until = |seq| log.rows_hash_until(VAULT, Seq(seq)).unwrap().rows();
    assert_eq!((until(1), until(2)), (2, 3));
    drop(log);
    assert_eq!(rows(&fixture.open().log, VAULT), expected);
}

/// Rows that are still to be written are no reason to make all anew, unless they are too many.
#[test]
fn tail_without_rows() {
    let fixture = Fixture::new();
    let mut log = fixture.open().log;
    let mut head = append_one(&mut log, 1);
    let mut append = |count: u64| {
        let next = (head.seq.0 + 1..=head.seq.0 + count).map(|seq| {
            let next = stored(head.chain, seq);
            head.chain = next.chain;
            next
        });
        let batch: Vec<_> = next.collect();
        head = log.append(&batch).unwrap();
        log.tables_state().unwrap()
    };
    assert_eq!(append(16_384), TablesState::UpTo(Seq(1)));
    let too_many = "tables stand at #1, the ledger at #16386";
    let rebuild = |reason: &str| TablesState::Rebuild {
        reason: reason.to_owned(),
    };
    assert_eq!(append(1), rebuild(too_many));
    drop(log);
    self::rebuild(&mut fixture.open().log);
    let opened = fixture.open();
    assert_eq!(opened.tables, TablesState::UpTo(Seq(16_386)));
    assert_eq!(rows(&opened.log, STATE), [state("a.c", "f", None)]);
    assert_eq!(rows(&opened.log, ORDER), [vec![Value::Integer(1)]]);
}

#[test]
fn rebuilt_if_unusable() {
    let fixture = Fixture::new();
    fixture.filled(2);
    for (sql, word) in [
        ("DROP TABLE state", "state is missing"),
        ("ALTER TABLE state ADD COLUMN extra TEXT", "was altered"),
        (
            "UPDATE meta SET value = replace(value, 'state:1', 'state:9') WHERE key = 'tables'",
            "tables of other versions",
        ),
        ("DELETE FROM meta WHERE key = 'applied_seq'", "never filled"),
        ("DELETE FROM meta WHERE key = 'rows_hash'", "no hash"),
        // As it was before a hash had a version.
        (
            "UPDATE meta SET value = substr(value, 1, 40) WHERE key = 'rows_hash'",
            "no hash",
        ),
        (
            "UPDATE meta SET value = '0.0.1' WHERE key = 'folded_by'",
            "tslp 0.0.1 folded",
        ),
    ] {
        fixture.shell().execute_batch(sql).unwrap();
        check_rebuild(&fixture, word);
        rebuild(&mut fixture.open().log);
        assert_eq!(fixture.open().tables, TablesState::UpTo(Seq(2)), "{sql}");
    }
}

#[test]
fn dropped_rebuild() {
    let fixture = Fixture::new();
    let mut log = fixture.open().log;
    change(&mut log, &[put(STATE, state("a.c", "f", None))]).unwrap();
    let rebuild = log.begin_rebuild().unwrap();
    drop(rebuild);
    assert_eq!(rows(&log, STATE), [state("a.c", "f", None)]);
    assert_eq!(log.tables_state().unwrap(), TablesState::UpTo(Seq(1)));
    append_one(&mut log, 2);
}

#[test]
fn obsolete_projections() {
    let mut fixture = Fixture::new();
    fixture.filled(1);
    fixture.options.tables = &[];
    let mut log = fixture.open().log;
    let head = log.head().unwrap().seq;
    let mut rebuild = log.begin_rebuild().unwrap();
    rebuild.set_applied(head).unwrap();
    rebuild.commit().unwrap();
    drop(log);
    let left: i64 = fixture
        .shell()
        .query_row(
            "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('vault', 'state', 'order')",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(left, 0);
}
