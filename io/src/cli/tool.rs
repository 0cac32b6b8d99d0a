//! The arguments of `tslp tool` and `tslp policy`.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use tslp_core::guardian::Capability;

use super::{ConfigFlags, LogFlags, OutputFormat};

/// Subcommands of `tslp tool`.
#[derive(Clone, Debug, Subcommand)]
pub enum ToolCommand {
    /// Show what each command of a line does and whether it may run, without running it
    Check(ToolArgs),
    /// Run a line in the sandbox, if all of its commands may run
    Run(ToolArgs),
}

/// Subcommands about a policy profile.
#[derive(Clone, Debug, Subcommand)]
pub enum PolicyCommand {
    /// Read a profile and explain it, or say what is wrong with it
    Check {
        /// The profile, TOML
        file: PathBuf,
        /// The log's flags.
        #[command(flatten)]
        flags: LogFlags,
        /// For whom to print.
        #[command(flatten)]
        output: OutputFormat,
    },
    /// Put a profile in force
    Approve {
        /// The profile, TOML, outside of the workspace
        file: PathBuf,
        /// The configuration's flags.
        #[command(flatten)]
        flags: ConfigFlags,
        /// For whom to print.
        #[command(flatten)]
        output: OutputFormat,
    },
}

/// Subcommands about the Guardian.
#[derive(Clone, Debug, Subcommand)]
pub enum GuardianCommand {
    /// Show whether tools run and why, the profile in force, grants, halts and the last calls
    Status {
        /// The configuration's flags.
        #[command(flatten)]
        flags: ConfigFlags,
        /// For whom to print.
        #[command(flatten)]
        output: OutputFormat,
    },
}

/// What a command line for tools is asked with.
#[derive(Clone, Debug, Args)]
pub struct ToolArgs {
    /// The line.
    #[command(flatten)]
    pub line: ToolLine,
    /// The configuration's flags.
    #[command(flatten)]
    pub flags: ConfigFlags,
    /// For whom to print.
    #[command(flatten)]
    pub output: OutputFormat,
}

/// A command line for tools, and by what it is judged.
#[derive(Clone, Debug, Args)]
pub struct ToolLine {
    /// Grant this for the one line; may be given several times
    #[arg(long, value_name = "CAPABILITY", value_parser = PossibleValuesParser::new(Capability::WORDS))]
    pub allow: Vec<String>,
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

/// A grant to the tools of a session.
#[derive(Clone, Debug, Args)]
pub struct GrantArgs {
    /// `BUILD_EXEC` or `SHELL_EXEC`, and for how long: `BUILD_EXEC for 15m`
    #[arg(required = true, num_args = 1..=3, value_name = "CAPABILITY [for TIME]")]
    pub grant: Vec<String>,
    /// The session [default: that of the last prompt]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub session: Option<u64>,
}

impl GrantArgs {
    /// The grant, as a directive says it.
    #[must_use]
    pub fn words(&self) -> String {
        self.grant.join(" ")
    }
}
