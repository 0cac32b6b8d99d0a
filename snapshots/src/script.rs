//! The line language: one step a line, text in lines that begin with a bar.
//!
//! ```text
//! # Small losses add up.  the first lines: what the story shows
//! law 7 | RULE | REASON   which rule of the law that is (law.rs)
//! policy budget 100       before the first step: tokens of hydrated code; also `policy profile strict`,
//!                         `policy placement user`, `policy history window` or `client`, `policy audit on`, `off` or
//!                         `auto`, `policy tombstones 3`, `policy reading off`, `policy stale follow`,
//!                         `policy spec one block; deny import: os` (docs/repair.md)
//! full WHY                the golden end holds all texts that went to the model, and all tables
//! disk src/a.c            the file now holds the text that follows
//! | int f(void) { return 1; }
//! gone src/a.c            the file is deleted
//! link a.c src/a.c        the first path is a link to the second
//! locked src/a.c          the file is there and can't be read
//! client B                another window of the client is in front from here on; the first is called A
//! session NAME            the client names its session from here on
//! tools                   the client offers tools from here on; `tools elsewhere`: none of them reads files
//! touch                   unknown files that somebody names are adopted from disk from here on
//! new                     the client begins a new conversation
//! context                 a user message that the client adds before the prompt; `context system`,
//! | …                     `context assistant` and `context tool` add one of that role
//! user                    the prompt
//! | What does f() do?
//! model                   the reply; `model cut` ends it by length, `model broken` breaks it off, `model gone`
//! | …                     loses the client, `model refused` is an error of the upstream instead of a reply,
//!                         `model pieces` is recorded line by line while it comes
//! call edit               a tool call that the next reply makes, with the arguments that follow
//! | {"path": "src/a.c"}
//! thought                 what the next reply's client sends back as the model's thoughts
//! | Hm.
//! audit                   the model's answer to the oldest audit that awaits one; `audit cancelled` and
//! | {"entity": …}         `audit failed` end it without
//! back 2                  the client forgets its last two messages: an edited or regenerated turn
//! shorten 3               the client's message before its last two says something else from here on
//! | Outdated.
//! import SOURCE           another model's answer, brought from outside of the conversation; of `mcp` only
//! | …                     records are read
//! later 72                so many hours pass; with a minus the clock is put back
//! again                   the client sends its conversation as it is
//! retry                   the same, marked as a retry
//! command accept src/a.c  a directive that the user gives in a terminal
//! ```
//!
//! Empty lines and other lines that begin with `#` are ignored.

use tslp_core::code_spec::CodeSpec;
use tslp_core::directive::Directive;
use tslp_core::event::{AuditOutcome, Verb};
use tslp_core::gate::GateProfile;
use tslp_core::message::{Role, Tools};
use tslp_core::policy::{AuditChoice, HistoryChoice, OnStale, Placement, Policy, Repair};

use crate::law::Law;
use crate::verdicts::Detail;

/// A story.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// What it shows.
    pub about: String,
    /// The rules of the law that it shows.
    pub laws: Vec<Law>,
    /// The configured policy.
    pub policy: Policy,
    /// The detail of its golden end.
    pub detail: Detail,
    /// Its steps, in order.
    pub steps: Vec<Step>,
}

/// One step of a story.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A file's content changes.
    Disk {
        /// Relative to the workspace.
        path: String,
        /// Its new text.
        text: String,
    },
    /// A file is deleted.
    Gone(String),
    /// A path is a link to another one of the workspace.
    Link {
        /// The link.
        path: String,
        /// What it leads to.
        target: String,
    },
    /// A file can't be read any more.
    Locked(String),
    /// Another window of the client is in front.
    Client(String),
    /// The client names its session.
    Session(String),
    /// The client offers tools.
    Tools(Tools),
    /// Unknown files that somebody names are adopted from disk from now on.
    Touch,
    /// A new conversation begins.
    New,
    /// A message that the client adds on its own.
    Context {
        /// Its role.
        role: Role,
        /// Its text.
        text: String,
    },
    /// The user's prompt.
    User(String),
    /// The model's reply.
    Model {
        /// Its text.
        text: String,
        /// Its end.
        ending: Ending,
    },
    /// A tool call of the reply that follows.
    Call {
        /// The tool's name.
        name: String,
        /// Its arguments.
        arguments: String,
    },
    /// A thought of the model before the reply that follows.
    Thought(String),
    /// The oldest audit without an answer ends.
    Audit {
        /// Its outcome.
        outcome: AuditOutcome,
        /// The model's answer.
        answer: String,
    },
    /// The client forgets its last messages.
    Back(usize),
    /// The client replaces the text of an older message.
    Shorten {
        /// Which, counted from the last one, which is 1.
        from_end: usize,
        /// Its new text.
        text: String,
    },
    /// Another model's answer is brought from outside of the conversation.
    Import {
        /// Whose it is.
        source: String,
        /// The answer.
        text: String,
    },
    /// So many hours pass; the clock may also be put back.
    Later(i64),
    /// The client sends its conversation as it is.
    Again,
    /// The client sends its conversation as it is, marked as a retry.
    Retry,
    /// A directive on the command line.
    Command(Directive),
}

/// The end of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Complete.
    Whole,
    /// Complete, recorded line by line.
    Pieces,
    /// Cut by the length limit.
    Cut,
    /// The connection broke.
    Broken,
    /// The client went away.
    ClientGone,
    /// The upstream answered with an error.
    Refused,
}

/// Reads a story.
///
/// # Panics
/// When a line is no step.
#[must_use]
pub fn parse(story: &str) -> Script {
    let mut script = Script::default();
    // A carriage return at a line's end is the text's own.
    let mut lines = story.split('\n').map(str::trim_start).peekable();
    while let Some(line) = lines.next_if(|line| line.starts_with("# ")) {
        let gap = if script.about.is_empty() { "" } else { " " };
        script.about += gap;
        script.about += line[2..].trim();
    }
    while let Some(line) = lines.next() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(law) = Law::parse(line) {
            script.laws.push(law);
            continue;
        }
        if let Some(setting) = line.strip_prefix("policy ") {
            assert!(
                script.steps.is_empty(),
                "a policy comes before all steps: {line}"
            );
            set_policy(&mut script.policy, setting);
            continue;
        }
        if line.starts_with("full ") {
            script.detail = Detail::Everything;
            continue;
        }
        let mut text = String::new();
        while let Some(part) = lines.next_if(|line| line.starts_with('|')) {
            text.push_str(
                part.strip_prefix("| ")
                    .or(part.strip_prefix('|'))
                    .unwrap_or(part),
            );
            text.push('\n');
        }
        script.steps.push(parse_step(line, text));
    }
    script
}

fn set_policy(policy: &mut Policy, setting: &str) {
    match setting.split_once(' ') {
        Some(("budget", tokens)) => {
            policy.budget_tokens = tokens
                .parse()
                .unwrap_or_else(|_| panic!("no number: {tokens}"));
        }
        Some(("tombstones", episodes)) => {
            policy.tombstone_episodes = episodes
                .parse()
                .unwrap_or_else(|_| panic!("no number: {episodes}"));
        }
        Some(("profile", "strict")) => policy.profile = GateProfile::Strict,
        Some(("placement", "user")) => policy.placement = Placement::User,
        Some(("history", "window")) => policy.history = HistoryChoice::Window,
        Some(("history", "client")) => policy.history = HistoryChoice::Client,
        Some(("audit", "on")) => policy.audit = AuditChoice::On,
        Some(("audit", "off")) => policy.audit = AuditChoice::Off,
        Some(("audit", "auto")) => policy.audit = AuditChoice::Auto,
        Some(("repair", "off")) => policy.repair = Repair::Off,
        Some(("spec", rules)) => {
            let rules = rules.replace("; ", "\n- ");
            policy.code_spec = CodeSpec::parse(&format!("- {rules}")).expect("a spec's rules");
        }
        Some(("stale", "follow")) => policy.on_stale = OnStale::Follow,
        _ => panic!("no such policy: {setting}"),
    }
}

fn parse_step(line: &str, text: String) -> Step {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    match (word, rest) {
        ("disk", path) => Step::Disk {
            path: path.into(),
            text,
        },
        ("gone", path) => Step::Gone(path.into()),
        ("link", paths) => {
            let (path, target) = paths.split_once(' ').expect("a link and its target");
            Step::Link {
                path: path.into(),
                target: target.into(),
            }
        }
        ("locked", path) => Step::Locked(path.into()),
        ("client", name) => Step::Client(name.into()),
        ("session", name) => Step::Session(name.into()),
        ("tools", "") => Step::Tools(Tools::Reading),
        ("tools", "elsewhere") => Step::Tools(Tools::Offered),
        ("touch", "") => Step::Touch,
        ("new", "") => Step::New,
        ("context", role) => Step::Context {
            role: parse_role(role),
            text,
        },
        ("user", "") => Step::User(text),
        ("model", ending) => Step::Model {
            text,
            ending: parse_ending(ending),
        },
        ("call", name) => Step::Call {
            name: name.into(),
            arguments: text,
        },
        ("thought", "") => Step::Thought(text),
        ("audit", outcome) => Step::Audit {
            outcome: match outcome {
                "" => AuditOutcome::Answered,
                "cancelled" => AuditOutcome::Cancelled,
                "failed" => AuditOutcome::Failed,
                other => panic!("an audit can't end so: {other}"),
            },
            answer: text,
        },
        ("back", count) => Step::Back(
            count
                .parse()
                .unwrap_or_else(|_| panic!("no number: {line}")),
        ),
        ("shorten", from_end) => Step::Shorten {
            from_end: from_end
                .parse()
                .unwrap_or_else(|_| panic!("no number: {line}")),
            text,
        },
        ("import", source) => Step::Import {
            source: source.into(),
            text,
        },
        ("later", hours) => Step::Later(
            hours
                .parse()
                .unwrap_or_else(|_| panic!("no number: {line}")),
        ),
        ("again", "") => Step::Again,
        ("retry", "") => Step::Retry,
        ("command", directive) => Step::Command(parse_directive(directive)),
        _ => panic!("no such step: {line}"),
    }
}

fn parse_directive(line: &str) -> Directive {
    let (verb, target) = line.split_once(' ').unwrap_or((line, ""));
    Directive {
        verb: Verb::of_word(verb).unwrap_or_else(|| panic!("no such directive: {line}")),
        target: target.into(),
    }
}

fn parse_role(word: &str) -> Role {
    match word {
        "" => Role::User,
        "system" => Role::System,
        "assistant" => Role::Assistant,
        "tool" => Role::Tool,
        other => panic!("nobody speaks as {other}"),
    }
}

fn parse_ending(word: &str) -> Ending {
    match word {
        "" => Ending::Whole,
        "pieces" => Ending::Pieces,
        "cut" => Ending::Cut,
        "broken" => Ending::Broken,
        "gone" => Ending::ClientGone,
        "refused" => Ending::Refused,
        other => panic!("a reply can't end so: {other}"),
    }
}
