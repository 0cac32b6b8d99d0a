//! The world around the proxy: the model server, editors, clocks, and faults of the disk.

use tslp_core::path::RelPath;

use super::World;
use crate::dice::Dice;
use crate::random::code::FILES;
use crate::simulation::speech;
use crate::simulation::workspace::WriteManner;
use crate::storage::{Effect, Fault, Operation, PowerLoss};

impl World<'_> {
    pub(super) fn step_model_server(&mut self) {
        let Some(process) = &self.process else { return };
        let network = process.network.clone();
        let (witness, growth) = (&self.witness, &mut self.growth);
        let mut make = |chance: &mut Dice| {
            let reply = speech::make_reply(chance, |path| witness.functions_in(path));
            let arguments = reply.call.as_ref().map_or("", |(_, arguments)| arguments);
            growth.new_bytes += (reply.text.len() + arguments.len()) as u64;
            reply
        };
        self.upstream
            .step(&network, &mut self.chance, self.is_calm, &mut make);
        self.trace("model server");
    }

    pub(super) fn step_editor(&mut self) {
        let path = RelPath::from_normalised(self.chance.pick(&FILES));
        let tracked = self.witness.functions_in(path.as_str());
        let what = match self.chance.below(12) {
            0..=2 => {
                self.workspace.delete(&path);
                "deletes"
            }
            3 => {
                self.workspace.lock(&path);
                "locks"
            }
            4 => {
                let reads = self.chance.pick(&[1, 3, 4, 9]) as u32;
                self.workspace.change_during_reads(&path, reads);
                "wobbles"
            }
            _ => {
                let text = speech::edited_text(&mut self.chance, &tracked);
                let writings = [
                    WriteManner::InPlace,
                    WriteManner::Renamed,
                    WriteManner::Backdated,
                ];
                let writing = self.chance.pick(&writings);
                self.growth.new_bytes += text.len() as u64;
                self.workspace.write(&path, &text, writing);
                "writes"
            }
        };
        self.files = self.workspace.snapshot();
        self.count_one("edits of the workspace");
        self.trace(&format!("editor {what} {path}"));
    }

    pub(super) fn pass_time(&mut self) {
        const HOUR: i64 = 3_600_000;
        match self.chance.below(10) {
            0 => {
                let hours = self.chance.between(1, 40_000) as i64;
                let millis = self.chance.below(3_600_000) as i64;
                let sign = if self.chance.percent(50) { 1 } else { -1 };
                self.clock.jump_wall(sign * (hours * HOUR + millis));
                self.count_one("clock jumps");
            }
            1 => self
                .clock
                .advance(self.chance.pick(&[5_000, 80_000, 700_000]) as u64),
            _ => self.clock.advance(self.chance.between(1, 400) as u64),
        }
        self.trace("time");
    }

    pub(super) fn inject_disk_fault(&mut self) {
        let nth = self.chance.between(1, 12) as u64;
        let fault = match self.chance.below(9) {
            8 => Fault::nth(nth, Operation::Sync, Effect::Forgotten),
            0 => Fault::nth(nth, Operation::Write, Effect::Error),
            1 => Fault::nth(nth, Operation::Sync, Effect::Error),
            2 => Fault::nth(nth, Operation::Write, Effect::Short),
            3 => Fault::nth(nth, Operation::Change, Effect::Full),
            4 => Fault::nth(nth, Operation::Sync, Effect::Error).on_file(".anchor"),
            _ => {
                let loss = self.random_loss();
                Fault::nth(nth, Operation::Change, Effect::PowerLoss(loss))
            }
        };
        self.trace(&format!("disk {fault:?}"));
        self.disk.inject_fault(fault);
        self.count_one("disk faults");
    }

    pub(super) fn random_loss(&mut self) -> PowerLoss {
        let seed = self.chance.roll();
        match self.chance.below(4) {
            0 => PowerLoss::Synced,
            1 => PowerLoss::prefix(seed),
            _ => PowerLoss::scattered(seed),
        }
    }
}
