//! Compares the recorded events of one step with today's decisions.

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use tslp_core::artifact::Transition;
use tslp_core::entity::EntityId;
use tslp_core::event::{ArtifactCaptured, ContentKind, Event, Recorded};
use tslp_core::ids::{Seq, VersionId};
use tslp_core::reason::Reason;

/// Why today's engine decides differently from the record.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DifferenceCause {
    /// Another grammar, or another data file, read the code.
    Grammar {
        /// Its language.
        language: String,
        /// The version on record.
        then: String,
        /// The version of today.
        now: String,
    },
    /// A threshold or another setting was different.
    Setting {
        /// Its name in the configuration.
        name: &'static str,
        /// The value on record.
        then: String,
        /// The value of today.
        now: String,
    },
    /// The rules themselves were different.
    Rules {
        /// The version on record.
        then: u32,
        /// The version of today.
        now: u32,
    },
    /// The ledger ends before its last step does: a damaged ledger.s copy may end so.
    CutShort,
}

/// A decision on record that isn't today's, or the other way round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The event's position in the ledger; if none is recorded, the position that today's event would have.
    pub seq: Seq,
    /// The recorded event, if there is one.
    pub recorded: Option<Event>,
    /// Today's event, if there is one.
    pub today: Option<Event>,
    /// The recorded changes that explain it. Empty: a defect or a forgery.
    pub causes: Vec<DifferenceCause>,
}

impl Difference {
    /// Whether recorded versions and settings explain it.
    #[must_use]
    pub const fn is_explained(&self) -> bool {
        !self.causes.is_empty()
    }
}

/// The recorded events of the current step that no decision has accounted for yet, and the differences so far.
#[derive(Debug, Default)]
pub struct RecordedStep {
    pub(crate) queue: VecDeque<Recorded>,
    pub(crate) differences: Vec<Difference>,
    /// The last position that was taken.
    pub(crate) reached: Seq,
}

impl RecordedStep {
    pub(crate) fn new(queue: impl IntoIterator<Item = Recorded>, reached: Seq) -> Self {
        Self {
            queue: queue.into_iter().collect(),
            differences: Vec::new(),
            reached,
        }
    }

    /// Compares one of today's decisions with the record, and determines how many recorded events it accounts for.
    pub(crate) fn compare(&self, today: &[Event]) -> Comparison {
        // The usual case, without copies: the record goes on with what is decided today.
        let same = |(recorded, event): (&Recorded, &Event)| recorded.event == *event;
        if self.queue.len() >= today.len() && self.queue.iter().zip(today).all(same) {
            return Comparison {
                taken: today.len(),
                differences: Vec::new(),
            };
        }
        let today = &*self.as_told(today);
        let renumbered = self.renumbered(today);
        let (start, end) = self.record_window(&renumbered);
        debug_assert!(
            start <= end && end <= self.queue.len(),
            "a window is a range of the queue"
        );
        let pairs = paired(&self.queue, start..end, &renumbered);
        let taken = pairs.iter().flatten().max().map_or(0, |last| last + 1);
        let mut differences = self.differences(taken, &renumbered, &pairs);
        if differences.is_empty() {
            // The numbers alone are others.
            differences = self.differences(taken, today, &pairs);
        }
        Comparison { taken, differences }
    }

    /// How today's events differ from the next `taken` ones on record, which are known to be of the same decision.
    pub(crate) fn compare_with(&self, taken: usize, today: &[Event]) -> Vec<Difference> {
        assert!(
            taken <= self.queue.len(),
            "a decision accounts for recorded events alone"
        );
        let today = self.renumbered(&self.as_told(today));
        let pairs = paired(&self.queue, 0..taken, &today);
        self.differences(taken, &today, &pairs)
    }

    fn differences(
        &self,
        taken: usize,
        today: &[Event],
        pairs: &[Option<usize>],
    ) -> Vec<Difference> {
        let mut paired: Vec<usize> = pairs.iter().flatten().copied().collect();
        paired.sort_unstable();
        let recorded = self.queue.iter().take(taken).enumerate();
        let mut differences: Vec<Difference> = recorded
            .filter(|(at, _)| paired.binary_search(at).is_err())
            .map(|(_, recorded)| unexpected(recorded))
            .collect();
        let mut place = self
            .queue
            .front()
            .map_or(self.reached.next(), |recorded| recorded.seq);
        let mut before = None;
        for (event, pair) in today.iter().zip(pairs) {
            let recorded = pair.map(|at| &self.queue[at]);
            // On record it comes before something that today precedes it: the order was another.
            let is_late = pair.is_some() && *pair < before;
            before = before.max(*pair);
            place = recorded.map_or(place, |recorded| recorded.seq);
            if is_late || recorded.is_none_or(|recorded| recorded.event != *event) {
                differences.push(Difference {
                    seq: place,
                    recorded: recorded.map(|recorded| recorded.event.clone()),
                    today: Some(event.clone()),
                    causes: Vec::new(),
                });
            }
            if recorded.is_some() {
                place = place.next();
            }
        }
        differences.sort_by_key(|difference| difference.seq);
        differences
    }

    /// Today's events as the record tells them: by older rules each promotion of a block was an event.
    fn as_told<'t>(&self, today: &'t [Event]) -> Cow<'t, [Event]> {
        let after_resolved = self.capture_of(today).map(|at| at + 2);
        let told = after_resolved.and_then(|at| self.queue.get(at));
        if !told.is_some_and(|told| matches!(told.event, Event::Transitioned(_))) {
            return Cow::Borrowed(today);
        }
        let one_by_one = |event: &Event| match event {
            Event::VersionsPromoted(promoted) => {
                promoted.transitions().map(Event::Transitioned).collect()
            }
            event => Vec::from([event.clone()]),
        };
        Cow::Owned(today.iter().flat_map(one_by_one).collect())
    }

    /// Today's events with the numbers that the record gives to the same capture and the same entities' versions.
    fn renumbered(&self, today: &[Event]) -> Vec<Event> {
        let mut today = today.to_vec();
        let Some(at) = self.capture_of(&today) else {
            return today;
        };
        let Event::ArtifactCaptured(captured) = &self.queue[at].event else {
            return today;
        };
        let capture = captured.capture;
        let recorded: BTreeMap<&EntityId, VersionId> = match self.queue.get(at + 1) {
            Some(Recorded {
                event: Event::ArtifactResolved(resolved),
                ..
            }) => resolved
                .versions
                .iter()
                .map(|version| (&version.entity, version.id))
                .collect(),
            _ => BTreeMap::new(),
        };
        // A number depends on everything before it, so one earlier difference would make all later events differ.
        let mut numbers: BTreeMap<VersionId, VersionId> = BTreeMap::new();
        for event in &mut today {
            match event {
                Event::ArtifactCaptured(captured) => captured.capture = capture,
                Event::ArtifactResolved(resolved) => {
                    resolved.capture = capture;
                    for version in &mut resolved.versions {
                        if let Some(id) = recorded.get(&version.entity) {
                            numbers.insert(version.id, *id);
                            version.id = *id;
                        }
                    }
                }
                Event::Transitioned(moved) => renumber(&numbers, &mut moved.version),
                Event::VersionsPromoted(promoted) => renumber(&numbers, &mut promoted.first),
                Event::PromotionRefused(refused) => renumber(&numbers, &mut refused.version),
                _ => {}
            }
        }
        today
    }

    /// The position in the queue of the recorded capture of the code that today's events are about.
    fn capture_of(&self, today: &[Event]) -> Option<usize> {
        let wanted = today.iter().find_map(captured_in)?;
        let is_same = |one: &ArtifactCaptured| {
            (one.artifact, &one.path, one.origin) == (wanted.artifact, &wanted.path, wanted.origin)
        };
        let captures = || {
            self.queue
                .iter()
                .enumerate()
                .filter_map(|(at, recorded)| Some((at, captured_in(&recorded.event)?)))
        };
        captures()
            .find(|(_, one)| is_same(one))
            .or_else(|| {
                captures()
                    .next()
                    .filter(|(_, one)| one.capture == wanted.capture)
            })
            .map(|(at, _)| at)
    }

    /// The range of the queue in which today's events can have counterparts.
    fn record_window(&self, today: &[Event]) -> (usize, usize) {
        let length = self.queue.len();
        let position = |wanted: fn(&Event) -> bool, from: usize| {
            let mut later = self.queue.range(from..);
            later
                .position(|recorded| wanted(&recorded.event))
                .map(|at| from + at)
        };
        let is_composed = |event: &Event| matches!(event, Event::PromptComposed(_));
        if today.iter().any(is_composed) {
            let end = position(is_composed, 0);
            let is_notice = |event: &Event| matches!(event, Event::NoticeIssued(_));
            let start = self.back_over(end.unwrap_or(length), is_notice);
            return (start, end.map_or(length, |end| end + 1));
        }
        let begins = |event: &Event| {
            matches!(
                event,
                Event::ArtifactCaptured(_)
                    | Event::PromptComposed(_)
                    | Event::AuditAsked(_)
                    | Event::DirectiveGiven(_)
                    | Event::DiskObserved(_)
            )
        };
        if !today.iter().any(|event| captured_in(event).is_some()) {
            let from = usize::from(today.first().is_some_and(begins)).min(length);
            let end = position(begins, from).unwrap_or(length);
            return (0, self.back_over(end, is_code).max(from));
        }
        let Some(at) = self.capture_of(today) else {
            return (0, 0);
        };
        let end = position(begins, at + 1).unwrap_or(length);
        (
            self.back_over(at, is_code),
            self.back_over(end, is_code).max(at + 1),
        )
    }

    fn back_over(&self, mut at: usize, skips: impl Fn(&Event) -> bool) -> usize {
        while at > 0 && skips(&self.queue[at - 1].event) {
            at -= 1;
        }
        at
    }

    /// The recorded looks at the disk that come next, in order.
    pub(crate) fn leading_looks(&self) -> impl Iterator<Item = &Recorded> {
        self.queue
            .iter()
            .take_while(|recorded| is_look(&recorded.event))
    }

    /// Removes what is left of the record at the step's end. Each such event is a difference.
    pub(crate) fn take_unexpected(&mut self) -> Vec<Recorded> {
        let rest: Vec<Recorded> = self.queue.drain(..).collect();
        self.differences.extend(rest.iter().map(unexpected));
        rest
    }
}

/// The part of the record that one of today's decisions accounts for.
pub(crate) struct Comparison {
    /// The number of recorded events.
    pub(crate) taken: usize,
    /// The differences among them.
    pub(crate) differences: Vec<Difference>,
}

/// A look at the disk, or what it made void.
pub(crate) fn is_look(event: &Event) -> bool {
    match event {
        Event::DiskObserved(_) | Event::PlaceObserved(_) => true,
        Event::Transitioned(moved) => {
            moved.transition == Transition::Discard && moved.cause == Reason::Stale
        }
        _ => false,
    }
}

fn captured_in(event: &Event) -> Option<&ArtifactCaptured> {
    match event {
        Event::ArtifactCaptured(captured) => Some(captured),
        _ => None,
    }
}

fn is_code(event: &Event) -> bool {
    matches!(event, Event::Content(content) if content.kind == ContentKind::Code)
}

fn renumber(numbers: &BTreeMap<VersionId, VersionId>, id: &mut VersionId) {
    if let Some(number) = numbers.get(id) {
        *id = *number;
    }
}

pub(crate) fn unexpected(recorded: &Recorded) -> Difference {
    Difference {
        seq: recorded.seq,
        recorded: Some(recorded.event.clone()),
        today: None,
        causes: Vec::new(),
    }
}

/// The recorded counterpart of each of today's events: an equal event, else one about the same entity, else one of the same
/// kind. Most are in order, so each is looked for after its predecessor's first.
fn paired(queue: &VecDeque<Recorded>, window: Range<usize>, today: &[Event]) -> Vec<Option<usize>> {
    let mut pairs: Vec<Option<usize>> = Vec::new();
    pairs.resize(today.len(), None);
    let mut is_free: Vec<bool> = Vec::new();
    is_free.resize(window.len(), true);
    let likes: [fn(&Event, &Event) -> bool; 3] = [
        |one, other| one == other,
        |one, other| {
            outcome_subject(one).is_some_and(|about| Some(about) == outcome_subject(other))
        },
        |one, other| one.name() == other.name() && !matches!(one, Event::Content(_)),
    ];
    // One likeness after the other for all events, so that a weaker one takes no event away from an equal one.
    for is_like in likes {
        let mut next = 0;
        for (event, pair) in today.iter().zip(&mut pairs) {
            if let Some(found) = pair {
                next = *found - window.start + 1;
                continue;
            }
            let mut places = (next..window.len()).chain(0..next.min(window.len()));
            let found =
                places.find(|at| is_free[*at] && is_like(&queue[window.start + at].event, event));
            if let Some(at) = found {
                is_free[at] = false;
                *pair = Some(window.start + at);
                next = at + 1;
            }
        }
    }
    pairs
}

/// The entity and kind of an outcome. A refusal has the same kind as a promotion, since one may have become the other.
fn outcome_subject(event: &Event) -> Option<(&EntityId, &'static str)> {
    match event {
        Event::Transitioned(moved) => Some((
            &moved.entity,
            match moved.transition {
                Transition::Promote => "outcome",
                Transition::Discard => "discard",
                Transition::Supersede => "supersede",
                Transition::Remove => "remove",
            },
        )),
        Event::PromotionRefused(refused) => Some((&refused.entity, "outcome")),
        Event::NoticeIssued(notice) => notice.entity.as_ref().map(|entity| (entity, "notice")),
        _ => None,
    }
}
