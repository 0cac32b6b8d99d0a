//! Appending, reading back, refusing.

use super::*;
use crate::ledger::disk::FileSystem;
use crate::ledger::{CheckpointMode, anchor};

#[test]
fn kept_after_reopening() {
    let fixture = Fixture::new();
    let mut log = fixture.open().log;
    assert_eq!(verified(&log).seq, Seq(0));
    append_one(&mut log, 1);
    let head = log.head().unwrap();
    let batch = [2, 3].into_iter().scan(head.chain, |chain, seq| {
        let next = stored(*chain, seq);
        *chain = next.chain;
        Some(next)
    });
    let batch: Vec<_> = batch.collect();
    let head = log.append(&batch).unwrap();
    assert_eq!(head.seq, Seq(3));
    drop(log);
    let log = fixture.open().log;
    assert_eq!(log.head().unwrap(), head);
    assert_eq!(verified(&log), head);
    assert_eq!(
        anchor::read(&FileSystem, &fixture.files().anchor).unwrap(),
        anchor::AnchorState::Head(head)
    );
}

#[test]
fn partial_reading() {
    let fixture = Fixture::new();
    fixture.filled(5);
    let log = fixture.open().log;
    let mut seen = Vec::new();
    log.read(Seq(2), &mut |stored| {
        seen.push(stored.seq.0);
        if seen.len() == 3 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })
    .unwrap();
    assert_eq!(seen, [2, 3, 4]);
}

#[test]
fn events_out_of_order() {
    let fixture = Fixture::new();
    let mut log = fixture.open().log;
    let head = append_one(&mut log, 1);
    let second = stored(head.chain, 2);
    let gap = stored(second.chain, 4);
    let mut forged = stored(head.chain, 2);
    forged.chain.0[0] ^= 1;
    let first = stored(ChainHash::GENESIS, 1);
    for batch in [vec![second, gap], vec![forged], vec![first]] {
        let refused = log.append(&batch).unwrap_err();
        assert!(
            matches!(refused, LedgerError::OutOfOrder { .. }),
            "{refused:?}"
        );
        assert_eq!(log.head().unwrap(), head);
    }
    assert_eq!(verified(&log), head);
    append_one(&mut log, 2);
}

#[test]
fn dropped_batch() {
    let fixture = Fixture::new();
    let mut log = fixture.open().log;
    let head = append_one(&mut log, 1);
    let mut batch = log.begin_batch().unwrap();
    batch.record_all([recorded(2)]).unwrap();
    batch.write_rows(&rows_of(2, &[order(2)])).unwrap();
    assert_eq!(batch.head().seq, Seq(2));
    drop(batch);
    assert_eq!(verified(&log), head);
    append_one(&mut log, 2);
}

/// Triggers refuse every change, whichever program makes it.
#[test]
fn immutable_ledger() {
    let fixture = Fixture::new();
    fixture.filled(3);
    let shell = fixture.shell();
    for sql in [
        "UPDATE ledger SET at = 0 WHERE seq = 2",
        "UPDATE ledger SET seq = 9 WHERE seq = 3",
        "DELETE FROM ledger WHERE seq = 3",
        "DELETE FROM ledger",
        "INSERT OR REPLACE INTO ledger SELECT * FROM ledger WHERE seq = 2",
        "REPLACE INTO ledger VALUES (3, 0, 0, 0, 1, 1, x'00', zeroblob(32))",
        "INSERT INTO ledger VALUES (5, 0, 0, 0, 1, 1, x'00', zeroblob(32))",
        "INSERT INTO ledger (at, episode, session, ends_step, kind, payload, chain) VALUES (0, 0, 0, 1, 1, x'00', zeroblob(32))",
    ] {
        let error = shell.execute(sql, []).unwrap_err().to_string();
        assert!(
            error.contains("the ledger is append-only"),
            "{sql}: {error}"
        );
    }
    let misfit = shell.execute(
        "INSERT INTO ledger VALUES (4, 0, 0, 0, 1, 1, x'00', zeroblob(31))",
        [],
    );
    assert!(misfit.unwrap_err().to_string().contains("CHECK"));
    drop(shell);
    assert_eq!(verified(&fixture.open().log).seq, Seq(3));
}

#[test]
fn other_programs_append() {
    let fixture = Fixture::new();
    let mut log = fixture.open().log;
    let head = append_one(&mut log, 1);
    fixture
        .shell()
        .execute(
            "INSERT INTO ledger VALUES (2, 0, 0, 0, 1, 1, x'00', zeroblob(32))",
            [],
        )
        .unwrap();
    let conflict = log.append(&[stored(head.chain, 2)]).unwrap_err();
    assert!(
        matches!(conflict, LedgerError::Moved { found, .. } if found.seq == Seq(2)),
        "{conflict:?}"
    );
}

/// A full disk stops all appends until the ledger is opened again, and loses nothing.
#[test]
fn poisoned_by_full_disk() {
    let fixture = Fixture::new();
    let mut log = fixture.open().log;
    let head = append_one(&mut log, 1);
    log.connection
        .pragma_update(None, "max_page_count", 1)
        .unwrap();
    let mut large = recorded(2);
    // Noise, since it would be packed otherwise.
    let mut bytes = vec![0; 100_000];
    blake3::Hasher::new().finalize_xof().fill(&mut bytes);
    large.event = Event::Content(Content {
        hash: ArtifactHash::of(&bytes),
        kind: ContentKind::Message,
        bytes: bytes.into(),
    });
    let mut batch = log.begin_batch().unwrap();
    let error = batch.record_all([large]).unwrap_err();
    assert!(matches!(error, LedgerError::DiskFull { .. }), "{error:?}");
    assert!(error.to_string().contains("free space"), "{error}");
    drop(batch);
    let poisoned = log.append(&[stored(head.chain, 2)]).unwrap_err();
    assert!(poisoned.to_string().contains("free space"), "{poisoned}");
    assert!(log.head().is_err());
    assert!(log.checkpoint(CheckpointMode::Passive).is_err());
    drop(log);

    let mut log = fixture.open().log;
    assert_eq!(verified(&log), head);
    append_one(&mut log, 2);
}

#[test]
fn checkpoint_cuts_wal() {
    let fixture = Fixture::new();
    let mut log = fixture.open().log;
    for seq in 1..=20 {
        append_one(&mut log, seq);
    }
    assert!(log.wal_state().unwrap().pages_pending > 0);
    log.checkpoint(CheckpointMode::Passive).unwrap();
    let moved = log.wal_state().unwrap();
    assert_eq!(moved.pages_pending, 0);
    assert!(moved.file_bytes > 0);
    log.checkpoint(CheckpointMode::Truncate).unwrap();
    assert_eq!(log.wal_state().unwrap().file_bytes, 0);
    append_one(&mut log, 21);
    assert_eq!(verified(&log).seq, Seq(21));
}

#[test]
fn committed_for_readers() {
    let fixture = Fixture::new();
    let mut opened = fixture.open();
    let reader = opened.readers.open().unwrap();
    assert_eq!(reader.head().unwrap().seq, Seq(0));
    let head = append_one(&mut opened.log, 1);
    assert_eq!(reader.head().unwrap(), head);
    assert_eq!(reader.content_at(Seq(1)).unwrap(), b"content number 1");
    assert!(matches!(
        reader.content_at(Seq(2)),
        Err(LedgerError::NoContent { .. })
    ));
    assert_eq!(reader.rows::<OrderRow>().unwrap(), [OrderRow { id: 1 }]);
    assert_eq!(reader.integrity_check().unwrap(), Vec::<String>::new());
    assert_eq!(reader.journal_mode().unwrap(), "wal");
    let workspace = PathBuf::from("/work/project");
    assert_eq!(reader.checked_workspace().unwrap(), workspace);
    assert!(reader.bytes_on_disk() > 0);
    let written = reader.connection.execute("DELETE FROM meta", []);
    assert!(written.unwrap_err().to_string().contains("readonly"));
}

/// Damaged content is never handed out.
#[test]
fn damaged_content() {
    let fixture = Fixture::new();
    fixture.filled(1);
    fixture
        .past_the_triggers("UPDATE ledger SET payload = CAST('C' || substr(payload, 2) AS BLOB)");
    let reader = fixture.open().readers.open().unwrap();
    let error = reader.content_at(Seq(1)).unwrap_err();
    assert!(matches!(error, LedgerError::Corrupt { .. }), "{error:?}");
}
