//! The power goes at every moment of a ledger's life: what was acknowledged is there, and nothing in half.

use tslp_core::ids::Seq;
use tslp_snapshots::storage::{Effect, Fault, Operation, PowerLoss, SimDisk};

use super::seeds;
use super::workload::{Run, append_story, check_survived};

/// The ways in which the power takes what wasn't synced.
fn losses(seed: u64) -> [PowerLoss; 4] {
    [
        PowerLoss::Synced,
        PowerLoss::All,
        PowerLoss::prefix(seed),
        PowerLoss::scattered(seed),
    ]
}

/// Runs the story on a disk whose power goes at the `nth` such operation. `None` if there were fewer.
fn cut_at(seed: u64, nth: u64, operation: Operation, loss: PowerLoss) -> Option<(SimDisk, Run)> {
    let disk = SimDisk::new(seed);
    disk.inject_fault(Fault::nth(nth, operation, Effect::PowerLoss(loss)));
    let ran = append_story(&disk);
    if !disk.is_off() {
        return None;
    }
    disk.reboot();
    Some((disk, ran))
}

/// What was acknowledged survives a power loss at every sync.
#[test]
fn at_every_sync() {
    let mut cuts = 0;
    for seed in seeds(2) {
        for nth in 1.. {
            let mut reached = false;
            for loss in losses(seed * 1000 + nth) {
                if let Some((disk, ran)) = cut_at(seed, nth, Operation::Sync, loss) {
                    check_survived(&disk, &ran, &format!("sync {nth}, {loss:?}"));
                    (reached, cuts) = (true, cuts + 1);
                }
            }
            if !reached {
                break;
            }
        }
    }
    assert!(cuts > 100, "{cuts} cuts");
}

/// Every change, since what is half done differs at each: a commit's first pages and its last, the
/// anchor, a name, a move of pages. With every second one a window between two of them stays unseen.
#[test]
fn at_every_change() {
    let mut heads = std::collections::BTreeSet::new();
    for seed in seeds(1) {
        for nth in 1.. {
            // Each moment by one of the two ways that tear.
            let loss = losses(seed * 1000 + nth)[2 + (nth % 2) as usize];
            let Some((disk, ran)) = cut_at(seed, nth, Operation::Change, loss) else {
                break;
            };
            heads.insert(check_survived(
                &disk,
                &ran,
                &format!("change {nth}, {loss:?}"),
            ));
        }
    }
    assert!(heads.len() > 5, "{heads:?}");
}

/// The power fails again and again while the ledger comes back.
#[test]
fn while_coming_back() {
    for seed in seeds(40) {
        let disk = SimDisk::new(seed);
        let mut acknowledged = Seq(0);
        let mut tried = Seq(0);
        for crash in 0..12 {
            let loss = losses(seed * 100 + crash)[(seed + crash) as usize % 4];
            let nth = 1 + (seed * 31 + crash * 17) % 40;
            disk.inject_fault(Fault::nth(nth, Operation::Change, Effect::PowerLoss(loss)));
            let ran = append_story(&disk);
            let story = format!("seed {seed}, crash {crash}, {loss:?}");
            if ran.failure.is_some() {
                assert!(disk.is_off(), "{story}: {ran:?}");
            }
            tried = tried.max(ran.tried);
            assert!(
                ran.tried == Seq(0) || ran.tried >= acknowledged,
                "{story}: {ran:?}"
            );
            acknowledged = acknowledged.max(ran.acknowledged);
            disk.reboot();
        }
        let ran = Run {
            acknowledged,
            tried,
            failure: None,
        };
        check_survived(&disk, &ran, &format!("seed {seed}, at last"));
    }
}

/// What is seen after a crash is still there after the next one.
#[test]
fn seen_after_a_crash() {
    // A process ended between a commit and its sync or its anchor's. The next one showed those events and went on from
    // them without a further commit; then the power went and took what only the page cache had.
    let mut settled = 0;
    for seed in seeds(1) {
        for nth in 1.. {
            let disk = SimDisk::new(seed);
            disk.inject_fault(Fault::nth(nth, Operation::Sync, Effect::Error));
            let ran = append_story(&disk);
            if disk.faults_met().is_empty() {
                break;
            }
            let shown = super::workload::open(&disk).unwrap().1.head();
            settled += u64::from(shown > ran.acknowledged);
            disk.power_loss(PowerLoss::Synced);
            let ran = Run {
                acknowledged: shown,
                ..ran
            };
            check_survived(&disk, &ran, &format!("sync {nth}"));
        }
    }
    assert!(settled > 5, "{settled}");
}
