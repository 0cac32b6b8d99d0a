//! A state as stories show it.

use tslp_core::event::{CallId, History};
use tslp_core::guardian::Decision;
use tslp_core::ids::SessionId;
use tslp_core::reason::Reason;
use tslp_core::record::RecordStanding;
use tslp_core::slice::Span;
use tslp_io::evidence::story::Steps;
use tslp_projections::anomalies::AnomalyRow;
use tslp_projections::audits::AuditRow;
use tslp_projections::disk::DiskRow;
use tslp_projections::edits::EditRow;
use tslp_projections::episodes::EpisodeRow;
use tslp_projections::file_code::TrueEntity;
use tslp_projections::guardian::{GrantRow, ToolCallRow, ToolSessionRow};
use tslp_projections::proposals::Proposal;
use tslp_projections::records::RecordRow;
use tslp_projections::row::{StoredRow, outcome_word};
use tslp_projections::rules::names_and_values;
use tslp_projections::scope::ScopeRow;
use tslp_projections::sessions::SessionRow;
use tslp_projections::sources::OutdatedRow;
use tslp_projections::stale::StaleRow;
use tslp_projections::state::State;
use tslp_projections::tombstones::TombstoneRow;
use tslp_projections::vault::VaultLocation;
use tslp_projections::work::WorkRow;

/// Each projection that isn't empty, with a line for each of its rows. Of the archives it is what isn't durable. What models used
/// isn't there: times and estimates depend on the day.
#[must_use]
pub fn sections(state: &State) -> Vec<(&'static str, Vec<String>)> {
    let mut sections = vec![
        ("vault", vault(state)),
        ("state map", state_map(state)),
        ("proposals", proposals(state)),
        (
            "tombstones",
            lines(state, |row: TombstoneRow| {
                format!("{} {} {}", row.entity, row.version, row.episode)
            }),
        ),
        ("disk", lines(state, |row: DiskRow| look_line(&row))),
        (
            "stale",
            lines(state, |row: StaleRow| {
                format!("{} {}", row.entity, row.disk_holds)
            }),
        ),
        (
            "sessions",
            lines(state, |row: SessionRow| session_line(state, &row)),
        ),
        (
            "episodes",
            lines(state, |row: EpisodeRow| episode_line(&row)),
        ),
        (
            "audits",
            lines(state, |row: AuditRow| {
                let (episode, version, status) = (row.episode, row.version, row.status.as_str());
                format!("{episode} {version} {} {status}", row.entity)
            }),
        ),
        (
            "anomalies",
            lines(state, |row: AnomalyRow| {
                format!("{} {}", row.seq, row.event)
            }),
        ),
        ("rules", rules(state)),
        ("outdated", outdated(state)),
        ("edits", edits(state)),
        ("guardian", guardian(state)),
        ("work", work(state)),
        ("scope", lines(state, |row: ScopeRow| scope_line(&row))),
        ("records", records(state)),
    ];
    sections.retain(|(_, lines)| !lines.is_empty());
    sections
}

/// All [`sections`].
#[must_use]
pub fn state_text(state: &State) -> String {
    let sections = sections(state).into_iter();
    let texts = sections.map(|(name, lines)| format!("[{name}]\n{}\n\n", lines.join("\n")));
    texts.collect()
}

/// What happened in each episode of which anything is to be said.
#[must_use]
pub fn entries_text(steps: &Steps) -> String {
    let mut text = String::new();
    let steps = steps.steps.iter();
    for (episode, step) in steps.filter(|(_, step)| !step.entries.is_empty()) {
        text += &format!("{episode}\n");
        for entry in &step.entries {
            let entity = entry.entity.as_ref();
            let entity = entity.map_or_else(String::new, |entity| format!("{entity} "));
            text += &format!("  {} {entity}{}\n", entry.told.state(), entry.reason);
        }
    }
    text
}

fn lines<R: StoredRow>(state: &State, line: impl Fn(R) -> String) -> Vec<String> {
    state.rows().into_iter().map(line).collect()
}

fn vault(state: &State) -> Vec<String> {
    let mut locations: Vec<VaultLocation> = state.rows();
    locations.sort_by_key(|location| location.seq);
    let lines = locations.iter().map(|location| {
        let (hash, kind, seq) = (location.hash, location.kind.as_str(), location.seq);
        let (start, end) = (location.start, location.end);
        let container = location.container;
        let container = container.map_or_else(String::new, |it| format!(" of {it:.8}"));
        format!("{hash:.8} {kind} {seq} {start}..{end}{container}")
    });
    lines.collect()
}

fn state_map(state: &State) -> Vec<String> {
    let span = |it: &Span| format!("{}..{}", it.start, it.end);
    let line = |truth: TrueEntity| {
        let (entity, version, slice) = (truth.entity, truth.version, truth.slice);
        let spans: Vec<String> = truth.spans.iter().map(span).collect();
        let spans = spans.join(",");
        format!("{entity} {version} {slice:.8} {} {spans}", truth.origin)
    };
    state.state_map().true_entities().map(line).collect()
}

fn proposals(state: &State) -> Vec<String> {
    let open = state.rows::<Proposal>().into_iter();
    let lines = open.filter(|row| !row.is_ended).map(|row| {
        let (version, entity, slice) = (row.version, &row.entity, row.slice);
        let reason = row.refused_for().map_or("open", Reason::code);
        format!(
            "{version} {entity} {slice:.8} {} {reason}",
            row.level.as_str()
        )
    });
    lines.collect()
}

fn look_line(row: &DiskRow) -> String {
    match row.whole() {
        Some(whole) => format!("{} {whole:.8}", row.path),
        None => format!("{} {}", row.path, row.word()),
    }
}

fn session_line(state: &State, row: &SessionRow) -> String {
    let SessionRow {
        session: id,
        state: session,
    } = row;
    let name = session.name.as_deref().unwrap_or("-");
    let messages = session.length;
    let open = session.open.as_ref().map_or("idle", |_| "open");
    let pairs = state.sessions().recent_exchanges(*id).len();
    format!("{id} {name} {messages} messages, {pairs} recent, {open}")
}

fn episode_line(row: &EpisodeRow) -> String {
    let outcome = row.outcome.map_or_else(|| "open".into(), outcome_word);
    let history = row.history.map_or("-", History::as_str);
    let read = row.measured.as_ref().map_or_else(String::new, |it| {
        let (sent, client) = (it.sent.chars_anew, it.client.chars_anew);
        format!("\n  read anew {sent}, directly {client}")
    });
    format!(
        "{} {} {} {history}{read}",
        row.episode, row.session, outcome
    )
}

fn outdated(state: &State) -> Vec<String> {
    let mut rows: Vec<OutdatedRow> = state.rows();
    rows.sort_by_key(|row| (row.seq, row.artifact));
    let lines = rows.iter();
    lines
        .map(|row| format!("{:.8} {}", row.artifact, row.seq))
        .collect()
}

fn edits(state: &State) -> Vec<String> {
    let mut rows: Vec<EditRow> = state.rows();
    rows.sort_by_key(|row| (row.seq, row.text));
    let line = |row: &EditRow| format!("{:.8} made {:.8} {}", row.text, row.artifact, row.seq);
    rows.iter().map(line).collect()
}

fn guardian(state: &State) -> Vec<String> {
    let approved = state.guardian().approved_policy();
    let policy = approved.map(|it| format!("policy {} {:.12}", it.profile, it.text));
    let grants = lines(state, |row: GrantRow| {
        let revoked = if row.revoked { " revoked" } else { "" };
        let (session, capability) = (row.session, row.capability.as_str());
        format!("{session} {capability} until {}{revoked}", row.expires_at.0)
    });
    let tallies = lines(state, |row: ToolSessionRow| {
        let halt = row.halt.map_or("runs", Reason::code);
        let (session, builds, violations) = (row.session, row.builds, row.violations);
        format!("{session} {halt}, {builds} builds, {violations} violations")
    });
    let calls = lines(state, |row: ToolCallRow| {
        let id = CallId {
            episode: row.episode,
            number: row.number,
        };
        let decision = row.decision.map_or("not judged", Decision::as_str);
        let over = if row.is_over { "over" } else { "under way" };
        format!("{id} {decision}, {over}")
    });
    let all = policy.into_iter().chain(grants).chain(tallies).chain(calls);
    all.collect()
}

/// What was counted of what replies have the client do.
fn work(state: &State) -> Vec<String> {
    let rows = state.rows::<WorkRow>().into_iter();
    let acted = rows.filter(|row| row.files + row.builds + row.tests > 0);
    let lines = acted.map(|row| {
        let (files, lines, builds, tests) = (row.files, row.lines, row.builds, row.tests);
        let session = row.session;
        format!("{session} files {files}, lines {lines}, builds {builds}, tests {tests}")
    });
    lines.collect()
}

fn rules(state: &State) -> Vec<String> {
    let named = state.rules().in_force().map(names_and_values);
    let named = named.unwrap_or_default().into_iter();
    named
        .map(|(name, value)| format!("{name}: {value}"))
        .collect()
}

fn scope_line(row: &ScopeRow) -> String {
    let session = match row.session {
        SessionId(0) => String::new(),
        session => format!(" in {session}"),
    };
    format!("{} {}{session}", row.rule, row.pattern)
}

fn records(state: &State) -> Vec<String> {
    let records = state.records();
    let kept = records.all().iter();
    let kept = kept.map(|it| format!("{} #{} [{}]", it.kind, it.key, it.author));
    let proposed = state.rows::<RecordRow>().into_iter();
    let proposed = proposed.filter(|row| row.standing == RecordStanding::Proposed);
    let proposed = proposed.filter_map(|row| records.proposed(&row.key));
    let proposed = proposed.map(|it| format!("{} #{} [proposed]", it.kind, it.key));
    kept.chain(proposed).collect()
}
