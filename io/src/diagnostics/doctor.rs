//! `/doctor`: checks everything that the proxy depends on, and changes nothing (spec §14.3).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::ControlFlow;

use serde_json::{Value, json};
use tslp_core::event::{DiskFinding, Event, EventKind, PlaceKind, WindowExceeded};
use tslp_core::extract::Grammars;
use tslp_core::ids::Seq;
use tslp_core::limits::RECENT_EPISODES_SHOWN;
use tslp_core::reason::Reason;
use tslp_decide::wording::user_line;
use tslp_grammars::TreeSitterGrammars;
use tslp_migrations::schema::FORMAT_VERSION;
use tslp_projections::anomalies::AnomalyRow;
use tslp_projections::disk::DiskRow;
use tslp_projections::episodes::EpisodeRow;
use tslp_projections::guardian::ToolSessionRow;
use tslp_projections::places::PlaceRow;
use tslp_projections::stale::{DiskDifference, StaleRow};
use tslp_store::ledger::anchor::{self, AnchorState};
use tslp_store::ledger::disk::FileSystem;
use tslp_store::ledger::{DataFiles, LedgerError, LedgerReader};
use tslp_store::scrub::{ScrubProgress, SharedProgress};
use tslp_store::startup::{self, StartError};

use super::disk_now::DiskChanges;
use super::price::{self, PriceSum, PromptPrice};
use super::{DiagnosedSubject, unread};
use crate::metrics::TableFigures;
use crate::probe::{self, ProbeTarget};
use crate::tool_loop::mode_and_reason;

/// Advice for a ledger that can't be trusted.
const ADVICE: &str = "go on from a copy, or copy the intact events with `tslp copy NEW_DIR`";

/// Free bytes below which the disk is as good as full.
const FREE_BYTES_MIN: u64 = 64 << 20;

/// Tracked files up to which the page looks at all of them.
const FILES_LOOKED_AT_MAX: usize = 2000;

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckHealth {
    /// All is well.
    Ok,
    /// Something to know; the proxy works.
    Warning,
    /// Another version's ledger, which this one can't judge.
    OtherVersion,
    /// Something is broken.
    Failed,
}

impl CheckHealth {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::OtherVersion => "version",
            Self::Failed => "failed",
        }
    }
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DoctorCheck {
    /// The subject of the check.
    pub name: &'static str,
    /// The result.
    pub health: CheckHealth,
    /// In words.
    pub detail: String,
}

/// All checks, and the counts that spec §15.7 asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DoctorReport {
    /// In a fixed order.
    pub checks: Vec<DoctorCheck>,
    /// What the tables say of the truth, where that was asked.
    pub truths: Option<TruthCounts>,
    /// What the last prompts cost the model server, where that was asked.
    pub price: Option<PriceSum>,
}

/// Counts of what is true, STALE and unreadable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TruthCounts {
    /// Entities in the State Map.
    pub entities: usize,
    /// STALE entities.
    pub stale: usize,
    /// STALE entities of which disk holds a change of the model's that was refused.
    pub refused: usize,
    /// Entities whose file was deleted.
    pub gone: usize,
    /// Entities of which the model's accepted version isn't saved yet.
    pub unsaved: usize,
    /// Files of entities that could not be read when they were last looked at, by reason.
    pub read_failures: BTreeMap<String, usize>,
    /// The first of them by path, with the reason.
    pub unreadable: BTreeMap<String, String>,
}

/// Paths named on the page.
const NAMES_MAX: usize = 10;

impl DoctorReport {
    /// Whether no check failed; another version's ledger counts as failed.
    #[must_use]
    pub fn is_healthy(&self) -> bool {
        self.worst_health() <= CheckHealth::Warning
    }

    /// The worst result of all checks.
    #[must_use]
    pub fn worst_health(&self) -> CheckHealth {
        let all = self.checks.iter().map(|check| check.health);
        all.max().unwrap_or(CheckHealth::Ok)
    }

    /// The page.
    #[must_use]
    pub fn json_page(&self) -> Value {
        let checks: Vec<Value> = self
            .checks
            .iter()
            .map(|check| json!({ "check": check.name, "detail": check.detail, "status": check.health.as_str() }))
            .collect();
        let mut page = json!({ "checks": checks, "ok": self.is_healthy() });
        if let Some(truths) = &self.truths {
            page["entities"] = truths.entities.into();
            page["read_failures"] = json!(truths.read_failures);
            page["stale"] = truths.stale.into();
            page["unreadable"] = json!(truths.unreadable);
            page["unsaved"] = truths.unsaved.into();
            page["refused_on_disk"] = truths.refused.into();
            page["deleted"] = truths.gone.into();
        }
        if let Some(price) = &self.price {
            page["price"] = price.json_object();
        }
        page
    }

    /// The page for people.
    #[must_use]
    pub fn text_lines(&self) -> Vec<String> {
        self.checks
            .iter()
            .map(|check| {
                format!(
                    "{:<8} {:<17} {}",
                    check.health.as_str(),
                    check.name,
                    check.detail
                )
            })
            .collect()
    }

    pub(crate) fn add_check(&mut self, name: &'static str, outcome: Result<String, String>) {
        let (health, detail) = match outcome {
            Ok(detail) => (CheckHealth::Ok, detail),
            Err(detail) => (CheckHealth::Failed, detail),
        };
        self.checks.push(DoctorCheck {
            name,
            health,
            detail,
        });
    }

    /// Adds what was found in the ledger, which may be another version's.
    pub(crate) fn add_ledger_check(
        &mut self,
        name: &'static str,
        outcome: Result<String, &StartError>,
    ) {
        let is_other = outcome
            .as_ref()
            .is_err_and(|error| error.is_other_version());
        self.add_check(name, outcome.map_err(ToString::to_string));
        if let Some(check) = self.checks.last_mut()
            && is_other
        {
            check.health = CheckHealth::OtherVersion;
        }
    }

    pub(crate) fn add_warning_check(
        &mut self,
        name: &'static str,
        outcome: Result<String, String>,
    ) {
        self.add_check(name, outcome);
        if let Some(check) = self.checks.last_mut()
            && check.health == CheckHealth::Failed
        {
            check.health = CheckHealth::Warning;
        }
    }
}

/// Looks at everything.
#[must_use]
pub fn examine_all(subject: &DiagnosedSubject) -> DoctorReport {
    let mut report = DoctorReport::default();
    if let Some(reason) = subject.safe_mode_reason() {
        report.add_check("safe mode", Err(reason));
    }
    if let Some(progress) = subject.scrub.as_ref().map(SharedProgress::current) {
        report.add_check("scrub", scrub_words(progress));
    }
    match subject.readers.open() {
        Ok(reader) => examine_ledger(subject, &reader, &mut report),
        Err(error) => report.add_ledger_check("ledger", Err(&error.into())),
    }
    report.add_check("disk space", free_space(subject));
    examine_surroundings(subject, &mut report);
    report
}

/// Characters from a prompt's beginning within which no client should change anything.
const FRONT_CHARS: u64 = 4096;

/// Looks at everything but a ledger, because there is none yet.
#[must_use]
pub fn examine_without_ledger(subject: &DiagnosedSubject) -> DoctorReport {
    let mut report = DoctorReport::default();
    report.add_check(
        "ledger",
        Ok(format!(
            "none yet: `tslp serve` will make one in {}",
            subject.settings.data_dir.display()
        )),
    );
    examine_surroundings(subject, &mut report);
    report
}

/// What the user, or a breach, has stopped.
fn agents_check(reader: &LedgerReader) -> Result<String, String> {
    let halts = reader.rows::<ToolSessionRow>();
    let halts = halts.map_err(|error| error.to_string())?;
    let is_halted = |reason| halts.iter().any(|row| row.halt == Some(reason));
    if is_halted(Reason::SandboxBreach) {
        let (mode, why) = mode_and_reason(true, None);
        Err(format!("mode {mode}: {why}"))
    } else if is_halted(Reason::AgentsStopped) {
        Err("stopped by the user; `tslp resume` lets them go on".to_owned())
    } else {
        Ok("not stopped".to_owned())
    }
}

fn examine_surroundings(subject: &DiagnosedSubject, report: &mut DoctorReport) {
    report.add_check("workspace", workspace_check(subject));
    report.add_check("grammars", grammars_check());
    // Warnings: the proxy works without either, and both may come later.
    report.add_warning_check("upstream", upstream_check(subject));
    report.add_warning_check("tools", subject.tools.check_now());
}

fn examine_ledger(subject: &DiagnosedSubject, reader: &LedgerReader, report: &mut DoctorReport) {
    report.add_warning_check("agents", agents_check(reader));
    report.add_check("journal mode", expect_word("wal", reader.journal_mode()));
    report.add_check("identity", ledger_identity(reader));
    let tail = startup::verify_tail(reader);
    report.add_ledger_check(
        "events",
        tail.as_ref().map(|head| {
            format!(
                "{}, the last ones verified; `tslp verify` reads all of them, and every page",
                head.0
            )
        }),
    );
    report.add_check("head anchor", head_anchor(subject, reader));
    report.add_check("projections", anomaly_check(reader));
    match count_truths(subject, reader) {
        Ok(truths) => {
            report.add_warning_check("stale entities", stale_words(&truths));
            report.add_warning_check("file reads", failure_words(&truths));
            report.truths = Some(truths);
        }
        Err(error) => report.add_check("stale entities", Err(error.to_string())),
    }
    report.add_warning_check("paths", paths_check(reader));
    report.add_warning_check("window", window_check(reader));
    report.add_warning_check("unread code", unread::of_tracked(subject, reader));
    report.add_warning_check("cache", cache_check(reader));
    match price_sum(reader) {
        Ok(price) => {
            report.add_check("price", Ok(price.text_line()));
            report.price = Some(price);
        }
        Err(error) => report.add_check("price", Err(error.to_string())),
    }
}

pub(crate) fn integrity_check(reader: &LedgerReader) -> Result<String, String> {
    match reader.integrity_check() {
        Ok(defects) if defects.is_empty() => Ok("no defects".into()),
        Ok(defects) => Err(defects.join("; ")),
        Err(error) => Err(error.to_string()),
    }
}

/// The ledger's format and workspace, for people.
pub(crate) fn ledger_identity(reader: &LedgerReader) -> Result<String, String> {
    match reader.checked_workspace() {
        Ok(workspace) => Ok(format!(
            "format {FORMAT_VERSION}, of the workspace {}",
            workspace.display()
        )),
        Err(error) => Err(error.to_string()),
    }
}

fn scrub_words(progress: ScrubProgress) -> Result<String, String> {
    match progress {
        ScrubProgress::Pages => Ok("looking at the pages of the file".into()),
        ScrubProgress::Events { done, of } => Ok(format!("{} of {} events verified", done.0, of.0)),
        ScrubProgress::Passed { events } => {
            Ok(format!("every page and {} events are sound", events.0))
        }
        ScrubProgress::Stopped => Ok("stopped".into()),
        ScrubProgress::Failed(reason) => Err(reason),
    }
}

fn expect_word(expected: &str, found: Result<String, LedgerError>) -> Result<String, String> {
    match found {
        Ok(found) if found == expected => Ok(found),
        Ok(found) => Err(format!("{found}, not {expected}")),
        Err(error) => Err(error.to_string()),
    }
}

/// The anchor may lag behind a crash; it may never be ahead, or on another chain.
pub(crate) fn head_anchor(
    subject: &DiagnosedSubject,
    reader: &LedgerReader,
) -> Result<String, String> {
    let files = DataFiles::of(&subject.settings.data_dir);
    let anchored = anchor::read(&FileSystem, &files.anchor).map_err(|error| error.to_string())?;
    let AnchorState::Head(anchored) = anchored else {
        return Err(format!(
            "{} is missing or damaged, so the ledger's last events can't be trusted: {ADVICE}",
            files.anchor.display()
        ));
    };
    let head = reader.head().map_err(|error| error.to_string())?;
    if anchored.seq > head.seq {
        return Err(format!(
            "the anchor is at {} and the ledger ends at {}: acknowledged events were lost, as \
             when a -wal file is removed or an older copy is restored: {ADVICE}",
            anchored.seq, head.seq
        ));
    }
    let mut same = anchored.seq.0 == 0;
    let visit = &mut |stored: tslp_replay::log::Stored| {
        same = stored.seq == anchored.seq && stored.chain == anchored.chain;
        ControlFlow::Break(())
    };
    if anchored.seq.0 > 0 {
        reader
            .read(anchored.seq, visit)
            .map_err(|error| error.to_string())?;
    }
    if same {
        Ok(format!("agrees with the chain at {}", anchored.seq))
    } else {
        Err(format!(
            "the chain at {} is not the one that was anchored: {ADVICE}",
            anchored.seq
        ))
    }
}

fn anomaly_check(reader: &LedgerReader) -> Result<String, String> {
    match reader.rows::<AnomalyRow>().as_deref() {
        Ok([]) => Ok("no anomalies".into()),
        Ok(rows @ [first, ..]) => Err(format!(
            "{} events contradict the state before them, the first at {}",
            rows.len(),
            first.seq
        )),
        Err(error) => Err(error.to_string()),
    }
}

/// Which roots of clients are known, and the last edit of which no file was known.
fn paths_check(reader: &LedgerReader) -> Result<String, String> {
    let rows: Vec<PlaceRow> = reader.rows().map_err(|error| error.to_string())?;
    let is_unseen = |row: &&PlaceRow| row.place == PlaceKind::Unseen;
    if let Some(last) = rows.iter().filter(is_unseen).max_by_key(|row| row.episode) {
        return Err(user_line::not_beneath(&last.theirs, "the workspace"));
    }
    let learnt = rows.iter().filter(|row| row.place == PlaceKind::Beneath);
    let learnt = learnt.map(|row| match &*row.ours {
        "" => format!("{} is the workspace", row.theirs),
        ours => format!("{} is {ours}", row.theirs),
    });
    let learnt: Vec<String> = learnt.collect::<BTreeSet<_>>().into_iter().collect();
    Ok(match learnt.is_empty() {
        true => "clients name files as tslp does".to_owned(),
        false => learnt.join(", "),
    })
}

/// Whether prompts go on where the ones before them ended, so that the model server needn't read them again.
fn cache_check(reader: &LedgerReader) -> Result<String, String> {
    let rows = reader.rows().map_err(|error| error.to_string())?;
    let breaks = price::cache_breaks(&rows);
    let of_client = breaks.values().filter(|it| it.is_clients);
    let Some(last) = of_client.clone().next_back() else {
        return Ok(match breaks.len() {
            0 => "each prompt goes on where the one before it ended".to_owned(),
            own => format!("tslp changed {own} of the last {} prompts", rows.len()),
        });
    };
    let at_front = of_client.filter(|it| it.at < FRONT_CHARS).count();
    if at_front * 2 < rows.len() {
        return Ok(format!(
            "the last prompt that was read again: {}",
            last.text_line()
        ));
    }
    Err(format!(
        "the client changes the beginning of its prompt with most requests, so that all is read again ({}). Claude Code does so without \
         CLAUDE_CODE_ATTRIBUTION_HEADER=0, which `tslp connect claude-code` names; `window.hold_checksum` holds it still",
        last.text_line()
    ))
}

fn price_sum(reader: &LedgerReader) -> Result<PriceSum, LedgerError> {
    let rows = reader.rows()?;
    Ok(PriceSum::sum_of(
        rows.iter().filter_map(PromptPrice::of_row),
    ))
}

/// The figures of `/metrics` that come from the tables.
pub(super) fn metric_tables(
    subject: &DiagnosedSubject,
    reader: &LedgerReader,
) -> Result<TableFigures, LedgerError> {
    let truths = count_truths(subject, reader)?;
    Ok(TableFigures {
        head: reader.head()?.seq,
        entities: truths.entities,
        stale: truths.stale,
        read_anew: price_sum(reader)?.read_anew(),
    })
}

/// Counts what is true, STALE and unreadable.
fn count_truths(
    subject: &DiagnosedSubject,
    reader: &LedgerReader,
) -> Result<TruthCounts, LedgerError> {
    let files = reader.tracked_files()?;
    let mut truths = TruthCounts {
        entities: files.iter().map(|(_, entities)| *entities as usize).sum(),
        ..TruthCounts::default()
    };
    let mut failed = BTreeMap::new();
    let tracked: BTreeSet<_> = files.into_iter().map(|(path, _)| path).collect();
    // Of a larger tree the last looks on record count, since people wait for the page.
    let changed = if tracked.len() <= FILES_LOOKED_AT_MAX {
        subject.changed_on_disk(reader, &tracked)?
    } else {
        DiskChanges::default()
    };
    reader.visit_rows(&mut |row: DiskRow| {
        if let DiskFinding::Unreadable(failure) = row.finding {
            failed.insert(row.path, failure);
        }
        ControlFlow::Continue(())
    })?;
    // What was looked at just now counts in place of what is on record.
    for (path, failure) in &changed.files {
        failed.remove(path);
        if let Some(failure) = failure {
            failed.insert(path.clone(), *failure);
        }
    }
    for row in reader.rows::<StaleRow>()? {
        if !changed.files.contains_key(&row.entity.path) {
            truths.count_difference(row.disk_holds.as_str());
        }
    }
    for word in changed.entities.values() {
        truths.count_difference(word);
    }
    for (path, finding) in failed {
        // What was merely named in a directive doesn't matter to anything that is true.
        if !tracked.contains(&path) {
            continue;
        }
        let reason = finding.as_str().to_owned();
        *truths.read_failures.entry(reason.clone()).or_default() += 1;
        if truths.unreadable.len() < NAMES_MAX {
            truths.unreadable.insert(path.to_string(), reason);
        }
    }
    Ok(truths)
}

impl TruthCounts {
    fn count_difference(&mut self, word: &str) {
        match DiskDifference::ALL
            .iter()
            .find(|known| known.as_str() == word)
        {
            Some(
                DiskDifference::Superseded | DiskDifference::Unknown | DiskDifference::Contradicted,
            ) => self.stale += 1,
            Some(DiskDifference::Refused) => {
                self.stale += 1;
                self.refused += 1;
            }
            Some(DiskDifference::Unsaved) => self.unsaved += 1,
            Some(DiskDifference::Gone) => self.gone += 1,
            Some(DiskDifference::Acknowledged | DiskDifference::Unreadable) | None => {}
        }
    }
}

fn stale_words(truths: &TruthCounts) -> Result<String, String> {
    let mut words = format!("{} of {} entities are STALE", truths.stale, truths.entities);
    if truths.refused > 0 {
        words.push_str(&format!(
            ", {} of them because a file has a change of the model's that was refused (`tslp undo PATH` prints the way back, \
             `tslp confirm PATH::NAME` keeps it)",
            truths.refused
        ));
    }
    if truths.gone > 0 {
        words.push_str(&format!("; deleted on disk: {}", truths.gone));
    }
    if truths.unsaved > 0 {
        words.push_str(&format!("; accepted and not saved yet: {}", truths.unsaved));
    }
    if truths.stale == 0 {
        Ok(words)
    } else {
        Err(words)
    }
}

fn failure_words(truths: &TruthCounts) -> Result<String, String> {
    if truths.read_failures.is_empty() {
        return Ok("no failures".into());
    }
    let failures = truths
        .read_failures
        .iter()
        .map(|(reason, count)| format!("{reason}: {count}"));
    let failures = failures.collect::<Vec<_>>().join(", ");
    let named = truths
        .unreadable
        .iter()
        .map(|(path, reason)| format!("{} ({reason})", path));
    let named = named.collect::<Vec<_>>().join(", ");
    let all = truths.read_failures.values().sum::<usize>();
    debug_assert!(
        truths.unreadable.len() <= all,
        "the first of these are named"
    );
    let left = all - truths.unreadable.len();
    let more = match left {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Err(format!("{failures}; at the last look: {named}{more}"))
}

fn free_space(subject: &DiagnosedSubject) -> Result<String, String> {
    let space =
        rustix::fs::statvfs(&subject.settings.data_dir).map_err(|error| error.to_string())?;
    let free = space.f_bavail.saturating_mul(space.f_frsize);
    // Coarse on purpose: the page stays the same while other programs write their small files.
    let words = format!(
        "{} GiB free for {}",
        free >> 30,
        subject.settings.data_dir.display()
    );
    if free >= FREE_BYTES_MIN {
        Ok(words)
    } else {
        Err(format!("{words}: free some space"))
    }
}

fn workspace_check(subject: &DiagnosedSubject) -> Result<String, String> {
    match std::fs::read_dir(&subject.settings.workspace) {
        Ok(_) => Ok(format!(
            "{} can be read",
            subject.settings.workspace.display()
        )),
        Err(error) => Err(format!(
            "{} can't be read: {error}",
            subject.settings.workspace.display()
        )),
    }
}

/// Each grammar must find the one definition of a sample, and every pattern must compile.
fn grammars_check() -> Result<String, String> {
    const SAMPLES: [(&str, &str); 9] = [
        ("c", "int f(void) { return 0; }"),
        ("cpp", "struct S { int f() { return 0; } };"),
        ("python", "def f(): return 0"),
        ("javascript", "function f() { return 0; }"),
        ("typescript", "function f(): number { return 0; }"),
        ("tsx", "const f = () => <p />;"),
        ("rust", "fn f() -> u8 { 0 }"),
        ("go", "package p\nfunc f() int { return 0 }"),
        ("java", "class C { int f() { return 0; } }"),
    ];
    let grammars = TreeSitterGrammars;
    let works = |tag: &str, sample: &str| {
        let language = grammars.language_of_tag(tag)?;
        let extraction = grammars.extract(language, sample.as_bytes()).ok()?;
        (extraction.clean && !extraction.definitions.is_empty()).then_some(extraction.grammar)
    };
    let mut names = Vec::new();
    for (tag, sample) in SAMPLES {
        let grammar = works(tag, sample)
            .ok_or_else(|| format!("the grammar for {tag} doesn't read its sample"))?;
        names.push(format!("{} {}", grammar.language, grammar.version));
    }
    let languages = TreeSitterGrammars::check_patterns()
        .map_err(|error| format!("symbols.json can't be used: {error}"))?;
    let hash = grammars.patterns().to_string();
    names.push(format!(
        "patterns of {languages} languages (symbols.json {})",
        &hash[..16]
    ));
    Ok(names.join(", "))
}

/// The last prompt that was too long for its model, among so many episodes.
fn last_exceeded(
    reader: &LedgerReader,
    episodes: usize,
) -> Result<Option<WindowExceeded>, LedgerError> {
    let rows = reader.rows::<EpisodeRow>()?;
    let from = rows.iter().rev().take(episodes).map(|row| row.seq).min();
    let (kinds, end) = ([EventKind::WindowExceeded], Seq(u64::MAX));
    let mut last = None;
    reader.read_back(&kinds, from.unwrap_or(end)..=end, &mut |_, _, event| {
        if let Event::WindowExceeded(exceeded) = event {
            last = Some(exceeded);
        }
        ControlFlow::Break(())
    })?;
    Ok(last)
}

/// Whether one of the last prompts was longer than what its model reads.
fn window_check(reader: &LedgerReader) -> Result<String, String> {
    let last = last_exceeded(reader, RECENT_EPISODES_SHOWN);
    match last.map_err(|error| error.to_string())? {
        Some(exceeded) => Err(exceeded.sentence()),
        None => Ok("none of the last prompts was seen to be cut off".to_owned()),
    }
}

fn upstream_check(subject: &DiagnosedSubject) -> Result<String, String> {
    let Some(url) = &subject.upstream else {
        return Err("the demo: a scripted model, not a real one".into());
    };
    let target = ProbeTarget {
        url,
        api_key: subject.settings.upstream.api_key.as_ref(),
        ca_file: subject.settings.upstream.ca_file.as_deref(),
    };
    match probe::ask_server(&target) {
        Ok(server) => {
            let mut text = format!("{url} answers; models: {}", server.models.len());
            for (model, tokens) in &server.windows.windows {
                let model = if model.is_empty() { "each" } else { model };
                let _ = write!(text, "; {model} reads {tokens} tokens at once");
            }
            Ok(text)
        }
        Err(error) => Err(format!("{url} doesn't answer: {error}")),
    }
}
