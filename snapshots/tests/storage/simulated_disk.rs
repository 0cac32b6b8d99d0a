//! The simulated disk itself: it keeps what was synced, forgets what wasn't synced, and fails when it must.

use std::path::Path;

use tslp_core::ids::Seq;
use tslp_snapshots::storage::{DATA_DIR, Effect, Fault, Operation, PowerLoss, SimDisk};

use super::workload::{
    self, WORKSPACE, append, append_story, check_survived, groups, last_seq, open,
};

#[test]
fn there_after_reopening() {
    let disk = SimDisk::new(1);
    let first = append_story(&disk);
    assert_eq!(first.failure, None);
    assert_eq!(first.acknowledged, last_seq(groups().last().unwrap()));
    assert_eq!(
        check_survived(&disk, &first, "reopened"),
        first.acknowledged
    );
    let counts = disk.counts();
    assert!(counts.syncs > 2 * groups().len() as u64, "{counts:?}");
}

#[test]
fn acknowledged_is_synced() {
    let disk = SimDisk::new(2);
    let ran = append_story(&disk);
    disk.power_loss(PowerLoss::Synced);
    assert_eq!(check_survived(&disk, &ran, "power loss"), ran.acknowledged);
}

/// Programs that lost the power can do nothing more.
#[test]
fn nothing_after_power_loss() {
    let disk = SimDisk::new(3);
    let (mut before, _) = open(&disk).unwrap();
    append(&mut before.log, &groups()[0]).unwrap();
    disk.power_loss(PowerLoss::Synced);
    assert!(append(&mut before.log, &groups()[1]).is_err());
    let (mut after, state) = open(&disk).unwrap();
    assert_eq!(state.head(), last_seq(&groups()[0]));
    drop(before);
    append(&mut after.log, &groups()[1]).unwrap();
    drop(after);
    assert_eq!(open(&disk).unwrap().1.head(), last_seq(&groups()[1]));
}

#[test]
fn data_directory_lock() {
    let disk = SimDisk::new(4);
    let opened = open(&disk).unwrap();
    let Err(second) = open(&disk) else {
        panic!("two processes have one ledger");
    };
    assert!(
        second.to_string().contains("another tslp process"),
        "{second}"
    );
    drop(opened);
    drop(open(&disk).unwrap());
}

#[test]
fn readers_follow() {
    let disk = SimDisk::new(5);
    let (mut opened, _) = open(&disk).unwrap();
    let reader = opened.readers.open().unwrap();
    for group in groups() {
        append(&mut opened.log, group).unwrap();
        assert_eq!(reader.head().unwrap().seq, last_seq(group));
    }
    assert!(reader.bytes_on_disk() > 0);
    assert_eq!(reader.integrity_check().unwrap(), Vec::<String>::new());
}

/// Unsynced bytes are lost or kept as the seed says.
#[test]
fn unsynced_bytes() {
    let file = Path::new("/f");
    let images = |loss: fn(u64) -> PowerLoss| {
        let mut images: Vec<_> = (0..40)
            .map(|seed| {
                let disk = SimDisk::new(0);
                let medium: &dyn tslp_store::ledger::disk::Disk = &disk;
                let mut opened = medium.create(file).unwrap();
                opened.write_at(0, &[1; 8192]).unwrap();
                opened.sync().unwrap();
                medium.sync_name(file).unwrap();
                opened.write_at(0, &[2; 8192]).unwrap();
                opened.write_at(100, &[3; 1000]).unwrap();
                assert_eq!(disk.image_after(loss(seed)), disk.image_after(loss(seed)));
                assert_eq!(disk.image_after(PowerLoss::Synced).bytes(file), [1; 8192]);
                assert_eq!(disk.image_after(PowerLoss::All), disk.image());
                disk.power_loss(loss(seed));
                disk.image().bytes(file).to_owned()
            })
            .collect();
        images.sort();
        images.dedup();
        images
    };
    assert!(images(PowerLoss::prefix).len() > 3);
    let scattered = images(PowerLoss::scattered);
    assert!(scattered.len() > 10);
    // A later write without the earlier one below it.
    assert!(
        scattered
            .iter()
            .any(|bytes| bytes[0] == 1 && bytes[100] == 3)
    );
}

#[test]
fn ordered_faults() {
    let disk = SimDisk::new(6);
    let (mut opened, _) = open(&disk).unwrap();
    disk.inject_fault(Fault::nth(2, Operation::Sync, Effect::Error).on_file("ledger.db-wal"));
    append(&mut opened.log, &groups()[0]).unwrap();
    append(&mut opened.log, &groups()[1]).unwrap_err();
    let struck = disk.faults_met();
    assert_eq!(struck.len(), 1, "{struck:?}");
    assert!(struck[0].1.ends_with("ledger.db-wal"));
    assert!(append(&mut opened.log, &groups()[1]).is_err());
}

/// A full disk takes nothing more until there is room.
#[test]
fn limited_disk() {
    let disk = SimDisk::new(7);
    let (mut opened, _) = open(&disk).unwrap();
    disk.limit_bytes(Some(disk.used_bytes()));
    append(&mut opened.log, &groups()[0]).unwrap_err();
    drop(opened);
    disk.limit_bytes(None);
    assert_eq!(open(&disk).unwrap().1.head(), Seq(0));
    assert_eq!(append_story(&disk).failure, None);
}

#[test]
fn other_seed() {
    let (one, other) = (SimDisk::new(8), SimDisk::new(8));
    drop(open(&one).unwrap());
    let opened = other
        .open_options()
        .open(Path::new(DATA_DIR), Path::new(WORKSPACE));
    assert_eq!(
        opened.unwrap().tables,
        tslp_store::ledger::TablesState::UpTo(Seq(0))
    );
    assert_eq!(workload::append_story(&one), workload::append_story(&other));
}
