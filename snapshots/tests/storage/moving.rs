//! The writer moves the WAL between two commits: a failure there stops it, and nothing acknowledged is lost.

use std::sync::mpsc;
use std::time::Duration;

use tslp_migrations::decode;
use tslp_snapshots::storage::{Effect, Fault, Operation, PowerLoss, SimDisk};
use tslp_store::ledger::writer::{self, Commit, Durability, Remedy, WriterFailure, WriterLimits};

use super::workload::{Group, Run, check_survived, groups, last_seq, open, scrub};

fn commit(group: &Group) -> Commit {
    let recorded = group
        .stored
        .iter()
        .map(|stored| stored.recorded(decode(stored.kind, &stored.payload).unwrap()));
    Commit {
        recorded: recorded.collect(),
        rows: Some(group.rows.clone()),
        waiting: None,
    }
}

/// Commits the story group by group, with a move after each, up to the first failure or the end.
fn commit_story(disk: &SimDisk) -> (Run, Option<WriterFailure>) {
    let (opened, state) = open(disk).unwrap();
    // Nothing is moved into a file at which nobody has looked.
    scrub(&opened).unwrap();
    let limits = WriterLimits {
        group_events_max: 1,
        checkpoint_pages_busy: 1,
        idle: Duration::from_secs(3600),
        ..WriterLimits::default()
    };
    let (tell, announced) = mpsc::channel();
    let announce = Box::new(move |durability| {
        // Nobody listens any more once this function has returned.
        let _ = tell.send(durability);
    });
    let (sender, queue) = writer::commit_queue(1);
    let writer = writer::spawn_writer(opened.log, queue, limits, announce).unwrap();
    let mut run = Run {
        acknowledged: state.head(),
        tried: state.head(),
        failure: None,
    };
    for group in groups() {
        run.tried = last_seq(group);
        // A writer that has nothing more to commit looks at the WAL and moves it.
        let sent = sender.send(commit(group));
        if sent.is_err() || writer.durable().wait_for(run.tried).is_err() {
            break;
        }
    }
    drop(sender);
    let ended = writer.join().err();
    let mut announced_failure = None;
    for durability in announced {
        match durability {
            Durability::Reached(seq) => run.acknowledged = seq,
            Durability::RowsWritten(_) => {}
            Durability::Failed(failure) => announced_failure = Some(failure),
        }
    }
    assert_eq!(announced_failure, ended);
    run.failure = ended.as_ref().map(ToString::to_string);
    (run, ended)
}

#[test]
fn moved_between_commits() {
    let disk = SimDisk::new(0);
    let (ran, failure) = commit_story(&disk);
    assert_eq!(failure, None);
    assert_eq!(ran.acknowledged, last_seq(groups().last().unwrap()));
    let after = SimDisk::from_image(1, &disk.image_after(PowerLoss::Synced));
    check_survived(&after, &ran, "power loss");
    check_survived(&disk, &ran, "moved");
}

#[test]
fn failed_move() {
    for (operation, effect, remedy) in [
        (Operation::Write, Effect::Error, Remedy::Restart),
        (Operation::Write, Effect::Short, Remedy::Restart),
        (Operation::Write, Effect::Full, Remedy::DiskSpace),
        (Operation::Sync, Effect::Error, Remedy::Restart),
        (Operation::Sync, Effect::Forgotten, Remedy::Restart),
    ] {
        for nth in 1..4 {
            let disk = SimDisk::new(nth);
            // A ledger that is there already; from now on only moves write to the database itself.
            drop(open(&disk).unwrap());
            disk.inject_fault(
                Fault::nth(nth, operation, effect)
                    .on_file("ledger.db")
                    .lasting(),
            );
            let (ran, failure) = commit_story(&disk);
            let story = format!("{operation:?} {nth}, {effect:?}, {failure:?}");
            assert!(
                disk.faults_met()
                    .iter()
                    .all(|(_, file, _)| file.ends_with("ledger.db"))
            );
            if disk.faults_met().is_empty() {
                // How often pages are moved is up to the threads; once it is in any case.
                assert!(nth > 1 && failure.is_none(), "{story}");
                check_survived(&disk, &ran, &story);
                continue;
            }
            let failure = failure.unwrap_or_else(|| panic!("{story}"));
            assert_eq!(failure.remedy, remedy, "{story}");
            disk.heal();
            let after = SimDisk::from_image(nth, &disk.image_after(PowerLoss::Synced));
            check_survived(&after, &ran, &format!("{story}, power loss"));
            let after = SimDisk::from_image(nth, &disk.image_after(PowerLoss::scattered(nth)));
            check_survived(&after, &ran, &format!("{story}, scattered"));
            check_survived(&disk, &ran, &story);
        }
    }
}

#[test]
fn power_loss_while_moving() {
    let mut cuts = 0;
    for nth in 1.. {
        let disk = SimDisk::new(nth);
        drop(open(&disk).unwrap());
        let loss = Effect::PowerLoss(PowerLoss::scattered(nth));
        disk.inject_fault(Fault::nth(nth, Operation::Change, loss).on_file("ledger.db"));
        let (ran, failure) = commit_story(&disk);
        if !disk.is_off() {
            break;
        }
        cuts += 1;
        disk.reboot();
        check_survived(&disk, &ran, &format!("change {nth}, {failure:?}"));
    }
    assert!(cuts > 10, "{cuts}");
}
