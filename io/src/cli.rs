//! The command line: commands, flags made from the table of keys, help with exit codes, shell completions, man pages.

mod evidence;
mod tool;

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::PathBuf;

use clap::builder::{NonEmptyStringValueParser, PossibleValuesParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{
    Arg, ArgAction, ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand, ValueHint,
};
use clap_complete::Shell;
use tslp_core::record;

pub use self::evidence::LogArgs;
pub use self::tool::{
    CommandArgs, GrantArgs, GuardianCommand, LockArgs, PatternArgs, PolicyCommand, PreviewArgs,
    RecordArgs, ReplyCommand, TargetArgs, ToolArgs, ToolCommand, ToolLine,
};
use crate::config::key::{ConfigKey, FlagAudience, ValueKind};
use crate::config::layers::WrittenFlags;
use crate::config::table::KEYS;
use crate::connect;
use crate::exit::Exit;
use crate::out::Out;

/// A command of the command line.
#[derive(Clone, Debug, Subcommand)]
pub enum CliCommand {
    /// Run the proxy (what `tslp` does without a command)
    Serve {
        /// How it is run.
        #[command(flatten)]
        manner: ServeManner,
        /// The configuration's flags.
        #[command(flatten)]
        flags: ConfigFlags,
    },
    /// Show what the proxy does, in a temporary workspace
    Demo(LogFlags),
    /// Open the page of the running proxy in a browser: what is true, what was refused and why, what the model saw
    Open(ConfigFlags),
    /// Check the ledger, the disk, the grammars and the model server
    Doctor(CommandArgs),
    /// List all true code: each entity, its hash, and what its file held when it was last read
    State {
        /// Show only this file or folder, and list its code that can't be read
        path: Option<String>,
        /// Look at the page's files now, without recording it
        #[arg(long)]
        check: bool,
        /// Show what was true after this event of the ledger (`tslp log` numbers them), after an episode (`e7`), at the last `clear`, or when a statement was kept (`'#key'`)
        #[arg(long, value_name = "SEQ|LABEL", conflicts_with = "check", value_parser = parse_moment)]
        at: Option<Moment>,
        /// Go on behind this one, where a page ended
        #[arg(long, value_name = "PATH::SYMBOL")]
        after: Option<String>,
        /// Show at most N entities; a page has at most 2000
        #[arg(long, value_name = "N")]
        limit: Option<usize>,
        /// As most commands.
        #[command(flatten)]
        common: CommandArgs,
    },
    /// Show what happened last: episodes, their artifacts and the reasons
    Recent {
        /// Show at most N episodes, instead of 20
        #[arg(long, value_name = "N")]
        limit: Option<usize>,
        /// As most commands.
        #[command(flatten)]
        common: CommandArgs,
    },
    /// Show what is going on: what was asked last, what is in flight, how the last build and test run ended
    Status(CommandArgs),
    /// Print the working memory as spec 003 has it in NOTES.md; nothing is written
    Notes {
        /// The form
        #[arg(long, value_name = "FORM", value_parser = ["notes-md"], default_value = "notes-md")]
        format: String,
        /// The configuration's flags.
        #[command(flatten)]
        flags: ConfigFlags,
    },
    /// Print one line for a client's status line: what is true, what is STALE, how full the context is
    Statusline(ConfigFlags),
    /// Say what the work is for: new conversations are told until it is done
    Goal(GoalArgs),
    /// Clear a conversation: from its next prompt on, older messages go to no model
    Clear(ClearArgs),
    /// Show what models read and wrote: by day, model and conversation, with its cost where `price` is set
    Usage {
        /// Show the last N days on which anything was used
        #[arg(long, value_name = "N", default_value_t = 7)]
        days: usize,
        /// As most commands.
        #[command(flatten)]
        common: CommandArgs,
    },
    /// Print the ledger's events, one per line: the last 50 unless --limit says otherwise
    Log {
        /// The filter and the format.
        #[command(flatten)]
        log: LogArgs,
        /// As most commands.
        #[command(flatten)]
        common: CommandArgs,
    },
    /// Print the events that made one entity what it is, each refusal with its rule, and what is true of it now
    Why {
        /// `src/a.c::name`, `src/a.c`, a bare name that only one entity has, or the first digits of an artifact
        #[arg(value_name = "ENTITY")]
        entity: String,
        /// As most commands.
        #[command(flatten)]
        common: CommandArgs,
    },
    /// Print what was sent to the model in an episode: the request body, byte for byte, with credentials redacted
    ShowPrompt {
        /// The episode: `7`, or `e7` as in the header `x-tslp-episode`
        #[arg(value_name = "EPISODE", value_parser = episode_number)]
        episode: u64,
        /// The configuration's flags.
        #[command(flatten)]
        flags: ConfigFlags,
    },
    /// Copy the ledger, also while a proxy runs, event by event and verified; of a damaged one what is valid
    Copy {
        /// The copy's data directory: a folder outside of the workspace that doesn't exist yet, or is empty
        #[arg(value_name = "DIR", value_hint = ValueHint::DirPath, required_unless_present = "from")]
        to: Option<PathBuf>,
        /// Copy from this data directory, or from lines of `tslp log --json` (`-`: standard input), to where this workspace's ledger is kept
        #[arg(long, value_name = "DIR", value_hint = ValueHint::AnyPath, conflicts_with = "to")]
        from: Option<PathBuf>,
        /// The configuration's flags.
        #[command(flatten)]
        flags: ConfigFlags,
    },
    /// Show every setting in force and where it comes from
    Config(CommandArgs),
    /// Answer a hook of Claude Code or Codex, JSON in and out: judge a tool's call, tell a new conversation what is unfinished, ask for decisions before they are lost
    Hook(ConfigFlags),
    /// Serve what is going on to a client over MCP, on standard input and output
    Mcp(ConfigFlags),
    /// Set up the hooks of a client
    #[command(subcommand)]
    Hooks(HooksCommand),
    /// Accept what the workspace's files hold as true, as if you had pasted it
    Accept(TargetArgs),
    /// Make the model's version of a definition true, which was refused or waits for you
    Confirm(TargetArgs),
    /// Drop the model's version of a definition, which was refused or waits for you
    Reject(TargetArgs),
    /// Keep files from every model, also in what clients send, as far as they can be recognised (docs/scope.md)
    Off(PatternArgs),
    /// Let models see files again that are off
    On(PatternArgs),
    /// Show models these files whole and nothing else, and refuse changes of others
    Lock(LockArgs),
    /// Take locks away: of these files, or all
    Unlock(LockArgs),
    /// Keep a statement for the project: `tslp note fact '#key: STATEMENT'` (docs/records.md)
    Note(RecordArgs),
    /// Keep a statement no longer: `tslp forget '#key'`
    Forget(RecordArgs),
    /// List the statements that are kept for the project
    Records(CommandArgs),
    /// List the files that are off, and those that are locked
    Scope(CommandArgs),
    /// Show what would go to the model, and why, without sending or recording anything
    Preview(PreviewArgs),
    /// Bring another model's answer
    #[command(subcommand)]
    Reply(ReplyCommand),
    /// Grant the model's tools a capability for some minutes
    Allow(GrantArgs),
    /// Take back what was granted
    Revoke(GrantArgs),
    /// End all agents' replies and the model's tools, and refuse requests until `tslp resume`
    Stop(CommandArgs),
    /// Let agents and the model's tools go on, also after a halt, with their budgets anew
    Resume {
        /// Lift a breach of the sandbox, too; in a terminal only
        #[arg(long)]
        breach: bool,
        /// As most commands.
        #[command(flatten)]
        common: CommandArgs,
    },
    /// Accept a whole tree of files as true, as if you had pasted each; can be interrupted and repeated
    Adopt {
        /// Folders and files, from here or from the workspace's root; folders as git sees them: without ignored and hidden files
        #[arg(required = true, value_name = "PATH", value_hint = ValueHint::AnyPath, value_parser = NonEmptyStringValueParser::new())]
        paths: Vec<String>,
        /// Make every decision, but record nothing
        #[arg(long)]
        dry_run: bool,
        /// As most commands.
        #[command(flatten)]
        common: CommandArgs,
    },
    /// Verify the ledger: chain, anchor, every event, and each table against a fresh fold of all events
    Verify {
        /// Make every decision again with the current grammars, rules and settings, and list what differs, with its cause
        #[arg(long)]
        deep: bool,
        /// As most commands.
        #[command(flatten)]
        common: CommandArgs,
    },
    /// Rebuild every table from the ledger
    Rebuild(ConfigFlags),
    /// Print how to point a client at the proxy, with the address and token in force; for all clients if none is named
    Connect {
        /// The client
        #[arg(value_name = "CLIENT", value_parser = PossibleValuesParser::new(connect::client_names()))]
        client: Option<String>,
        /// The configuration's flags.
        #[command(flatten)]
        flags: ConfigFlags,
    },
    /// Run a client through the proxy of this workspace, which is started if none runs: `tslp run claude`, `tslp run aider a.c`
    Run {
        /// The configuration's flags.
        #[command(flatten)]
        flags: ConfigFlags,
        /// The client, and its own arguments
        #[arg(
            required = true,
            trailing_var_arg = true,
            allow_hyphen_values = true,
            value_name = "CLIENT [ARGS]"
        )]
        client: Vec<OsString>,
    },
    /// Print a patch that takes files back to what was true before the model changed them; nothing is written
    Undo {
        /// What to take back.
        #[command(flatten)]
        undo: UndoArgs,
        /// The configuration's flags.
        #[command(flatten)]
        flags: ConfigFlags,
    },
    /// Judge command lines as a model's are judged, and run them in the sandbox (docs/tools.md)
    #[command(subcommand)]
    Tool(ToolCommand),
    /// Read and approve policy profiles, by which tools are judged
    #[command(subcommand)]
    Policy(PolicyCommand),
    /// Show the Guardian, which judges tools: its mode, profile, grants and halts
    #[command(subcommand)]
    Guardian(GuardianCommand),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print a man page: of tslp, or of one of its commands
    Man {
        /// The command
        #[arg(value_name = "COMMAND")]
        command: Option<String>,
    },
}

/// What `tslp goal` takes.
#[derive(Clone, Debug, clap::Args)]
pub struct GoalArgs {
    /// The goal, `next: TEXT`, `question: TEXT`, `budget: BUDGET`, or `done`
    #[arg(required = true, value_name = "TEXT")]
    pub words: Vec<String>,
    /// As most commands.
    #[command(flatten)]
    pub common: CommandArgs,
}

/// A moment of the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Moment {
    /// After this event.
    Event(u64),
    /// After the last event of this episode.
    Episode(u64),
    /// When a conversation was cleared last.
    Clear,
    /// When the statement of this key was noted last.
    Record(String),
}

fn parse_moment(written: &str) -> Result<Moment, String> {
    let number = |digits: &str| digits.parse().ok().filter(|number| *number > 0);
    let moment = match written.strip_prefix('e') {
        _ if written == "clear" => Some(Moment::Clear),
        _ if written.starts_with('#') => record::parse_key(written).map(Moment::Record),
        Some(episode) => number(episode).map(Moment::Episode),
        None => number(written).map(Moment::Event),
    };
    moment.ok_or_else(|| {
        "say an event's number, an episode such as `e7`, `clear`, or a record's `#key`".to_owned()
    })
}

/// What `tslp clear` takes.
#[derive(Clone, Debug, clap::Args)]
pub struct ClearArgs {
    /// Clear the conversation N of `tslp recent`, instead of the last one
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub session: Option<u64>,
    /// Clear it though decisions lack evidence
    #[arg(long)]
    pub force: bool,
    /// As most commands.
    #[command(flatten)]
    pub common: CommandArgs,
}

/// What `tslp hooks` does.
#[derive(Clone, Debug, Subcommand)]
pub enum HooksCommand {
    /// Print the settings by which a client asks tslp, and where they go
    Print {
        /// The client
        client: HookClient,
    },
}

/// A client with hooks that tslp answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum HookClient {
    /// Claude Code
    ClaudeCode,
    /// Codex
    Codex,
}

/// How a proxy is run.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct ServeManner {
    /// Print no line for each reply
    #[arg(short, long)]
    pub quiet: bool,
    /// End when no client holds it any more
    #[arg(long, hide = true)]
    pub until_unused: bool,
    /// Go on without this process
    #[arg(long, hide = true)]
    pub background: bool,
}

/// What is to be taken back; the last reply by default.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct UndoArgs {
    /// What the last reply with code for this file has changed in it
    #[arg(value_name = "PATH", value_hint = ValueHint::FilePath, conflicts_with_all = ["last_reply", "episode"])]
    pub path: Option<String>,
    /// What the last reply with code has changed (the default)
    #[arg(long, conflicts_with = "episode")]
    pub last_reply: bool,
    /// What this episode's reply and all later ones have changed
    #[arg(long, value_name = "N", value_parser = episode_number)]
    pub episode: Option<u64>,
}

/// Flags of a command that works on a workspace.
#[derive(Clone, Debug, Default)]
pub struct ConfigFlags(pub WrittenFlags);

/// Flags of a command that brings its own workspace.
#[derive(Clone, Debug, Default)]
pub struct LogFlags(pub WrittenFlags);

/// For whom a command prints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutputFormat {
    /// For people.
    #[default]
    Human,
    /// For programs.
    Json,
}

#[derive(Parser)]
#[command(
    name = "tslp",
    version,
    about = "A proxy between a coding client and a model that enforces what is true of your code",
    after_help = exit_codes(),
    args_conflicts_with_subcommands = true,
    subcommand_precedence_over_arg = true
)]
struct CommandLine {
    #[command(subcommand)]
    command: Option<CliCommand>,
    #[command(flatten)]
    manner: ServeManner,
    #[command(flatten)]
    flags: ConfigFlags,
}

/// Reads the command line; its first item is the program's own name.
///
/// # Errors
/// If it is wrong, or asks for help or the version: [`print_refusal`] prints either.
pub fn parse_command(line: impl IntoIterator<Item = OsString>) -> Result<CliCommand, clap::Error> {
    let line = CommandLine::try_parse_from(line)?;
    let CommandLine {
        command,
        manner,
        flags,
    } = line;
    Ok(command.unwrap_or(CliCommand::Serve { manner, flags }))
}

/// An episode as people write it.
fn episode_number(written: &str) -> Result<u64, String> {
    let number = written.strip_prefix('e').unwrap_or(written);
    number
        .parse()
        .map_err(|_| "an episode is a number, such as 7 or e7".to_owned())
}

/// Prints why [`parse_command`] gave no command: the mistake on standard error, or the help on standard output.
#[must_use]
pub fn print_refusal(error: &clap::Error) -> Exit {
    let printed = error.print();
    if let (ErrorKind::ArgumentConflict, Some(ContextValue::String(command))) =
        (error.kind(), error.get(ContextKind::InvalidSubcommand))
    {
        // Whoever sees no error sees no advice.
        let _ = writeln!(
            io::stderr(),
            "Settings stand behind the command, as in `tslp {command} --config FILE`."
        );
    }
    match (error.use_stderr(), printed) {
        (true, _) => Exit::Usage,
        (false, Ok(())) => Exit::Ok,
        (false, Err(error)) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Ok,
        (false, Err(_)) => Exit::Failure,
    }
}

/// Prints the completion script for `shell`.
///
/// # Errors
/// If standard output can't be written to.
pub fn print_completions<W: io::Write>(shell: Shell, out: &mut Out<W>) -> io::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut CommandLine::command(), "tslp", &mut script);
    out.verbatim(String::from_utf8_lossy(&script))
}

/// Prints the man page of the program or of one command.
///
/// # Errors
/// If there is no such command, or standard output can't be written to.
pub fn print_man_page<W: io::Write>(command: Option<&str>, out: &mut Out<W>) -> io::Result<()> {
    let mut line = CommandLine::command();
    line.build();
    let page = match command {
        None => line,
        Some(name) => {
            let found = line.find_subcommand(name).cloned();
            found.ok_or_else(|| {
                let problem = format!("tslp has no command {name}; `tslp --help` lists them");
                io::Error::new(io::ErrorKind::NotFound, problem)
            })?
        }
    };
    let mut roff = Vec::new();
    clap_mangen::Man::new(page).render(&mut roff)?;
    out.verbatim(String::from_utf8_lossy(&roff))
}

fn exit_codes() -> String {
    let mut text = String::from("Exit codes:\n");
    for exit in Exit::ALL {
        let _ = writeln!(text, "  {}  {}", exit.code(), exit.meaning());
    }
    text
}

/// Arguments that no derive describes: how they are declared, and what they are read as.
macro_rules! arguments {
    ($type:ident, |$command:ident| $declared:expr, |$matches:ident| $read:expr) => {
        impl clap::Args for $type {
            fn augment_args($command: clap::Command) -> clap::Command {
                $declared
            }

            fn augment_args_for_update(command: clap::Command) -> clap::Command {
                Self::augment_args(command)
            }
        }

        impl FromArgMatches for $type {
            fn from_arg_matches($matches: &ArgMatches) -> Result<Self, clap::Error> {
                Ok($read)
            }

            fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
                *self = Self::from_arg_matches(matches)?;
                Ok(())
            }
        }
    };
}

arguments!(
    ConfigFlags,
    |command| {
        let file = Arg::new("config")
            .long("config")
            .value_name("FILE")
            .value_parser(clap::value_parser!(PathBuf))
            .value_hint(ValueHint::FilePath)
            .help("The configuration file [default: tslp/config.toml in the user's configuration folder, if there is one]")
            .help_heading(HEADING);
        command.args(KEYS.iter().map(config_flag)).arg(file)
    },
    |matches| {
        let file = matches.get_one::<PathBuf>("config").cloned();
        Self(written_flags(file, KEYS.iter(), matches))
    }
);

arguments!(
    LogFlags,
    |command| command.args(log_keys().map(config_flag)),
    |matches| Self(written_flags(None, log_keys(), matches))
);

arguments!(
    OutputFormat,
    |command| {
        let json = Arg::new("json").long("json");
        command.arg(json.action(ArgAction::SetTrue).help("Print JSON"))
    },
    |matches| match matches.get_flag("json") {
        true => Self::Json,
        false => Self::Human,
    }
);

fn written_flags(
    file: Option<PathBuf>,
    keys: impl Iterator<Item = &'static ConfigKey>,
    matches: &ArgMatches,
) -> WrittenFlags {
    let written = keys.filter_map(|key| written_value(key, matches));
    WrittenFlags {
        file,
        written: written.collect(),
    }
}

/// The help's heading over the flags of settings.
const HEADING: &str = "Settings (also in the configuration file and the environment)";

fn log_keys() -> impl Iterator<Item = &'static ConfigKey> {
    KEYS.iter()
        .filter(|key| key.audience == FlagAudience::Everyone)
}

fn config_flag(key: &'static ConfigKey) -> Arg {
    let arg = Arg::new(key.name)
        .long(key.flag)
        .help(flag_help(key))
        .help_heading(HEADING)
        .hide_short_help(key.audience == FlagAudience::Tuning);
    match key.kind {
        ValueKind::Switch => arg
            .value_name("true|false")
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true"),
        ValueKind::Choice(words) => arg
            .value_name("WORD")
            .value_parser(PossibleValuesParser::new(words)),
        ValueKind::Text(name) => arg.value_name(name),
        ValueKind::List(name) | ValueKind::Servers(name) => {
            arg.value_name(name).action(ArgAction::Append)
        }
        ValueKind::Secret => arg.value_name("SECRET"),
        ValueKind::Folder => arg.value_name("DIR").value_hint(ValueHint::DirPath),
        ValueKind::File => arg.value_name("FILE").value_hint(ValueHint::FilePath),
        ValueKind::Number => arg.value_name("N"),
        ValueKind::NumberOrWord => arg.value_name("N|auto"),
    }
}

fn flag_help(key: &ConfigKey) -> String {
    let default = key.default_shown();
    format!("{} [{}] [default: {default}]", key.meaning, key.variable)
}

/// The command line's texts for a key, if any.
fn written_value(
    key: &'static ConfigKey,
    matches: &ArgMatches,
) -> Option<(&'static ConfigKey, Vec<String>)> {
    // Only what was written: what clap fills in must not override the file and the environment.
    let from_line = matches.value_source(key.name) == Some(ValueSource::CommandLine);
    let texts = matches.get_many::<String>(key.name)?.cloned().collect();
    from_line.then_some((key, texts))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The command that a line gives, with the flags of settings it wrote, or the kind of the refusal.
    fn check(line: &str, expected: &str) {
        let words = std::iter::once("tslp").chain(line.split_whitespace());
        let shown = match parse_command(words.map(OsString::from)) {
            Ok(command) => show(&command),
            Err(error) => format!("{:?}", error.kind()),
        };
        assert_eq!(shown, expected, "{line}");
    }

    fn show(command: &CliCommand) -> String {
        let with = |name: &str, flags: &WrittenFlags, output: Option<OutputFormat>| {
            let mut text = name.to_owned();
            for (key, texts) in &flags.written {
                let _ = write!(text, " {}={}", key.name, texts.join("+"));
            }
            if let Some(file) = &flags.file {
                let _ = write!(text, " file={}", file.display());
            }
            if output == Some(OutputFormat::Json) {
                text.push_str(" json");
            }
            text
        };
        let act = |name: &str, of: &CommandArgs| with(name, &of.flags.0, Some(of.output));
        let tool = |name: &str, args: &ToolArgs| {
            let (allow, line) = (args.line.allow.join("+"), args.line.line.join("+"));
            let name = format!("tool {name} {allow}: {line}");
            act(&name, &args.common)
        };
        let on = |name: &str, on: &TargetArgs| {
            act(&format!("{name} {}", on.targets.join("+")), &on.common)
        };
        let lock = |name: &str, of: &LockArgs| {
            let name = format!("{name} {} {:?}", of.paths.join("+"), of.session);
            act(&name, &of.common)
        };
        let grant = |name: &str, of: &GrantArgs| {
            let name = format!("{name} {} {:?}", of.grant.join(" "), of.session);
            act(&name, &of.common)
        };
        match command {
            CliCommand::Serve { manner, flags } => {
                let quiet = if manner.quiet { " quiet" } else { "" };
                with(&format!("serve{quiet}"), &flags.0, None)
            }
            CliCommand::Demo(flags) => with("demo", &flags.0, None),
            CliCommand::Open(flags) => with("open", &flags.0, None),
            CliCommand::Doctor(of) => act("doctor", of),
            CliCommand::State {
                path: _,
                check,
                at: _,
                after: _,
                limit: _,
                common: of,
            } => act(if *check { "state check" } else { "state" }, of),
            CliCommand::Recent { limit, common: of } => act(&format!("recent {limit:?}"), of),
            CliCommand::Usage { days, common: of } => act(&format!("usage {days}"), of),
            CliCommand::Log { log, common: of } => {
                let follow = if log.follow { " follow" } else { "" };
                let name = format!("log {}{follow}", log.limit);
                act(&name, of)
            }
            CliCommand::Why { entity, common: of } => act(&format!("why {entity}"), of),
            CliCommand::ShowPrompt { episode, flags } => {
                with(&format!("show-prompt {episode}"), &flags.0, None)
            }
            CliCommand::Copy { to, from, flags } => {
                with(&format!("copy {to:?} {from:?}"), &flags.0, None)
            }
            CliCommand::Config(of) => act("config", of),
            CliCommand::Hook(flags) => with("hook", &flags.0, None),
            CliCommand::Notes { format, flags } => with(&format!("notes {format}"), &flags.0, None),
            CliCommand::Statusline(flags) => with("statusline", &flags.0, None),
            CliCommand::Mcp(flags) => with("mcp", &flags.0, None),
            CliCommand::Hooks(HooksCommand::Print { client }) => {
                format!("hooks print {client:?}")
            }
            CliCommand::Status(args) => act("status", args),
            CliCommand::Goal(args) => act(&format!("goal {}", args.words.join(" ")), &args.common),
            CliCommand::Clear(ClearArgs {
                session,
                force,
                common: args,
            }) => act(&format!("clear {session:?} {force}"), args),
            CliCommand::Accept(args) => on("accept", args),
            CliCommand::Confirm(args) => on("confirm", args),
            CliCommand::Reject(args) => on("reject", args),
            CliCommand::Note(args) => act(&format!("note {}", args.words.join("+")), &args.common),
            CliCommand::Forget(args) => {
                act(&format!("forget {}", args.words.join("+")), &args.common)
            }
            CliCommand::Records(args) => act("records", args),
            CliCommand::Off(args) => act(&format!("off {}", args.patterns.join("+")), &args.common),
            CliCommand::On(args) => act(&format!("on {}", args.patterns.join("+")), &args.common),
            CliCommand::Lock(args) => lock("lock", args),
            CliCommand::Unlock(args) => lock("unlock", args),
            CliCommand::Scope(args) => act("scope", args),
            CliCommand::Preview(args) => {
                let request = args.request.as_ref().map(|file| file.display().to_string());
                let name = format!(
                    "preview {:?} {request:?} {:?} {:?}",
                    args.prompt, args.route, args.session
                );
                act(&name, &args.common)
            }
            CliCommand::Reply(ReplyCommand::Import {
                file,
                source,
                common: args,
            }) => act(&format!("reply import {} {source}", file.display()), args),
            CliCommand::Allow(args) => grant("allow", args),
            CliCommand::Revoke(args) => grant("revoke", args),
            CliCommand::Stop(args) => act("stop", args),
            CliCommand::Resume {
                breach,
                common: args,
            } => act(if *breach { "resume breach" } else { "resume" }, args),
            CliCommand::Adopt {
                paths,
                dry_run,
                common: of,
            } => {
                let dry = if *dry_run { " dry" } else { "" };
                let name = format!("adopt {}{dry}", paths.join("+"));
                act(&name, of)
            }
            CliCommand::Verify { deep, common: of } => {
                let deep = if *deep { " deep" } else { "" };
                act(&format!("verify{deep}"), of)
            }
            CliCommand::Rebuild(flags) => with("rebuild", &flags.0, None),
            CliCommand::Connect { client, flags } => {
                let command = match client {
                    Some(client) => format!("connect {client}"),
                    None => "connect".to_owned(),
                };
                with(&command, &flags.0, None)
            }
            CliCommand::Run { flags, client } => with(
                &format!("run {}", client.join(&OsString::from("+")).display()),
                &flags.0,
                None,
            ),
            CliCommand::Undo { undo, flags } => with(
                &format!("undo {:?} {:?}", undo.path, undo.episode),
                &flags.0,
                None,
            ),
            CliCommand::Tool(ToolCommand::Check(args)) => tool("check", args),
            CliCommand::Tool(ToolCommand::Run(args)) => tool("run", args),
            CliCommand::Policy(PolicyCommand::Approve { file, common: of }) => {
                act(&format!("policy approve {}", file.display()), of)
            }
            CliCommand::Guardian(GuardianCommand::Status(of)) => act("guardian status", of),
            CliCommand::Policy(PolicyCommand::Check {
                file,
                flags,
                output,
            }) => with(
                &format!("policy check {}", file.display()),
                &flags.0,
                Some(*output),
            ),
            CliCommand::Completions { shell } => format!("completions {shell}"),
            CliCommand::Man { command } => format!("man {command:?}"),
        }
    }

    #[test]
    fn serve_by_default() {
        check("", "serve");
        check("--upstream demo", "serve upstream=demo");
        check("serve --upstream demo", "serve upstream=demo");
        check("-q", "serve quiet");
        check("serve --quiet", "serve quiet");
        check(
            "--config a.toml --listen 127.0.0.1:0",
            "serve listen=127.0.0.1:0 file=a.toml",
        );
    }

    #[test]
    fn flags_of_commands() {
        check("doctor --workspace w --json", "doctor workspace=w json");
        check("state --json", "state json");
        check("recent", "recent None");
        check("recent --limit 3 --data-dir d", "recent Some(3) data_dir=d");
        check("config --debug", "config debug=true");
        check("demo --log-level debug", "demo log_level=debug");
        check("accept a.c b.c::f", "accept a.c+b.c::f");
        check("accept", "MissingRequiredArgument");
        check("confirm a.c::f b.c --json", "confirm a.c::f+b.c json");
        check("reject a.c::f", "reject a.c::f");
        check(
            "allow BUILD_EXEC for 15m --session 3",
            "allow BUILD_EXEC for 15m Some(3)",
        );
        check("revoke BUILD_EXEC", "revoke BUILD_EXEC None");
        check("allow", "MissingRequiredArgument");
        check("stop", "stop");
        check(
            "run --upstream demo claude -p --model x --upstream y",
            "run claude+-p+--model+x+--upstream+y upstream=demo",
        );
        check("run", "MissingRequiredArgument");
        check("undo", "undo None None");
        check(
            "undo --last-reply --data-dir d",
            "undo None None data_dir=d",
        );
        check("undo --episode e7", "undo None Some(7)");
        check("undo src/a.c", "undo Some(\"src/a.c\") None");
        check("undo src/a.c --episode 7", "ArgumentConflict");
        check("resume --json", "resume json");
        check("adopt . src --json", "adopt .+src json");
        check("adopt --dry-run .", "adopt . dry");
        check("adopt", "MissingRequiredArgument");
        check("verify --json", "verify json");
        check("log", "log 50");
        check("log --limit 0 --follow --json", "log 0 follow json");
        check("log --follow --until 1h", "ArgumentConflict");
        check("why a.c::f --data-dir d", "why a.c::f data_dir=d");
        check("why", "MissingRequiredArgument");
        check("copy n --data-dir d", "copy Some(\"n\") None data_dir=d");
        check("copy --from n", "copy None Some(\"n\")");
        check("copy", "MissingRequiredArgument");
        check("copy n --from m", "ArgumentConflict");
        check("rebuild --workspace w", "rebuild workspace=w");
        check("completions bash", "completions bash");
        check("tool check -- ls -l", "tool check : ls+-l");
        check(
            "tool run --allow BUILD_EXEC --json -- make",
            "tool run BUILD_EXEC: make json",
        );
        check("tool run --allow FS_WRITE -- make", "InvalidValue");
        check("tool run make", "UnknownArgument");
        check("tool check --", "MissingRequiredArgument");
        check("policy check p.toml --json", "policy check p.toml json");
        check("demo --listen 127.0.0.1:0", "UnknownArgument");
        check("completions --debug", "UnknownArgument");
    }

    #[test]
    fn switches_and_lists() {
        check("--debug", "serve debug=true");
        check("--debug=false", "serve debug=false");
        check(
            "--hosts-allowed a --hosts-allowed b,c",
            "serve hosts_allowed=a+b,c",
        );
    }

    #[test]
    fn mistakes_are_refused() {
        check("--upstraem demo", "UnknownArgument");
        check("srve", "InvalidSubcommand");
        check("--profile loose", "InvalidValue");
        check("--workspace", "InvalidValue");
        check("completions tcsh", "InvalidValue");
        check("--upstream demo doctor", "ArgumentConflict");
    }

    /// Help names every flag, variable and exit code.
    #[test]
    fn complete_help() {
        let help = CommandLine::command().render_long_help().to_string();
        for key in KEYS {
            assert!(help.contains(&format!("--{}", key.flag)), "{}", key.flag);
            assert!(help.contains(key.variable), "{}", key.variable);
        }
        for exit in Exit::ALL {
            assert!(help.contains(exit.meaning()), "{exit:?}");
        }
    }

    #[test]
    fn sound_definition() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn man_pages() {
        let page = |command| {
            let mut roff = Vec::new();
            print_man_page(command, &mut Out::new(&mut roff))
                .map(|()| String::from_utf8(roff).unwrap())
        };
        let all = page(None).unwrap();
        for part in [
            ".TH tslp 1",
            "tslp\\-adopt(1)",
            "\\-\\-upstream",
            "Exit codes",
        ] {
            assert!(all.contains(part), "{part}: {all}");
        }
        let adopt = page(Some("adopt")).unwrap();
        assert!(
            adopt.contains("tslp\\-adopt") && adopt.contains("\\-\\-dry\\-run"),
            "{adopt}"
        );
        assert!(page(Some("adapt")).is_err());
    }

    #[test]
    fn flag_completions() {
        let mut script = Vec::new();
        print_completions(Shell::Bash, &mut Out::new(&mut script)).unwrap();
        let script = String::from_utf8(script).unwrap();
        assert!(script.contains("--upstream-ca-file"));
        assert!(script.contains("strict"));
    }
}
