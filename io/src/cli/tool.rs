//! The arguments of `tslp tool`, and those that commands share.

use std::path::PathBuf;

use clap::builder::{NonEmptyStringValueParser, PossibleValuesParser};
use clap::{Args, Subcommand, ValueHint};
use tslp_core::guardian::Capability;
use tslp_wire::chat::dialect::Dialect;

use super::{ConfigFlags, OutputFormat};

/// Subcommands of `tslp tool`.
#[derive(Clone, Debug, Subcommand)]
pub enum ToolCommand {
    /// Show what each command of a line does and whether it may run, without running it
    Check(ToolArgs),
    /// Run a line in the sandbox, if all of its commands may run
    Run(ToolArgs),
    /// Grant the model's tools a capability for some minutes
    Allow(GrantArgs),
    /// Take back what was granted
    Revoke(GrantArgs),
    /// Read a policy profile and explain it, or put it in force
    Policy {
        /// The profile, TOML; to be approved it lies outside of the workspace
        file: PathBuf,
        /// Put it in force
        #[arg(long)]
        approve: bool,
        /// As most commands.
        #[command(flatten)]
        common: CommandArgs,
    },
}

/// What a command line for tools is asked with.
#[derive(Clone, Debug, Args)]
pub struct ToolArgs {
    /// The line.
    #[command(flatten)]
    pub line: ToolLine,
    /// As most commands.
    #[command(flatten)]
    pub common: CommandArgs,
}

/// A command line for tools, and by what it is judged.
#[derive(Clone, Debug, Args)]
pub struct ToolLine {
    /// Grant this for the one line; may be given several times
    #[arg(long, value_name = "CAPABILITY", value_parser = PossibleValuesParser::new(Capability::WORDS))]
    pub grant: Vec<String>,
    /// Judge by this profile instead of the built-in one
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// Show this folder to the tools, too, and look for programs in its `bin`; may be given several times
    #[arg(long, value_name = "DIR")]
    pub toolchain: Vec<PathBuf>,
    /// One argument with the whole line, or one command's words
    #[arg(last = true, required = true, value_name = "CMD")]
    pub line: Vec<String>,
}

/// What most commands take: those that work on a workspace, and print.
#[derive(Clone, Debug, Args)]
pub struct CommandArgs {
    /// The configuration's flags.
    #[command(flatten)]
    pub flags: ConfigFlags,
    /// For whom to print.
    #[command(flatten)]
    pub output: OutputFormat,
}

/// Code that an act is about.
#[derive(Clone, Debug, Args)]
pub struct TargetArgs {
    /// A file, or one definition of it: `src/a.c` or `src/a.c::name`, from here or from the workspace's root; or `'#key'`, a statement that waits
    #[arg(required = true, value_name = "PATH[::SYMBOL]", value_parser = NonEmptyStringValueParser::new())]
    pub targets: Vec<String>,
    /// As most commands.
    #[command(flatten)]
    pub common: CommandArgs,
}

/// What would go to the model.
#[derive(Clone, Debug, Args)]
pub struct PreviewArgs {
    /// A prompt of the last conversation: its sections are shown, with tokens, what is in them and what isn't
    #[arg(required_unless_present = "request", conflicts_with = "request")]
    pub prompt: Option<String>,
    /// A client's whole request as JSON: the body that would go out is printed; with `--json` its sections
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub request: Option<PathBuf>,
    /// The route that the request is for, such as `/v1/messages` [default: by its fields]
    #[arg(long, value_name = "PATH", requires = "request", value_parser = PossibleValuesParser::new(Dialect::ALL.map(Dialect::route_path)))]
    pub route: Option<String>,
    /// The prompt's session [default: that of the last prompt]
    #[arg(long, value_name = "N", conflicts_with = "request", value_parser = clap::value_parser!(u64).range(1..))]
    pub session: Option<u64>,
    /// As most commands.
    #[command(flatten)]
    pub common: CommandArgs,
}

/// Files that a model may or may not see.
#[derive(Clone, Debug, Args)]
pub struct PatternArgs {
    /// `secrets/**`, `*.pem`, a folder or a file, from here; quoted, so that the shell leaves it alone
    #[arg(required = true, value_name = "GLOB", value_parser = NonEmptyStringValueParser::new())]
    pub patterns: Vec<String>,
    /// As most commands.
    #[command(flatten)]
    pub common: CommandArgs,
}

/// A statement that is kept for the project, or its key.
#[derive(Clone, Debug, Args)]
pub struct RecordArgs {
    /// `fact '#key: STATEMENT'`, or `'#key'`; quoted, so that the shell leaves it alone
    #[arg(required = true, value_name = "WORDS", value_parser = NonEmptyStringValueParser::new())]
    pub words: Vec<String>,
    /// Keep the statement of this key no longer
    #[arg(long)]
    pub forget: bool,
    /// As most commands.
    #[command(flatten)]
    pub common: CommandArgs,
}

/// Files that are locked.
#[derive(Clone, Debug, Args)]
pub struct LockArgs {
    /// A file, from here or from the workspace's root
    #[arg(required_unless_present = "none", value_name = "PATH", value_parser = NonEmptyStringValueParser::new())]
    pub paths: Vec<String>,
    /// Take locks away: of these files, or all
    #[arg(long)]
    pub none: bool,
    /// In this session alone [default: in all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub session: Option<u64>,
    /// As most commands.
    #[command(flatten)]
    pub common: CommandArgs,
}

/// A grant to the tools of a session.
#[derive(Clone, Debug, Args)]
pub struct GrantArgs {
    /// `BUILD_EXEC` or `SHELL_EXEC`, and for how long: `BUILD_EXEC for 15m`
    #[arg(required = true, num_args = 1..=3, value_name = "CAPABILITY [for TIME]")]
    pub grant: Vec<String>,
    /// The session [default: that of the last prompt]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub session: Option<u64>,
    /// As most commands.
    #[command(flatten)]
    pub common: CommandArgs,
}
