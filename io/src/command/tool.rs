//! `tslp tool` and `tslp policy`: from arguments to an exit code.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tslp_core::guardian::{
    Capability, Door, Join, JudgedCommand, JudgedLine, Mode, SimpleCommand, SplitError,
    Step, ToolProfile,
};
use tslp_tools::guardian::profile_file;
use tslp_tools::guardian::{JudgeInputs, ToolScope, layer_of, time_of};
use tslp_tools::sandbox::{RunEnd, RunOutcome, Sandbox, WorkspaceLayer};
use tslp_workspace::observer::{SystemClock, WallClock};

use super::{CommandFailure, LedgerUse, config_layers, print_page, read_config, start_logging};
use crate::cli::{OutputFormat, PolicyCommand, ToolArgs, ToolCommand, ToolLine};
use crate::config::ServeConfig;
use crate::config::layers::WrittenFlags;
use crate::exit::Exit;

pub(super) fn run_tool(command: &ToolCommand) -> Result<Exit, CommandFailure> {
    let (ToolCommand::Check(args) | ToolCommand::Run(args)) = command;
    let ToolArgs {
        line,
        flags,
        output,
    } = args;
    let (config, _) = read_config(&flags.0)?;
    let asked = JudgedRequest::from_line(line, &config, &flags.0)?;
    match command {
        ToolCommand::Check(_) => {
            let judged = asked.judge_line(line);
            print_page(
                *output,
                || asked.json_page(&judged).to_string(),
                || asked.text_lines(&judged),
            )?;
            Ok(match judged {
                Ok(line) if line.is_allowed() => Exit::Ok,
                _ => Exit::CheckFailed,
            })
        }
        ToolCommand::Run(_) => run_line(&asked, line, *output),
    }
}

pub(super) fn run_policy(command: &PolicyCommand) -> Result<Exit, CommandFailure> {
    let (file, flags, output) = match command {
        PolicyCommand::Check {
            file,
            flags,
            output,
        } => (file, flags, output),
        PolicyCommand::Approve {
            file,
            flags,
            output,
        } => return super::guardian::run_approve(file, &flags.0, *output),
    };
    start_logging(&config_layers(&flags.0)?, LedgerUse::Act)?;
    let profile = read_profile(file)?;
    let ToolProfile {
        id,
        name,
        programs,
        builds,
        build_seconds,
        ..
    } = &profile;
    let json = || {
        json!({ "profile_id": id, "name": name, "programs": programs, "builds": builds, "build_seconds": build_seconds })
            .to_string()
    };
    let human = || {
        let programs = match &**programs {
            [] => "all that tslp knows".to_owned(),
            named => named.join(", "),
        };
        vec![
            format!("{id}: {name}"),
            format!("  programs: {programs}"),
            format!("  builds, where granted: {builds}, {build_seconds} s each at most"),
        ]
    };
    print_page(*output, json, human)
}

fn read_profile(file: &Path) -> Result<ToolProfile, CommandFailure> {
    let shown = file.display();
    let text = fs::read_to_string(file)
        .map_err(|error| CommandFailure::new(Exit::Failure, format!("{shown}: {error}")))?;
    profile_file::parse_profile(&text)
        .map_err(|error| CommandFailure::new(Exit::CheckFailed, format!("{shown}: {error}")))
}

/// What a line is judged and run with.
struct JudgedRequest {
    scope: ToolScope,
    inputs: JudgeInputs,
    sandbox: Sandbox,
    /// The reason why tools don't run at all.
    hindrance: Option<String>,
}

impl JudgedRequest {
    fn from_line(
        line: &ToolLine,
        config: &ServeConfig,
        flags: &WrittenFlags,
    ) -> Result<Self, CommandFailure> {
        let mut toolchains = Vec::new();
        for folder in &line.toolchain {
            let folder = folder.canonicalize().map_err(|error| {
                CommandFailure::new(Exit::Usage, format!("{}: {error}", folder.display()))
            })?;
            toolchains.push(folder);
        }
        let mut hidden = vec![config.data_dir.clone()];
        hidden.extend(
            flags
                .file
                .iter()
                .filter_map(|file| file.canonicalize().ok()),
        );
        let scope = ToolScope {
            workspace: config.workspace.clone(),
            hidden,
            toolchains,
            home: None,
        };
        let sandbox = Sandbox::default();
        let tested = sandbox
            .self_test(&scope.self_test_plan(WorkspaceLayer::ReadOnly))
            .and_then(|()| sandbox.self_test(&scope.self_test_plan(WorkspaceLayer::Scratch)));
        let mode = match tested {
            Ok(()) => Mode::Ready,
            Err(_) => Mode::SafeMode,
        };
        let granted = line
            .allow
            .iter()
            .filter_map(|word| Capability::of_word(word));
        Ok(Self {
            inputs: JudgeInputs {
                profile: match &line.policy {
                    Some(file) => read_profile(file)?,
                    None => ToolProfile::built_in(),
                },
                door: Door::Operator,
                mode,
                now: SystemClock.now(),
                granted: granted.collect(),
            },
            scope,
            sandbox,
            hindrance: tested.err(),
        })
    }

    /// One argument is a line; several are one command's words.
    fn judge_line(&self, line: &ToolLine) -> Result<JudgedLine, SplitError> {
        match &*line.line {
            [line] => self.scope.judge_line(line, &self.inputs),
            words => {
                let command = SimpleCommand {
                    join: Join::First,
                    words: words.to_vec(),
                    span: 0..0,
                };
                Ok(self.scope.judge_commands(vec![command], &self.inputs))
            }
        }
    }

    fn text_lines(&self, judged: &Result<JudgedLine, SplitError>) -> Vec<String> {
        let mut lines: Vec<String> = match judged {
            Ok(line) => line
                .commands
                .iter()
                .map(|judged| command_text(judged, line))
                .collect(),
            Err(reason) => vec![format!("DENY: {reason}")],
        };
        lines.extend(
            self.hindrance
                .iter()
                .map(|why| format!("tools are off: {why}")),
        );
        lines
    }

    fn json_page(&self, judged: &Result<JudgedLine, SplitError>) -> Value {
        let commands: Vec<Value> = judged
            .iter()
            .flat_map(|line| line.commands.iter().map(command_json))
            .collect();
        json!({
            "allowed": judged.as_ref().is_ok_and(JudgedLine::is_allowed),
            "class": judged.as_ref().map(|line| line.gravest_class().as_str()).ok(),
            "commands": commands,
            "refused": judged.as_ref().err().map(ToString::to_string),
            "tools_off": self.hindrance,
        })
    }
}

fn command_text(judged: &JudgedCommand, line: &JudgedLine) -> String {
    let JudgedCommand {
        command,
        action,
        report,
    } = judged;
    let words = command.words.join(" ");
    let decision = report.decision.as_str();
    let why = match report.first_denial() {
        Some((step, cause)) => format!(
            "step {} ({step}), {}: {cause}",
            step as u8 + 1,
            cause.denial_code()
        ),
        None => format!(
            "timeout {} s, {}",
            time_of(line).as_secs(),
            match layer_of(line) {
                WorkspaceLayer::ReadOnly => "read-only",
                WorkspaceLayer::Scratch => "scratch layer",
            }
        ),
    };
    let because = action.because.iter().map(|it| format!(" because of {it}"));
    let because: String = because.collect();
    format!(
        "{words:<24} {:<9} {decision:<17}  {why}{because}",
        action.class
    )
}

fn command_json(judged: &JudgedCommand) -> Value {
    let JudgedCommand {
        command,
        action,
        report,
    } = judged;
    let verdicts = Step::ALL.iter().zip(&report.verdicts).map(|(step, cause)| {
        json!({
            "step": step.as_str(),
            "met": cause.is_none(),
            "code": cause.as_ref().map(|cause| cause.denial_code()),
            "why": cause.as_ref().map(ToString::to_string),
        })
    });
    json!({
        "words": command.words,
        "class": action.class.as_str(),
        "because": action.because,
        "targets": action.targets,
        "decision": report.decision.as_str(),
        "rule": report.rule,
        "verdicts": verdicts.collect::<Vec<_>>(),
    })
}

fn run_line(
    asked: &JudgedRequest,
    line: &ToolLine,
    output: OutputFormat,
) -> Result<Exit, CommandFailure> {
    let judged = asked.judge_line(line);
    let outcome = match &judged {
        Ok(line) if line.is_allowed() => Some(match asked.scope.plan_line(line) {
            Ok(plan) => asked.sandbox.run_plan(&plan),
            Err(error) => RunOutcome::not_started(error.to_string()),
        }),
        _ => None,
    };
    let Some(outcome) = outcome else {
        print_page(
            output,
            || asked.json_page(&judged).to_string(),
            || asked.text_lines(&judged),
        )?;
        return Ok(Exit::CheckFailed);
    };
    let class = judged.map_or("", |line| line.gravest_class().as_str());
    let json = || {
        json!({
            "allowed": true,
            "class": class,
            "ended": outcome.ended.to_string(),
            "output": outcome.output.kept_text(),
            "bytes": outcome.output.bytes,
            "duration_ms": outcome.duration.as_millis() as u64,
            "cpu_ms": outcome.cpu.as_millis() as u64,
            "rss_bytes_max": outcome.rss_bytes_max,
        })
        .to_string()
    };
    let human = || {
        let text = outcome.output.kept_text();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let millis = outcome.duration.as_millis();
        lines.push(format!("[{}, {millis} ms, {class}]", outcome.ended));
        lines
    };
    print_page(output, json, human)?;
    Ok(match outcome.ended {
        RunEnd::Exited(0) => Exit::Ok,
        _ => Exit::Failure,
    })
}
