//! Events of tools: what a model asked for, what the Guardian decided, what came of it (spec §8.5). They are evidence:
//! nothing becomes true by them.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Serialize};

use crate::guardian::{Capability, Class, Decision, Denial, Door, Mode, Risk, SimpleCommand};
use crate::hash::ArtifactHash;
use crate::ids::{EpisodeId, SessionId, UnixMillis};
use crate::stored::{Archive, Load, Store, stored_words};

/// One call of a tool: the number that it has in its reply.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Archive,
    Store,
    Load,
    Serialize,
    Deserialize,
)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct CallId {
    /// The episode whose reply asks for it.
    pub episode: EpisodeId,
    /// From 1, in the order of the reply.
    pub number: u32,
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "call_{}_{}", self.episode.0, self.number)
    }
}

/// A path that symbolic links lead elsewhere.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Archive, Store, Load, Serialize, Deserialize,
)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct LinkSeen {
    /// The path, absolute and normal.
    pub path: String,
    /// Where it really leads.
    pub leads_to: String,
}

/// A reply asks for a tool.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct ActionRequested {
    /// The call.
    #[serde(flatten)]
    pub call: CallId,
    /// Who asks, and who would run it.
    pub door: Door,
    /// The round of the reply that asks for it, from 1.
    pub round: u32,
    /// The command line in the Vault, credentials redacted; where none can be read, what the model wrote.
    pub text: ArtifactHash,
    /// Why nothing can be run, whatever the rules say.
    pub flaw: Option<String>,
    /// The line's commands; none if there is a flaw.
    pub commands: Vec<SimpleCommand>,
    /// What tslp is able to do at that moment.
    pub mode: Mode,
    /// Where tools may look, in the Vault ([`crate::guardian::Jail::to_text`]).
    pub scope: ArtifactHash,
    /// The links on the way to what the line names.
    pub links: Vec<LinkSeen>,
}

/// The Guardian's decision on a call. It is durable before anything is run.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct ActionJudged {
    /// The call.
    #[serde(flatten)]
    pub call: CallId,
    /// The gravest class of its commands.
    pub class: Class,
    /// What comes of it.
    pub decision: Decision,
    /// All verdicts that deny it, command by command; every other one is met.
    pub denials: Vec<Denial>,
    /// How long it may take, if a rule says so.
    pub timeout_seconds: Option<u64>,
    /// The rule that decided.
    pub rule: Option<String>,
    /// The profile's text in the Vault; none is the built-in one.
    pub policy: Option<ArtifactHash>,
}

impl ActionJudged {
    /// The first denial of each command, which is the one that counts.
    pub fn first_denials(&self) -> impl Iterator<Item = &Denial> {
        let mut last = None;
        self.denials.iter().filter(move |denial| {
            let is_first = last != Some(denial.command);
            last = Some(denial.command);
            is_first
        })
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum ToolOutcome {
    /// The last program ended by itself, with this status.
    Exited(i32),
    /// A signal ended the last program.
    Signalled(i32),
    /// The deadline ended it.
    TimedOut,
    /// It took too much of this.
    Limit(String),
    /// Nothing was run, and why.
    NotStarted(String),
    /// It tried what only an escape would.
    Breach(String),
    /// The Operator stopped it, or the client went away.
    Stopped,
    /// The proxy itself ended first; noted when it started again.
    Interrupted,
}

impl fmt::Display for ToolOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(status) => write!(f, "exit {status}"),
            Self::Signalled(signal) => write!(f, "signal {signal}"),
            Self::TimedOut => f.write_str("timed out"),
            Self::Limit(what) => write!(f, "limit: {what}"),
            Self::NotStarted(why) => write!(f, "not started: {why}"),
            Self::Breach(what) => write!(f, "breach: {what}"),
            Self::Stopped => f.write_str("stopped"),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

/// What came of an allowed call.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct ToolRan {
    /// The call.
    #[serde(flatten)]
    pub call: CallId,
    /// How it ended.
    pub outcome: ToolOutcome,
    /// What it printed, in the Vault, credentials redacted.
    pub output: Option<ArtifactHash>,
    /// Whether a credential was in it.
    pub redacted: bool,
    /// All that it printed, also what wasn't kept.
    pub bytes: u64,
    /// How long it took.
    pub duration_ms: u64,
    /// Processor time.
    pub cpu_ms: u64,
    /// Most memory of one process.
    pub rss_bytes_max: u64,
}

/// The Operator approved a policy profile: it is in force from now on.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct PolicyApproved {
    /// What the profile calls itself.
    pub profile_id: String,
    /// Its text in the Vault; the hash names the profile.
    pub text: ArtifactHash,
}

stored_words! {
    /// What happened to a grant.
    GrantChange, "change of a grant" {
        /// It was given.
        Granted = "granted",
        /// It was prolonged.
        Renewed = "renewed",
        /// It was taken back.
        Revoked = "revoked",
    }
}

/// A grant was given, prolonged or taken back. Its end by time is no event: whoever asks compares times.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct CapabilityChanged {
    /// The session that it is for.
    pub session: SessionId,
    /// What happened.
    pub change: GrantChange,
    /// What it allows.
    pub capability: Capability,
    /// What is at stake.
    pub risk: Risk,
    /// The workspace that it is for.
    pub scope_root: ArtifactHash,
    /// When it was issued.
    pub issued_at: UnixMillis,
    /// From when on it allows nothing.
    pub expires_at: UnixMillis,
    /// How often it was prolonged.
    pub renewed_count: u32,
    /// When it was last prolonged.
    pub last_renewed_at: Option<UnixMillis>,
}
