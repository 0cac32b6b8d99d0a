//! `tslp tool`: from arguments to an exit code.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tslp_core::event::{ToolOutcome, Verb};
use tslp_core::guardian::{
    self, Capability, Decision, GrantToken, Join, JudgedCommand, JudgedLine, LineContext, Mode,
    SimpleCommand, SplitError, Step, ToolProfile, judge_line,
};
use tslp_core::hash::ArtifactHash;
use tslp_tools::guardian::profile_file;
use tslp_tools::guardian::{ToolScope, beyond_links, layer_of, time_of};
use tslp_tools::sandbox::{RunOutcome, Sandbox, WorkspaceLayer};
use tslp_workspace::observer::{SystemClock, WallClock};

use super::{CommandFailure, acting, print_page, read_config};
use crate::cli::{CommandArgs, GrantArgs, OutputFormat, ToolArgs, ToolCommand, ToolLine};
use crate::config::layers::WrittenFlags;
use crate::config::settings::Settings;
use crate::exit::Exit;
use crate::tool_loop::{test_enforcement, tool_scope};

pub(super) fn run_tool(command: &ToolCommand) -> Result<Exit, CommandFailure> {
    match command {
        ToolCommand::Check(ToolArgs { line, common: of }) => {
            let asked = read_line(line, of)?;
            let judged = asked.judge_line(line);
            print_page(
                of.output,
                || asked.json_page(&judged).to_string(),
                || asked.text_lines(&judged),
            )?;
            Ok(match judged {
                Ok(line) if is_allowed(&line) => Exit::Ok,
                _ => Exit::CheckFailed,
            })
        }
        ToolCommand::Run(ToolArgs { line, common: of }) => {
            run_line(&read_line(line, of)?, line, of.output)
        }
        ToolCommand::Allow(of) => grant(Verb::Allow, of),
        ToolCommand::Revoke(of) => grant(Verb::Revoke, of),
        ToolCommand::Policy {
            file,
            approve: true,
            common,
        } => run_approve(file, common),
        ToolCommand::Policy { file, common, .. } => explain_policy(file, common),
    }
}

fn read_line(line: &ToolLine, of: &CommandArgs) -> Result<JudgedRequest, CommandFailure> {
    let config = read_config(&of.flags.0)?;
    JudgedRequest::from_line(line, &config, &of.flags.0)
}

fn grant(verb: Verb, of: &GrantArgs) -> Result<Exit, CommandFailure> {
    acting::act_on(verb, &[of.grant.join(" ")], of.session, &of.common)
}

fn explain_policy(file: &Path, of: &CommandArgs) -> Result<Exit, CommandFailure> {
    read_config(&of.flags.0)?;
    let (_, profile) = read_profile(file)?;
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
    print_page(of.output, json, human)
}

/// Reads a profile, its text and what that says, or says what is wrong with it.
fn read_profile(file: &Path) -> Result<(String, ToolProfile), CommandFailure> {
    let shown = file.display();
    let text = fs::read_to_string(file)
        .map_err(|error| CommandFailure::new(Exit::Failure, format!("{shown}: {error}")))?;
    let profile = profile_file::parse_profile(&text)
        .map_err(|error| CommandFailure::new(Exit::CheckFailed, format!("{shown}: {error}")))?;
    Ok((text, profile))
}

/// Records a profile as the one in force.
fn run_approve(file: &Path, of: &CommandArgs) -> Result<Exit, CommandFailure> {
    let config = read_config(&of.flags.0)?;
    // One that isn't there says so when it is read.
    let real = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    if real.starts_with(&config.workspace) {
        let why = format!(
            "{}: a profile must lie outside of the workspace, where no model's client can write to it",
            file.display()
        );
        return Err(CommandFailure::new(Exit::Usage, why));
    }
    let (text, _) = read_profile(&real)?;
    acting::approve_policy(&config, text, of.output)
}

/// What a line is judged and run with.
struct JudgedRequest {
    scope: ToolScope,
    profile: ToolProfile,
    granted: Vec<Capability>,
    /// The reason why tools don't run at all.
    hindrance: Option<String>,
}

impl JudgedRequest {
    fn from_line(
        line: &ToolLine,
        config: &Settings,
        flags: &WrittenFlags,
    ) -> Result<Self, CommandFailure> {
        let mut toolchains = Vec::new();
        for folder in &line.toolchain {
            let folder = folder.canonicalize().map_err(|error| {
                CommandFailure::new(Exit::Usage, format!("{}: {error}", folder.display()))
            })?;
            toolchains.push(folder);
        }
        let files = flags.file.iter().filter_map(|it| it.canonicalize().ok());
        let scope = ToolScope {
            toolchains,
            ..tool_scope(config, files)
        };
        let granted = line
            .grant
            .iter()
            .filter_map(|word| Capability::of_word(word));
        Ok(Self {
            profile: match &line.policy {
                Some(file) => read_profile(file)?.1,
                None => ToolProfile::built_in(),
            },
            granted: granted.collect(),
            hindrance: test_enforcement(&scope).err(),
            scope,
        })
    }

    /// One argument is a line; several are one command's words.
    fn judge_line(&self, line: &ToolLine) -> Result<JudgedLine, SplitError> {
        let commands = match &*line.line {
            [line] => guardian::split(line)?,
            words => vec![SimpleCommand {
                join: Join::First,
                words: words.to_vec(),
            }],
        };
        let (jail, now) = (self.scope.tool_jail(), SystemClock.now());
        let root = ArtifactHash::of(jail.root.as_bytes());
        let grants = self.granted.iter();
        let grants = grants.map(|it| GrantToken::issue_for_session(*it, root, now));
        let context = LineContext {
            profile: &self.profile,
            mode: match self.hindrance {
                None => Mode::Ready,
                Some(_) => Mode::SafeMode,
            },
            now,
            grants: &grants.collect::<Vec<_>>(),
            builds: 0,
            jail: &jail,
            leads_to: &beyond_links,
        };
        Ok(judge_line(commands, &context))
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
        let commands = judged.iter().flat_map(|line| &line.commands);
        let commands = commands.map(|judged| self.command_json(judged));
        json!({
            "allowed": judged.as_ref().is_ok_and(is_allowed),
            "class": judged.as_ref().map(|line| line.gravest_class().as_str()).ok(),
            "commands": commands.collect::<Vec<_>>(),
            "refused": judged.as_ref().err().map(ToString::to_string),
            "tools_off": self.hindrance,
        })
    }

    fn command_json(&self, judged: &JudgedCommand) -> Value {
        let verdicts = Step::ALL.iter().map(|step| {
            let denial = judged.denials.iter().find(|denial| denial.step == *step);
            json!({
                "step": step.as_str(),
                "met": denial.is_none(),
                "code": denial.map(|denial| &denial.code),
                "why": denial.map(|denial| &denial.why),
            })
        });
        json!({
            "words": judged.command.words,
            "class": judged.class.as_str(),
            "because": judged.because,
            "targets": judged.targets,
            "decision": judged.decision().as_str(),
            "rule": self.profile.rule_for(judged.class).map(|(id, _)| id),
            "verdicts": verdicts.collect::<Vec<_>>(),
        })
    }
}

fn is_allowed(line: &JudgedLine) -> bool {
    line.strictest_decision() != Decision::Deny
}

fn command_text(judged: &JudgedCommand, line: &JudgedLine) -> String {
    let words = judged.command.words.join(" ");
    let why = match judged.denials.first() {
        Some(denial) => format!(
            "step {} ({}), {}: {}",
            denial.step as u8 + 1,
            denial.step,
            denial.code,
            denial.why
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
    let because = judged.because.iter().map(|it| format!(" because of {it}"));
    let because: String = because.collect();
    format!(
        "{words:<24} {:<9} {:<17}  {why}{because}",
        judged.class,
        judged.decision().as_str()
    )
}

fn run_line(
    asked: &JudgedRequest,
    line: &ToolLine,
    output: OutputFormat,
) -> Result<Exit, CommandFailure> {
    let judged = asked.judge_line(line);
    let outcome = match &judged {
        Ok(line) if is_allowed(line) => Some(match asked.scope.plan_line(line) {
            Ok(plan) => Sandbox::default().run_plan(&plan),
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
        ToolOutcome::Exited(0) => Exit::Ok,
        _ => Exit::Failure,
    })
}
