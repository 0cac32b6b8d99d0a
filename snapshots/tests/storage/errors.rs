//! Reads, writes and syncs that fail: nothing is acknowledged after that, and nothing acknowledged is lost.

use tslp_core::ids::Seq;
use tslp_snapshots::storage::{Effect, Fault, Operation, PowerLoss, SimDisk};

use super::seeds;
use super::workload::{Run, append, append_story, check_survived, groups, last_seq, open};

/// Lets every such operation fail once, each on a disk of its own; each time the process ends and another one begins, or
/// the power goes. Returns how often it failed. Of the many, a common run takes every `stride`-th, from the seed on.
fn check_every(stride: usize, operation: Operation, effect: Effect) -> u64 {
    let mut failures = 0;
    for seed in seeds(1) {
        for nth in (1 + seed % stride as u64..).step_by(stride) {
            let disk = SimDisk::new(seed);
            disk.inject_fault(Fault::nth(nth, operation, effect));
            let ran = append_story(&disk);
            if disk.faults_met().is_empty() {
                break;
            }
            failures += 1;
            let story = format!("{operation:?} {nth}, {effect:?}, {:?}", ran.failure);
            disk.heal();
            let after = SimDisk::from_image(seed, &disk.image_after(PowerLoss::Synced));
            check_survived(&after, &ran, &format!("{story}, power loss"));
            let after = SimDisk::from_image(seed, &disk.image_after(PowerLoss::scattered(nth)));
            check_survived(&after, &ran, &format!("{story}, scattered"));
            check_survived(&disk, &ran, &story);
        }
    }
    failures
}

/// One write in three or four: a commit is a handful of writes to the WAL and one to the anchor, and
/// with larger steps whole commits, and all writes of the anchor, could be left out.
#[test]
fn of_every_write() {
    assert!(check_every(4, Operation::Write, Effect::Error) > 30);
    assert!(check_every(3, Operation::Write, Effect::Short) > 30);
}

#[test]
fn of_every_sync() {
    assert!(check_every(1, Operation::Sync, Effect::Error) > 20);
    assert!(check_every(1, Operation::Sync, Effect::Forgotten) > 20);
}

#[test]
fn of_every_name_change() {
    assert!(check_every(1, Operation::Open, Effect::Error) > 5);
    assert!(check_every(1, Operation::Truncate, Effect::Error) > 0);
    assert!(check_every(1, Operation::Name, Effect::Error) > 3);
}

#[test]
fn of_every_read() {
    assert!(check_every(2, Operation::Read, Effect::Error) > 20);
}

#[test]
fn failed_log_stays_shut() {
    for effect in [
        Effect::Error,
        Effect::Short,
        Effect::Full,
        Effect::Forgotten,
    ] {
        for operation in [Operation::Write, Operation::Sync] {
            for nth in 1.. {
                let disk = SimDisk::new(nth);
                let (mut opened, _) = open(&disk).unwrap();
                append(&mut opened.log, &groups()[0]).unwrap();
                disk.inject_fault(Fault::nth(nth, operation, effect));
                if append(&mut opened.log, &groups()[1]).is_ok() {
                    assert!(
                        disk.faults_met().is_empty(),
                        "{operation:?} {nth}, {effect:?}"
                    );
                    break;
                }
                // The disk is fine again; that makes no success of the failure.
                disk.heal();
                let before = disk.counts().writes;
                for group in [&groups()[1], &groups()[2]] {
                    append(&mut opened.log, group).unwrap_err();
                }
                assert!(opened.log.head().is_err());
                assert!(opened.log.make_durable().is_err());
                assert_eq!(disk.counts().writes, before, "written after a failure");
                drop(opened);
                let ran = Run {
                    acknowledged: last_seq(&groups()[0]),
                    tried: last_seq(&groups()[1]),
                    failure: None,
                };
                check_survived(&disk, &ran, &format!("{operation:?} {nth}, {effect:?}"));
            }
        }
    }
}

#[test]
fn dropped_by_failed_sync() {
    // The sync of a commit fails, and the system drops its pages but shows them to readers. The next process sees the
    // commit, goes on from it, and every sync succeeds; then the power goes.
    for nth in 1.. {
        let disk = SimDisk::new(nth);
        disk.inject_fault(Fault::nth(nth, Operation::Sync, Effect::Forgotten));
        let first = append_story(&disk);
        if disk.faults_met().is_empty() {
            break;
        }
        let second = append_story(&disk);
        assert_eq!(second.failure, None, "sync {nth}");
        assert!(second.acknowledged >= first.acknowledged);
        disk.power_loss(PowerLoss::Synced);
        check_survived(&disk, &second, &format!("sync {nth}"));
    }
}

#[test]
fn room_after_full_disk() {
    let whole = SimDisk::new(0);
    let ran = append_story(&whole);
    let needed = whole.used_bytes();
    let mut refused = 0;
    for room in (0..needed).step_by(needed / 60) {
        let disk = SimDisk::new(1);
        disk.limit_bytes(Some(room));
        let first = append_story(&disk);
        if let Some(failure) = &first.failure {
            refused += 1;
            let said = ["full", "No space left"]
                .iter()
                .any(|word| failure.contains(word));
            assert!(said, "{room} bytes: {failure}");
        }
        // Still full: what there is can be looked at, or it says again that the disk is full.
        let again = append_story(&disk);
        assert!(again.acknowledged >= first.acknowledged || again.failure.is_some());
        disk.limit_bytes(None);
        let at_last = append_story(&disk);
        assert_eq!(
            (at_last.failure, at_last.acknowledged),
            (None, ran.acknowledged)
        );
        assert!(at_last.acknowledged > Seq(0));
        check_survived(&disk, &ran, &format!("{room} bytes"));
    }
    assert!(refused > 20, "{refused}");
}
