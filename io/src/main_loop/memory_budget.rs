//! The memory of all prompts in flight: one count of bytes, and who may have more of it.
//!
//! Prompts are served in the order in which their bodies begin. A younger one takes only what leaves each older body that
//! is still coming in room for its rest. So the oldest can always be read to its end, whatever the others have begun: no
//! deadlock, nobody starves, and a small body passes a large one as long as there is room for both.

use std::collections::VecDeque;

use tslp_core::ids::Seq;

use crate::channel::ExchangeId;

/// Memory that a prompt takes at its peak, for each byte of its body: first in the engine (the body, its texts, the content
/// events, the prompt's text and the names in it, the body as written), then in the ledger's writer (the content events, one
/// of them encoded, and SQLite's two copies of that) in addition to the body being sent. Measured, see docs/benchmarks.md.
pub(super) const MEMORY_PER_BODY_BYTE: u64 = 6;

/// Further memory that a prompt takes: its head, its socket's buffers, and what the engine adds to it.
const MEMORY_PER_PROMPT: u64 = 64 << 10;

/// Memory that stays for smaller bodies while one of the largest size is coming in.
const MEMORY_FOR_SMALL_BODIES: u64 = 2 << 20;

/// The memory of a prompt whose body is of this length.
const fn memory_of(body_bytes: u64) -> u64 {
    MEMORY_PER_PROMPT.saturating_add(body_bytes.saturating_mul(MEMORY_PER_BODY_BYTE))
}

/// The memory that prompts hold, by exchange, and its limit.
#[derive(Debug)]
pub(super) struct MemoryBudget {
    total: u64,
    /// In the order in which the bodies began.
    prompts: VecDeque<PromptMemory>,
    /// Whether memory was given back since the last call of `take_eased`.
    has_eased: bool,
}

/// The memory that one prompt holds.
#[derive(Debug)]
struct PromptMemory {
    exchange: ExchangeId,
    stage: PromptStage,
}

/// The stage of a prompt, with the bytes that it holds.
#[derive(Debug)]
enum PromptStage {
    /// Its body is coming in: what it holds, and the most that it may need.
    Coming { held: u64, claim: u64 },
    /// It is whole, and the engine works on it.
    Composing { held: u64 },
    /// It was composed: the request's bytes until the upstream has them, or its reply can't go on from them any more; the
    /// rest until it is durable.
    Sent {
        request: u64,
        commit: Option<(Seq, u64)>,
    },
}

impl PromptMemory {
    const fn held_bytes(&self) -> u64 {
        match &self.stage {
            PromptStage::Coming { held, .. } | PromptStage::Composing { held } => *held,
            PromptStage::Sent { request, commit } => {
                *request
                    + match commit {
                        Some((_, bytes)) => *bytes,
                        None => 0,
                    }
            }
        }
    }
}

/// The answer to a request for memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MemoryRoom {
    Granted,
    /// Not until others have given some back.
    NotYet,
}

impl MemoryBudget {
    /// A budget in which one body of the largest size fits, together with small ones.
    pub(super) const fn for_bodies_up_to(body_bytes_max: u64) -> Self {
        Self {
            total: memory_of(body_bytes_max).saturating_add(MEMORY_FOR_SMALL_BODIES),
            prompts: VecDeque::new(),
            has_eased: false,
        }
    }

    /// Takes the memory of the first bytes of a body that will be of this length at most. Whoever has asked once keeps its
    /// place in the order.
    pub(super) fn take_for_body(
        &mut self,
        exchange: ExchangeId,
        body_bytes: u64,
        body_bytes_max: u64,
    ) -> MemoryRoom {
        let at = self.prompt_position(exchange).unwrap_or_else(|| {
            let claim = memory_of(body_bytes_max).min(self.total);
            let stage = PromptStage::Coming { held: 0, claim };
            self.prompts.push_back(PromptMemory { exchange, stage });
            self.prompts.len() - 1
        });
        let PromptStage::Coming { held, claim } = self.prompts[at].stage else {
            debug_assert!(false, "a body that is whole takes nothing more");
            return MemoryRoom::Granted;
        };
        // A body of the largest size fits by itself, so that its claim may be as large as the whole budget.
        let wanted = memory_of(body_bytes).min(claim);
        debug_assert!(held <= claim, "a body holds no more than it claims");
        if wanted > held && !self.fits(at, wanted - held) {
            return MemoryRoom::NotYet;
        }
        self.prompts[at].stage = PromptStage::Coming {
            held: wanted.max(held),
            claim,
        };
        MemoryRoom::Granted
    }

    /// Whether the prompt at index `at` may hold `more` bytes in addition.
    fn fits(&self, at: usize, more: u64) -> bool {
        let held: u64 = self.prompts.iter().map(PromptMemory::held_bytes).sum();
        if held + more > self.total {
            return false;
        }
        // Each older body that is coming in must still be able to reach its claim, whatever the younger ones hold.
        let mut held_by_younger = self
            .prompts
            .range(at..)
            .map(PromptMemory::held_bytes)
            .sum::<u64>()
            + more;
        self.prompts.range(..at).rev().all(|older| {
            let is_served = match &older.stage {
                PromptStage::Coming { claim, .. } => claim + held_by_younger <= self.total,
                // What these hold comes back by itself.
                PromptStage::Composing { .. } | PromptStage::Sent { .. } => true,
            };
            held_by_younger += older.held_bytes();
            is_served
        })
    }

    /// The body is whole and goes to the engine.
    pub(super) fn body_complete(&mut self, exchange: ExchangeId, body_bytes: u64) {
        self.change_stage(exchange, |_| {
            Some(PromptStage::Composing {
                held: memory_of(body_bytes),
            })
        });
    }

    /// The engine has composed the prompt: a request of this length goes out, and is durable there.
    pub(super) fn prompt_forwarded(
        &mut self,
        exchange: ExchangeId,
        request_bytes: u64,
        durable_at: Seq,
        durable: Seq,
    ) {
        self.change_stage(exchange, |stage| {
            let PromptStage::Composing { held } = stage else {
                return Some(stage);
            };
            // A request may be longer than all that was counted for its body: code was added.
            let commit =
                (durable_at > durable).then(|| (durable_at, held.saturating_sub(request_bytes)));
            PromptStage::after_sending(request_bytes, commit)
        });
    }

    /// The reply goes on with a longer request. What it is made of is kept for the next round, too: the first request, and
    /// what the model and its tools said since.
    pub(super) fn goes_on(&mut self, exchange: ExchangeId, request_bytes: u64) {
        self.change_stage(exchange, |stage| match stage {
            PromptStage::Sent { commit, .. } => {
                PromptStage::after_sending(request_bytes.saturating_mul(2), commit)
            }
            PromptStage::Coming { .. } | PromptStage::Composing { .. } => Some(stage),
        });
    }

    /// The request's bytes are no longer kept: the upstream has them all, or nobody waits for its response.
    pub(super) fn request_gone(&mut self, exchange: ExchangeId) {
        self.change_stage(exchange, |stage| match stage {
            PromptStage::Coming { .. } => None,
            // The engine has it. What becomes of it is forgotten at once.
            PromptStage::Composing { .. } => Some(stage),
            PromptStage::Sent { commit, .. } => PromptStage::after_sending(0, commit),
        });
    }

    /// The engine has refused the prompt.
    pub(super) fn prompt_refused(&mut self, exchange: ExchangeId) {
        self.change_stage(exchange, |_| None);
    }

    /// Everything up to here is on disk.
    pub(super) fn prompts_durable(&mut self, durable: Seq) {
        let before = self.prompts.len();
        for charge in &mut self.prompts {
            if let PromptStage::Sent { commit, .. } = &mut charge.stage
                && commit.is_some_and(|(at, _)| at <= durable)
            {
                *commit = None;
                self.has_eased = true;
            }
        }
        self.prompts.retain(|charge| {
            !matches!(
                charge.stage,
                PromptStage::Sent {
                    request: 0,
                    commit: None
                }
            )
        });
        self.has_eased |= self.prompts.len() < before;
    }

    /// Whether more may fit than when this was asked last.
    pub(super) const fn take_eased(&mut self) -> bool {
        std::mem::replace(&mut self.has_eased, false)
    }

    /// Changes the prompt's stage; `None` ends it.
    fn change_stage(
        &mut self,
        exchange: ExchangeId,
        next: impl FnOnce(PromptStage) -> Option<PromptStage>,
    ) {
        let Some(at) = self.prompt_position(exchange) else {
            return;
        };
        self.has_eased = true;
        if let Some(charge) = self.prompts.remove(at)
            && let Some(stage) = next(charge.stage)
        {
            // At its old place: the order is that in which the bodies began.
            self.prompts.insert(at, PromptMemory { stage, ..charge });
        }
    }

    fn prompt_position(&self, exchange: ExchangeId) -> Option<usize> {
        self.prompts
            .iter()
            .position(|charge| charge.exchange == exchange)
    }
}

impl PromptStage {
    /// `None` once nothing of it is held.
    const fn after_sending(request: u64, commit: Option<(Seq, u64)>) -> Option<Self> {
        match (request, commit) {
            (0, None) => None,
            _ => Some(Self::Sent { request, commit }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGEST: u64 = 1 << 20;

    /// What a budget for bodies of [`LARGEST`] says to each act of a story, one line each.
    #[track_caller]
    fn check(story: &str) {
        let mut budget = MemoryBudget::for_bodies_up_to(LARGEST);
        for line in story.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let words: Vec<&str> = line.split(' ').collect();
            let number = |at: usize| words[at].parse::<u64>().expect("a number");
            let id = ExchangeId(number(1));
            match words[0] {
                // take ID KIB of KIB: yes|no
                "take" => {
                    let room = budget.take_for_body(id, number(2) << 10, number(4) << 10);
                    let said = if room == MemoryRoom::Granted {
                        "yes"
                    } else {
                        "no"
                    };
                    assert_eq!(said, words[5], "{line} in {budget:?}");
                }
                "whole" => budget.body_complete(id, number(2) << 10),
                "sent" => budget.prompt_forwarded(id, number(2) << 10, Seq(number(3)), Seq(0)),
                "on" => budget.goes_on(id, number(2) << 10),
                "gone" => budget.request_gone(id),
                "refused" => budget.prompt_refused(id),
                "durable" => budget.prompts_durable(Seq(number(1))),
                "eased" => assert_eq!(budget.take_eased(), number(1) == 1, "{line}"),
                other => panic!("{other}?"),
            }
        }
    }

    /// A body waits until those before it have given back their memory.
    #[test]
    fn body_waits() {
        check(
            "take 1 1024 of 1024 yes
             take 2 1024 of 1024 no
             take 3 256 of 256 yes
             whole 1 1024
             take 2 1024 of 1024 no
             sent 1 1024 7
             eased 1
             durable 6
             eased 0
             take 2 1024 of 1024 no
             gone 1
             durable 7
             eased 1
             take 2 1024 of 1024 yes
             gone 2
             take 4 1024 of 1024 yes",
        );
    }

    /// A reply that goes on holds its request twice.
    #[test]
    fn held_twice() {
        check(
            "take 1 1024 of 1024 yes
             whole 1 1024
             sent 1 1024 7
             durable 7
             take 2 896 of 896 yes
             on 1 1536
             whole 2 896
             refused 2
             take 3 896 of 896 no
             gone 1
             take 3 896 of 896 yes",
        );
    }

    /// Small bodies pass a large one but never take its place.
    #[test]
    fn small_bodies_pass() {
        check(
            "take 1 900 of 900 yes
             whole 1 900
             take 2 1024 of 1024 no
             take 3 250 of 250 yes
             take 4 250 of 250 no
             refused 1
             take 4 250 of 250 no
             take 2 1024 of 1024 yes
             take 4 250 of 250 no
             refused 3
             take 4 250 of 250 yes",
        );
    }

    /// Of the bodies of unknown length, the oldest one can always go on.
    #[test]
    fn oldest_goes_on() {
        check(
            "take 1 64 of 1024 yes
             take 2 64 of 1024 yes
             take 3 64 of 1024 yes
             take 2 900 of 1024 no
             take 1 900 of 1024 yes
             take 1 1024 of 1024 yes
             take 2 900 of 1024 no
             gone 1
             take 3 900 of 1024 no
             take 2 1024 of 1024 yes",
        );
    }

    /// A client that left is charged until the engine is done with its prompt.
    #[test]
    fn charged_until_done() {
        check(
            "take 1 1024 of 1024 yes
             whole 1 1024
             gone 1
             take 2 1024 of 1024 no
             sent 1 0 3
             take 2 1024 of 1024 no
             durable 3
             take 2 1024 of 1024 yes",
        );
    }

    /// Bodies in random order, sizes and steps: as long as what is whole is given back, all of them come to their end.
    #[test]
    fn every_body_ends() {
        let mut state = 7_u64;
        let mut random = move |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % below
        };
        for _ in 0..300 {
            let mut budget = MemoryBudget::for_bodies_up_to(LARGEST);
            let count = 2 + random(20);
            // Length, most, taken; announced bodies are taken at once.
            let mut bodies: Vec<(u64, u64, u64)> = (0..count)
                .map(|_| {
                    let length = 1 + random(LARGEST);
                    let most = if random(2) == 0 { length } else { LARGEST };
                    (length, most, 0)
                })
                .collect();
            while bodies.iter().any(|(length, _, taken)| taken < length) {
                let mut moved = false;
                let first = random(count);
                for at in 0..count {
                    let index = ((first + at) % count) as usize;
                    let (length, most, taken) = &mut bodies[index];
                    if taken >= length {
                        continue;
                    }
                    let step = if most == length {
                        *length
                    } else {
                        1 + random(*length)
                    };
                    let wanted = (*taken + step).min(*length);
                    let id = ExchangeId(index as u64);
                    if budget.take_for_body(id, wanted, *most) == MemoryRoom::Granted {
                        *taken = wanted;
                        moved = true;
                        if taken == length {
                            budget.body_complete(id, *length);
                            budget.prompt_refused(id);
                        }
                    }
                }
                assert!(moved, "nobody can go on: {bodies:?} in {budget:?}");
            }
            assert!(budget.prompts.is_empty());
        }
    }
}
