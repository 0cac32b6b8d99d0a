//! The writer thread: groups, announcements, failures.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc;
use std::time::Duration;

use super::*;
use crate::ledger::writer::{
    Commit, Durability, LedgerWriter, Remedy, WriterLimits, commit_queue, spawn_writer,
};
use crossbeam_channel::{Receiver, Sender};

fn commit(seq: u64) -> Commit {
    Commit {
        recorded: vec![recorded(seq)],
        rows: Some(rows_of(seq, &[order(seq)])),
        waiting: None,
    }
}

fn queued(commits: impl IntoIterator<Item = Commit>) -> (Sender<Commit>, Receiver<Commit>) {
    let (sender, receiver) = commit_queue(1000);
    for commit in commits {
        sender.send(commit).unwrap();
    }
    (sender, receiver)
}

fn start(
    log: SqliteLog,
    commits: Receiver<Commit>,
    limits: WriterLimits,
) -> (LedgerWriter, mpsc::Receiver<Durability>) {
    let (sender, announced) = mpsc::channel();
    let announce = Box::new(move |durability| {
        if !matches!(durability, Durability::RowsWritten(_)) {
            let _ = sender.send(durability);
        }
    });
    (
        spawn_writer(log, commits, limits, announce).unwrap(),
        announced,
    )
}

#[test]
fn grouped_commits() {
    let fixture = Fixture::new();
    let (sender, receiver) = queued((1..=100).map(commit));
    drop(sender);
    let (writer, announced) = start(fixture.open().log, receiver, WriterLimits::default());
    let (durable, figures) = (writer.durable().clone(), writer.figures().clone());
    let head = writer.join().unwrap();
    assert_eq!(head.seq, Seq(100));
    assert_eq!(durable.reached(), Seq(100));
    assert_eq!(figures.commits.load(Relaxed), 1);
    assert_eq!(figures.events.load(Relaxed), 100);
    assert_eq!(
        announced.iter().collect::<Vec<_>>(),
        [Durability::Reached(Seq(100))]
    );
    let opened = fixture.open();
    assert_eq!(verified(&opened.log), head);
    assert_eq!(
        opened
            .readers
            .open()
            .unwrap()
            .rows::<OrderRow>()
            .unwrap()
            .len(),
        100
    );
    assert_eq!(
        std::fs::metadata(fixture.wal()).map_or(0, |wal| wal.len()),
        0
    );
}

#[test]
fn groups_are_bounded() {
    let fixture = Fixture::new();
    let (sender, receiver) = queued((1..=100).map(commit));
    drop(sender);
    let limits = WriterLimits {
        group_events_max: 30,
        checkpoint_pages_busy: 0,
        ..WriterLimits::default()
    };
    let (writer, announced) = start(fixture.open().log, receiver, limits);
    writer.join().unwrap();
    let reached = [30, 60, 90, 100].map(|seq| Durability::Reached(Seq(seq)));
    assert_eq!(announced.iter().collect::<Vec<_>>(), reached);

    let fixture = Fixture::new();
    let (sender, receiver) = queued((1..=3).map(commit));
    drop(sender);
    let limits = WriterLimits {
        group_bytes_max: 1,
        ..WriterLimits::default()
    };
    let (writer, announced) = start(fixture.open().log, receiver, limits);
    writer.join().unwrap();
    assert_eq!(announced.iter().count(), 3);
}

/// Rows let commits go first, but not for ever.
#[test]
fn rows_come_last() {
    let fixture = Fixture::new();
    let (sender, receiver) = queued((1..=3).map(commit));
    drop(sender);
    let limits = WriterLimits {
        group_events_max: 1,
        ..WriterLimits::default()
    };
    let (tell, announced) = mpsc::channel();
    let announce = Box::new(move |durability| tell.send(durability).unwrap());
    let writer = spawn_writer(fixture.open().log, receiver, limits, announce).unwrap();
    writer.join().unwrap();
    let reached = |seq| Durability::Reached(Seq(seq));
    let written = |seq| Durability::RowsWritten(Seq(seq));
    let expected = [reached(1), reached(2), written(2), reached(3), written(3)];
    assert_eq!(announced.iter().collect::<Vec<_>>(), expected);
    let rows = fixture.open_reader().rows::<OrderRow>().unwrap();
    assert_eq!(rows.len(), 3);
}

/// Waiters go on as soon as their position is durable.
#[test]
fn waiters_go_on() {
    let fixture = Fixture::new();
    let (sender, receiver) = commit_queue(1);
    let (writer, _announced) = start(fixture.open().log, receiver, WriterLimits::default());
    for seq in 1..=50 {
        sender.send(commit(seq)).unwrap();
        let reached = writer.durable().wait_for(Seq(seq)).unwrap();
        assert!(reached >= Seq(seq));
    }
    drop(sender);
    let durable = writer.durable().clone();
    writer.join().unwrap();
    assert!(durable.wait_for(Seq(51)).is_err());
    assert_eq!(verified(&fixture.open().log).seq, Seq(50));
}

#[test]
fn idle_writer() {
    let fixture = Fixture::new();
    let limits = WriterLimits {
        checkpoint_pages: 1,
        truncate_bytes: 1,
        idle: Duration::ZERO,
        ..WriterLimits::default()
    };
    let (sender, receiver) = queued([commit(1)]);
    let (writer, _announced) = start(fixture.open().log, receiver, limits);
    writer.durable().wait_for(Seq(1)).unwrap();
    while writer.figures().checkpoints.load(Relaxed) < 2 {
        std::thread::yield_now();
    }
    assert_eq!(std::fs::metadata(fixture.wal()).unwrap().len(), 0);
    drop(sender);
    writer.join().unwrap();
}

#[test]
fn long_wal() {
    let fixture = Fixture::new();
    let limits = WriterLimits {
        checkpoint_pages_busy: 1,
        idle: Duration::from_secs(3600),
        ..WriterLimits::default()
    };
    let (sender, receiver) = queued([commit(1)]);
    let (writer, _announced) = start(fixture.open().log, receiver, limits);
    while writer.figures().checkpoints.load(Relaxed) < 1 {
        std::thread::yield_now();
    }
    drop(sender);
    writer.join().unwrap();
}

/// A full disk fails everything that waits and keeps what was acknowledged.
#[test]
fn full_disk() {
    let fixture = Fixture::new();
    let mut log = fixture.open().log;
    append_one(&mut log, 1);
    log.connection
        .pragma_update(None, "max_page_count", 1)
        .unwrap();
    let many = Commit {
        recorded: (2..=2000).map(recorded).collect(),
        ..Commit::default()
    };
    let (sender, receiver) = queued([many, commit(2001)]);
    let (writer, announced) = start(log, receiver, WriterLimits::default());
    let stopped = writer.durable().wait_for(Seq(2000)).unwrap_err();
    assert!(stopped.0.contains("free space"), "{stopped}");
    let failure = writer.join().unwrap_err();
    assert_eq!(failure.message, stopped.0);
    assert_eq!(failure.remedy, Remedy::DiskSpace);
    assert_eq!(
        announced.iter().collect::<Vec<_>>(),
        [Durability::Failed(failure)]
    );
    assert!(sender.send(commit(2002)).is_err());

    let mut log = fixture.open().log;
    assert_eq!(verified(&log).seq, Seq(1));
    append_one(&mut log, 2);
}

/// Commits out of order stop the writer before anything is written.
#[test]
fn commits_out_of_order() {
    let fixture = Fixture::new();
    let (_sender, receiver) = queued([commit(1), commit(3)]);
    let (writer, _announced) = start(fixture.open().log, receiver, WriterLimits::default());
    let failure = writer.join().unwrap_err();
    assert!(
        failure.message.contains("#3 does not follow #1"),
        "{failure}"
    );
    assert_eq!(fixture.open().log.head().unwrap().seq, Seq(0));
}

/// A panic on the writer's thread lets waiters go.
#[test]
fn writer_panic() {
    let fixture = Fixture::new();
    let (_sender, receiver) = queued([commit(1)]);
    let announce = Box::new(|durability| assert_ne!(durability, Durability::Reached(Seq(1))));
    let log = fixture.open().log;
    let writer = spawn_writer(log, receiver, WriterLimits::default(), announce).unwrap();
    let stopped = writer.durable().wait_for(Seq(2)).unwrap_err();
    assert!(stopped.0.contains("panicked"), "{stopped}");
    assert!(writer.join().is_err());
}

/// Each group's commit and then, at once, the next: no idle moment comes.
fn under_a_load_that_never_pauses(limits: WriterLimits, last: u64) -> (Fixture, u64, u64) {
    let fixture = Fixture::new();
    let wal = fixture.wal();
    let (sender, receiver) = queued((1..=1000).map(commit));
    let longest = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&longest);
    let announce = Box::new(move |durability| {
        if let Durability::Reached(_) = durability {
            seen.fetch_max(std::fs::metadata(&wal).unwrap().len(), Relaxed);
        }
    });
    let writer = spawn_writer(fixture.open().log, receiver, limits, announce).unwrap();
    let figures = writer.figures().clone();
    for seq in 1001..=last {
        sender.send(commit(seq)).unwrap();
    }
    drop(sender);
    assert_eq!(writer.join().unwrap().seq, Seq(last));
    let checkpoints = figures.checkpoints.load(Relaxed);
    (fixture, longest.load(Relaxed), checkpoints)
}

/// The WAL stays bounded under a load that never pauses.
#[test]
fn bounded_wal() {
    let limits = WriterLimits {
        group_events_max: 1,
        checkpoint_pages_busy: 50,
        idle: Duration::from_secs(3600),
        ..WriterLimits::default()
    };
    let (fixture, longest, checkpoints) = under_a_load_that_never_pauses(limits, 1200);
    // The limit, and what 16 groups add before the next look: a group here changes fewer than 20 pages.
    let bound = (50 + 16 * 20) * (4096 + 24);
    assert!(longest <= bound, "{longest} of {bound} bytes");
    assert!(checkpoints > 3, "{checkpoints}");
    let opened = fixture.open();
    assert_eq!(verified(&opened.log).seq, Seq(1200));
    let reader = opened.readers.open().unwrap();
    assert_eq!(reader.integrity_check().unwrap(), Vec::<String>::new());
    assert_eq!(reader.rows::<OrderRow>().unwrap().len(), 1200);
}
