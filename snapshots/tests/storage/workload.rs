//! The ledger of these tests: a story's events with the rows that they change, commit by commit.

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::OnceLock;

use tslp_core::hash::ArtifactHash;
use tslp_core::ids::Seq;
use tslp_core::policy::Policy;
use tslp_migrations::encode;
use tslp_projections::TABLES;
use tslp_projections::changes::RowsUpTo;
use tslp_projections::state::State;
use tslp_replay::chain::ChainHash;
use tslp_replay::fold::Replay;
use tslp_replay::log::{Head, Stored};
use tslp_snapshots::replay_check;
use tslp_snapshots::script;
use tslp_snapshots::stage::Stage;
use tslp_snapshots::storage::{DATA_DIR, SimDisk};
use tslp_store::ledger::anchor::{self, AnchorState};
use tslp_store::ledger::{CheckpointMode, DataFiles, LedgerError, OpenLedger, SqliteLog};
use tslp_store::scrub::{Scrub, ScrubFlaw};
use tslp_store::startup::{self, StartError};

/// The workspace of every ledger here.
pub(crate) const WORKSPACE: &str = "/work/space";

/// After this many commits the WAL is moved into the database, after twice as many it is cut.
const MOVED_AFTER: usize = 3;

/// Events that are durable together, with their rows.
pub(crate) struct Group {
    pub(crate) stored: Vec<Stored>,
    pub(crate) rows: RowsUpTo,
}

/// The commits of a story in which code is pasted, promoted, tombstoned and refused, and one message is longer than a page.
pub(crate) fn groups() -> &'static [Group] {
    static GROUPS: OnceLock<Vec<Group>> = OnceLock::new();
    GROUPS.get_or_init(|| {
        let script = script::parse(&story());
        let mut stage = Stage::new(Policy::default());
        stage.declare_rules();
        let mut state = State::default();
        state.follow_changes(true);
        let mut chain = ChainHash::GENESIS;
        let mut groups = Vec::new();
        for step in script.steps {
            let known = stage.ledger().len();
            stage.step(step);
            let stored: Vec<Stored> = stage.ledger()[known..]
                .iter()
                .map(|recorded| {
                    state.apply(recorded);
                    let encoded = encode(&recorded.event).unwrap();
                    let stored =
                        Stored::after(chain, recorded.envelope, encoded.kind, encoded.payload);
                    chain = stored.chain;
                    stored
                })
                .collect();
            if !stored.is_empty() {
                let rows = RowsUpTo {
                    seq: state.head(),
                    changes: state.take_changes(),
                };
                groups.push(Group { stored, rows });
            }
        }
        groups
    })
}

fn story() -> String {
    let mut long = String::new();
    for line in 0..400_u32 {
        // Words that can't be packed into less than a page.
        let noise = ArtifactHash::of(&[line as u8, (line >> 8) as u8]).to_string();
        let words: Vec<&str> = (0..4)
            .map(|word| &noise[12 * word..12 * word + 12])
            .collect();
        let _ = writeln!(long, "| A log that somebody pasted: {}", words.join(" "));
    }
    format!(
        "
        disk src/a.c
        | int one(int x) {{ return x + 1; }}
        user
        | ```c:src/a.c
        | #include <a.h>
        | int one(int x) {{ return x + 1; }}
        | int two(int x) {{ return x + 2; }}
        | int three(int x) {{ return x + 3; }}
        | ```
        model
        | Fine.
        user
        | Improve two(), please.
        model
        | ```c:src/a.c
        | int two(int x) {{ return 2 + x; }}
        | ```
        user
{long}
        model
        | That is long.
        user
        | I removed one:
        | ```c:src/a.c
        | #include <a.h>
        | int one(int x) {{ return x + 1; }}
        | int two(int x) {{ return 2 + x; }}
        | ```
        model
        | Fine.
        "
    )
}

/// Every event of the groups.
pub(crate) fn events() -> impl Iterator<Item = &'static Stored> {
    groups().iter().flat_map(|group| &group.stored)
}

/// The last position of a group.
pub(crate) fn last_seq(group: &Group) -> Seq {
    group.stored.last().map_or(Seq(0), |stored| stored.seq)
}

pub(crate) fn open(disk: &SimDisk) -> Result<(OpenLedger, State), StartError> {
    let options = disk.open_options();
    startup::start(&options, Path::new(DATA_DIR), Path::new(WORKSPACE))
}

/// Appends a group's events.
pub(crate) fn append_events(log: &mut SqliteLog, group: &Group) -> Result<Head, LedgerError> {
    let mut batch = log.begin_batch()?;
    group.stored.iter().try_for_each(|it| batch.append(it))?;
    batch.commit()
}

/// Appends a group; after every other one the rows are written that are due.
pub(crate) fn append(log: &mut SqliteLog, group: &Group) -> Result<Head, LedgerError> {
    let head = append_events(log, group)?;
    let done = groups().iter().take_while(|it| it.rows.seq <= head.seq);
    if done.clone().count().is_multiple_of(2) {
        let written = log.rows_written()?;
        let due = done.filter(|it| it.rows.seq > written);
        let due: Vec<RowsUpTo> = due.map(|it| it.rows.clone()).collect();
        log.write_rows(&due)?;
    }
    Ok(head)
}

/// The end of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Run {
    /// The last position that was acknowledged.
    pub(crate) acknowledged: Seq,
    /// The last position whose append was tried.
    pub(crate) tried: Seq,
    /// The failure that ended it early.
    pub(crate) failure: Option<String>,
}

/// Opens the ledger and appends every group that it lacks, moving and cutting the WAL at times, up to the first failure.
pub(crate) fn append_story(disk: &SimDisk) -> Run {
    let mut run = Run::default();
    if let Err(failure) = append_missing(disk, &mut run) {
        run.failure = Some(failure);
    }
    run
}

fn append_missing(disk: &SimDisk, run: &mut Run) -> Result<(), String> {
    let (mut opened, state) = open(disk).map_err(|error| error.to_string())?;
    run.acknowledged = state.head();
    run.tried = state.head();
    let missing = groups()
        .iter()
        .enumerate()
        .filter(|(_, group)| last_seq(group) > state.head());
    for (number, group) in missing {
        run.tried = last_seq(group);
        let head = append(&mut opened.log, group).map_err(|error| error.to_string())?;
        assert_eq!(head.seq, run.tried);
        run.acknowledged = head.seq;
        let mode = match (number + 1) % (2 * MOVED_AFTER) {
            0 => CheckpointMode::Truncate,
            MOVED_AFTER => CheckpointMode::Passive,
            _ => continue,
        };
        opened
            .log
            .checkpoint(mode)
            .map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// Checks everything that the start didn't check.
pub(crate) fn scrub(opened: &OpenLedger) -> Result<(), ScrubFlaw> {
    Scrub::of(opened)?
        .run_checks(|| ControlFlow::Continue(()))
        .map(drop)
}

/// The disk holds the story up to one of its commits, from the acknowledged one to the one that was tried last; every table is
/// what a clean fold gives; and the rest can be appended. Returns the head that was found.
pub(crate) fn check_survived(disk: &SimDisk, run: &Run, story: &str) -> Seq {
    check_vouched(disk, run.acknowledged, story);
    let (mut opened, state) = match open(disk) {
        Ok(found) => found,
        Err(error) => panic!("{story}: {error}"),
    };
    let head = state.head();
    let acknowledged = run.acknowledged;
    assert!(
        acknowledged <= head && head <= run.tried,
        "{story}: {acknowledged} was acknowledged, {} was tried, {head} is there",
        run.tried
    );
    let whole = head == Seq(0) || groups().iter().any(|group| last_seq(group) == head);
    assert!(whole, "{story}: a commit was cut in two at {head}");
    check_events(&opened.log, head, story);
    check_tables(&opened.log, &state, story);
    scrub(&opened).unwrap_or_else(|flaw| panic!("{story}: {flaw}"));
    for group in groups().iter().filter(|group| last_seq(group) > head) {
        append(&mut opened.log, group).unwrap_or_else(|error| panic!("{story}: {error:?}"));
    }
    head
}

/// The anchor covers everything acknowledged, so that its loss would be noticed.
fn check_vouched(disk: &SimDisk, acknowledged: Seq, story: &str) {
    let file = DataFiles::of(Path::new(DATA_DIR)).anchor;
    let vouched = match anchor::read(disk, &file) {
        Ok(AnchorState::Head(head)) => head.seq,
        Ok(AnchorState::Missing) => Seq(0),
        other => panic!("{story}: the anchor is {other:?}"),
    };
    assert!(
        vouched >= acknowledged,
        "{story}: {acknowledged} was acknowledged, the anchor vouches for {vouched}"
    );
}

/// The log holds the story's events up to a position, byte for byte.
pub(crate) fn check_events(log: &SqliteLog, head: Seq, story: &str) {
    let mut found = Vec::new();
    log.read(Seq(1), &mut |stored| {
        found.push(stored);
        std::ops::ControlFlow::Continue(())
    })
    .unwrap();
    let expected = events().take_while(|stored| stored.seq <= head);
    assert!(found.iter().eq(expected), "{story}: other events");
}

/// Every table holds what a clean fold of the story gives.
pub(crate) fn check_tables(log: &SqliteLog, state: &State, story: &str) {
    let folded = folded_until(state.head());
    for (index, table) in TABLES.iter().enumerate() {
        let mut rows = Vec::new();
        log.read_table(index, &mut |row| {
            rows.push(row.to_vec());
            std::ops::ControlFlow::Continue(())
        })
        .unwrap();
        assert_eq!(
            rows,
            replay_check::rows(&folded, index),
            "{story}: {}",
            table.name
        );
        // What is written, the state holds no more.
        if table.is_archive() {
            let has_tail = log.rows_written().unwrap() < state.head();
            assert!(
                has_tail || replay_check::rows(state, index).is_empty(),
                "{story}"
            );
            continue;
        }
        assert_eq!(
            rows,
            replay_check::rows(state, index),
            "{story}: {}",
            table.name
        );
    }
}

/// A clean fold of the story up to a position.
pub(crate) fn folded_until(head: Seq) -> State {
    folded(events().take_while(|stored| stored.seq <= head))
}

/// The state that stored events give.
pub(crate) fn folded<'s>(events: impl IntoIterator<Item = &'s Stored>) -> State {
    let mut replay = Replay::default();
    for stored in events {
        replay.step(stored, tslp_migrations::decode).unwrap();
    }
    replay.into_state()
}
