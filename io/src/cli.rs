//! The command line: commands, flags made from the table of keys, help on one screen, shell completions, man pages with exit codes.

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
    CommandArgs, GrantArgs, LockArgs, PatternArgs, PreviewArgs, RecordArgs, TargetArgs, ToolArgs,
    ToolCommand, ToolLine,
};
use crate::config::kind::ValueKind;
use crate::config::layers::WrittenFlags;
use crate::config::table::{ConfigKey, KEYS};
use crate::connect;
use crate::exit::Exit;
use crate::out::Out;

/// A command of the command line. The first line of each is its line in `tslp --help`.
#[derive(Clone, Debug, Subcommand)]
pub enum CliCommand {
    /// Run a client through the workspace's proxy
    ///
    /// `tslp run claude`, `tslp run aider a.c`. The proxy is started if none runs, and ends with its last client. Settings come before the
    /// client's name, as in `tslp run --upstream URL claude`; without `--upstream` a model server is looked for on its usual port.
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
    /// Show what the last replies changed, and what was refused
    Recent {
        /// Show at most N episodes, instead of 20
        #[arg(long, value_name = "N")]
        limit: Option<usize>,
        /// As most commands.
        #[command(flatten)]
        common: CommandArgs,
    },
    /// Print a patch that takes the last reply's changes back
    ///
    /// It takes files back to what was true before the model changed them. Nothing is written: `tslp undo | git apply` does that.
    Undo {
        /// What to take back.
        #[command(flatten)]
        undo: UndoArgs,
        /// The configuration's flags.
        #[command(flatten)]
        flags: ConfigFlags,
    },
    /// Run the proxy alone, as `tslp` without a command does
    ///
    /// `--upstream URL` names the model server, `--listen ADDR:PORT` where clients connect.
    Serve {
        /// How it is run.
        #[command(flatten)]
        manner: ServeManner,
        /// The configuration's flags.
        #[command(flatten)]
        flags: ConfigFlags,
    },
    /// Open the running proxy's page in a browser
    Open(ConfigFlags),
    /// Show what tslp does, with a scripted model
    Demo,
    /// Show the work; or usage, notes, scope, guard, line
    ///
    /// Without a word: what was asked last, what is in flight, how the last build and test run ended.
    Status {
        /// Something else than the work under way
        view: Option<StatusView>,
        /// `usage`: show the last N days on which anything was used
        #[arg(long, value_name = "N", default_value_t = 7)]
        days: usize,
        /// `notes`: print the working memory as spec 003 has it in NOTES.md; nothing is written
        #[arg(long)]
        notes_md: bool,
        /// As most commands.
        #[command(flatten)]
        common: CommandArgs,
    },
    /// Show how a definition became what it is, and each refusal
    Why {
        /// `src/a.c::name`, `src/a.c`, a bare name that only one entity has, or the first digits of an artifact
        #[arg(value_name = "ENTITY")]
        entity: String,
        /// As most commands.
        #[command(flatten)]
        common: CommandArgs,
    },
    /// List all code that counts as true
    ///
    /// Each entity, its hash, and what its file held when it was last read.
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
    /// Print the ledger's events, the last 50 by default
    Log {
        /// The filter and the format.
        #[command(flatten)]
        log: LogArgs,
        /// As most commands.
        #[command(flatten)]
        common: CommandArgs,
    },
    /// Show what would go to the model, without sending it
    Preview(PreviewArgs),
    /// Print what went to the model in an episode, byte for byte
    ///
    /// Credentials are redacted.
    ShowPrompt {
        /// The episode: `7`, or `e7` as in the header `x-tslp-episode`
        #[arg(value_name = "EPISODE", value_parser = episode_number)]
        episode: u64,
        /// The configuration's flags.
        #[command(flatten)]
        flags: ConfigFlags,
    },
    /// Check ledger, disk, grammars and model server
    Doctor(CommandArgs),
    /// Accept what files hold as true, as if you had pasted it
    Accept(TargetArgs),
    /// Make the model's version true that was refused or waits
    Confirm(TargetArgs),
    /// Drop the model's version that was refused or waits
    Reject(TargetArgs),
    /// Accept a whole tree of files
    ///
    /// As if you had pasted each; can be interrupted and repeated.
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
    /// Bring another model's answer, to be judged as a model's
    Reply {
        /// The answer, as text with its code in fences
        file: PathBuf,
        /// Whose answer it is
        #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
        source: String,
        /// As most commands.
        #[command(flatten)]
        common: CommandArgs,
    },
    /// Keep files from every model (off), or show them (on)
    ///
    /// Also in what clients send, as far as they can be recognised (docs/scope.md).
    Off(PatternArgs),
    /// Let models see files again that are off
    On(PatternArgs),
    /// Show models these files alone, and let no other change
    ///
    /// `tslp lock --none` takes all locks away, and `tslp lock --none PATH` that file's.
    Lock(LockArgs),
    /// Say what the work is for: new conversations are told
    Goal(GoalArgs),
    /// Keep a statement for the project, or forget one
    ///
    /// `tslp note fact '#key: STATEMENT'`, `tslp note --forget '#key'` (docs/memory.md); `tslp status notes` lists them.
    Note(RecordArgs),
    /// Send a conversation's older messages to no model any more
    Clear(ClearArgs),
    /// End all agents and tools until resume; let them go on
    Stop(CommandArgs),
    /// Let agents and tools go on, also after a halt
    ///
    /// With their budgets anew.
    Resume {
        /// Lift a breach of the sandbox, too; in a terminal only
        #[arg(long)]
        breach: bool,
        /// As most commands.
        #[command(flatten)]
        common: CommandArgs,
    },
    /// Check the whole ledger, and with --deep every decision
    ///
    /// Chain, anchor, every event, and each table against a fresh fold of all events.
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
    /// Copy the ledger; of a damaged one what is valid
    ///
    /// Also while a proxy runs, event by event and verified.
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
    /// Print how to point a client at the proxy, or its hooks
    ///
    /// With the address and token in force; for all clients if none is named.
    Connect {
        /// The client
        #[arg(value_name = "CLIENT", value_parser = PossibleValuesParser::new(connect::client_names()))]
        client: Option<String>,
        /// Print the settings by which Claude Code or Codex asks tslp, and where they go
        #[arg(long, requires = "client")]
        hooks: bool,
        /// The configuration's flags.
        #[command(flatten)]
        flags: ConfigFlags,
    },
    /// Judge and run tools' command lines; grant them more
    #[command(subcommand)]
    Tool(ToolCommand),
    /// Show settings that aren't the default, or explain one
    Config {
        /// Explain this setting
        #[arg(value_name = "KEY", conflicts_with = "all")]
        key: Option<String>,
        /// List every setting
        #[arg(long)]
        all: bool,
        /// As most commands.
        #[command(flatten)]
        common: CommandArgs,
    },
    /// What clients call: their hooks, and MCP
    ///
    /// Answers a hook of Claude Code or Codex, JSON in and out: judges a tool's call, tells a new conversation what is unfinished, asks
    /// for decisions before they are lost.
    Hook(ConfigFlags),
    /// Serve what is going on to a client over MCP
    ///
    /// On standard input and output.
    Mcp(ConfigFlags),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print a man page: of tslp, or of one of its commands
    #[command(hide = true)]
    Man {
        /// The command
        #[arg(value_name = "COMMAND")]
        command: Option<String>,
    },
}

/// What people look for, and the commands for it; several on a line share the first one's description.
const GROUPS: [(&str, &str); 7] = [
    ("", "run recent undo"),
    ("Run", "serve open demo"),
    ("See", "status why state log preview show-prompt doctor"),
    ("Decide", "accept confirm reject adopt reply"),
    ("Steer", "off,on lock goal note clear stop,resume"),
    ("Keep", "verify rebuild copy"),
    ("Connect", "connect tool config hook,mcp completions"),
];

/// `tslp --help`: one screen.
fn help_screen(line: &clap::Command) -> String {
    let mut text = String::from(
        "A proxy between coding clients and models that enforces what is true of code.\n\nUsage: tslp [COMMAND]\n",
    );
    for (heading, commands) in GROUPS {
        text.push('\n');
        for (row, names) in commands.split(' ').enumerate() {
            let first = names.split(',').next().expect("a split has a first part");
            let about = line
                .find_subcommand(first)
                .and_then(clap::Command::get_about);
            let about = about.expect("every command says what it does");
            let heading = if row == 0 { heading } else { "" };
            let names = names.replace(',', ", ");
            let _ = writeln!(text, "{heading:8} {names:13} {about}");
        }
    }
    text.push_str(
        "\n`tslp help COMMAND` has the rest. Every setting is a flag, too: `tslp config`.\n",
    );
    text
}

/// What `tslp status` shows instead of the work under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum StatusView {
    /// What models read and wrote, by day, model and conversation, with its cost where `price` is set
    Usage,
    /// The statements that are kept for the project
    Notes,
    /// The files that are off, and those that are locked
    Scope,
    /// Whether tools run and why, the profile in force, grants, halts, budgets and the last calls
    Guard,
    /// One line for a client's status line: what is true, what is STALE, how full the context is
    Line,
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
    about = "A proxy between coding clients and models that enforces what is true of code",
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
    let mut known = CommandLine::command();
    known = known.clone().override_help(help_screen(&known));
    let CommandLine {
        command,
        manner,
        flags,
    } = CommandLine::from_arg_matches(&known.try_get_matches_from(line)?)?;
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
        let written = KEYS.iter().filter_map(|key| written_value(key, matches));
        Self(WrittenFlags {
            file,
            written: written.collect(),
        })
    }
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

/// The help's heading over the flags of settings.
const HEADING: &str = "Settings (`tslp config --all` lists the others, which are flags, too)";

fn config_flag(key: &'static ConfigKey) -> Arg {
    let arg = Arg::new(key.name)
        .long(key.flag.as_str())
        .help(flag_help(key))
        .help_heading(HEADING)
        .hide_short_help(key.name != "workspace")
        .hide_long_help(key.name != "workspace");
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
        ValueKind::List(name) => arg.value_name(name).action(ArgAction::Append),
        ValueKind::Budget(_) => arg.value_name("BUDGET"),
        ValueKind::Secret => arg.value_name("SECRET"),
        ValueKind::Folder => arg.value_name("DIR").value_hint(ValueHint::DirPath),
        ValueKind::File => arg.value_name("FILE").value_hint(ValueHint::FilePath),
        ValueKind::Number(..) => arg.value_name("N"),
        ValueKind::NumberOrAuto(..) => arg.value_name("N|auto"),
    }
}

fn flag_help(key: &ConfigKey) -> String {
    let (variable, default) = (&key.variable, &key.default_shown);
    format!("{} [{variable}] [default: {default}]", key.meaning)
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
    use clap::ValueEnum as _;

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
            let (allow, line) = (args.line.grant.join("+"), args.line.line.join("+"));
            let name = format!("tool {name} {allow}: {line}");
            act(&name, &args.common)
        };
        let on = |name: &str, on: &TargetArgs| {
            act(&format!("{name} {}", on.targets.join("+")), &on.common)
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
            CliCommand::Demo => "demo".to_owned(),
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
            CliCommand::Config { key, all, common } => {
                act(&format!("config {key:?} {all}"), common)
            }
            CliCommand::Hook(flags) => with("hook", &flags.0, None),
            CliCommand::Mcp(flags) => with("mcp", &flags.0, None),
            CliCommand::Status {
                view,
                days,
                notes_md,
                common,
            } => act(&format!("status {view:?} {days} {notes_md}"), common),
            CliCommand::Goal(args) => act(&format!("goal {}", args.words.join(" ")), &args.common),
            CliCommand::Clear(ClearArgs {
                session,
                force,
                common: args,
            }) => act(&format!("clear {session:?} {force}"), args),
            CliCommand::Accept(args) => on("accept", args),
            CliCommand::Confirm(args) => on("confirm", args),
            CliCommand::Reject(args) => on("reject", args),
            CliCommand::Note(args) => {
                let name = format!("note {} {}", args.forget, args.words.join("+"));
                act(&name, &args.common)
            }
            CliCommand::Off(args) => act(&format!("off {}", args.patterns.join("+")), &args.common),
            CliCommand::On(args) => act(&format!("on {}", args.patterns.join("+")), &args.common),
            CliCommand::Lock(of) => {
                let name = format!("lock {} {} {:?}", of.none, of.paths.join("+"), of.session);
                act(&name, &of.common)
            }
            CliCommand::Preview(args) => {
                let request = args.request.as_ref().map(|file| file.display().to_string());
                let name = format!(
                    "preview {:?} {request:?} {:?} {:?}",
                    args.prompt, args.route, args.session
                );
                act(&name, &args.common)
            }
            CliCommand::Reply {
                file,
                source,
                common,
            } => act(&format!("reply {} {source}", file.display()), common),
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
            CliCommand::Connect {
                client,
                hooks,
                flags,
            } => with(&format!("connect {client:?} {hooks}"), &flags.0, None),
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
            CliCommand::Tool(ToolCommand::Allow(args)) => grant("allow", args),
            CliCommand::Tool(ToolCommand::Revoke(args)) => grant("revoke", args),
            CliCommand::Tool(ToolCommand::Policy {
                file,
                approve,
                common,
            }) => act(&format!("policy {} {approve}", file.display()), common),
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
        check("config --debug", "config None false debug=true");
        check("config profile", "config Some(\"profile\") false");
        check("config profile --all", "ArgumentConflict");
        check("status --json", "status None 7 false json");
        check("status usage --days 2", "status Some(Usage) 2 false");
        check("lock --none a", "lock true a None");
        check("lock", "MissingRequiredArgument");
        check("note --forget #a", "note true #a");
        check("connect codex --hooks", "connect Some(\"codex\") true");
        check("connect --hooks", "MissingRequiredArgument");
        check("demo", "demo");
        check("accept a.c b.c::f", "accept a.c+b.c::f");
        check("accept", "MissingRequiredArgument");
        check("confirm a.c::f b.c --json", "confirm a.c::f+b.c json");
        check("reject a.c::f", "reject a.c::f");
        check(
            "tool allow BUILD_EXEC for 15m --session 3",
            "allow BUILD_EXEC for 15m Some(3)",
        );
        check("tool revoke BUILD_EXEC", "revoke BUILD_EXEC None");
        check("tool allow", "MissingRequiredArgument");
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
            "tool run --grant BUILD_EXEC --json -- make",
            "tool run BUILD_EXEC: make json",
        );
        check("tool run --grant FS_WRITE -- make", "InvalidValue");
        check("tool run make", "UnknownArgument");
        check("tool check --", "MissingRequiredArgument");
        check("tool policy p.toml --json", "policy p.toml false json");
        check("tool policy p.toml --approve", "policy p.toml true");
        check("demo --listen 127.0.0.1:0", "UnknownArgument");
        check("completions --debug", "UnknownArgument");
    }

    #[test]
    fn switches_and_lists() {
        check("--debug", "serve debug=true");
        check("--debug=false", "serve debug=false");
        check("--allow a --allow b,c", "serve allow=a+b,c");
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

    /// `tslp --help` is one screen and has every command once; `tslp help COMMAND` has each.
    #[test]
    fn help_on_one_screen() {
        let line = CommandLine::command();
        let help = help_screen(&line);
        assert!(help.lines().count() <= 45, "{help}");
        for line in help.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        let listed = GROUPS
            .iter()
            .flat_map(|(_, commands)| commands.split([' ', ',']));
        let mut listed: Vec<&str> = listed.collect();
        let shown = line.get_subcommands().filter(|it| !it.is_hide_set());
        let mut shown: Vec<&str> = shown.map(clap::Command::get_name).collect();
        listed.sort_unstable();
        shown.sort_unstable();
        assert_eq!(listed, shown);
        let words = line
            .get_subcommands()
            .flat_map(clap::Command::get_subcommands);
        assert!(shown.len() + words.count() + StatusView::value_variants().len() <= 60);
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
            "\\-\\-workspace",
            "Exit codes",
        ] {
            assert!(all.contains(part), "{part}: {all}");
        }
        for exit in Exit::ALL {
            let first = exit.meaning().split(' ').next().expect("words");
            assert!(all.contains(first), "{exit:?}");
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
