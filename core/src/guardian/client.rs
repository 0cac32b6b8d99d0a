//! What a client's own tools may never do, whoever asks: everything else passes, and is on record (spec §8.5).
//!
//! A call is read by the kinds of its arguments, not by its tool's name: clients name their tools as they like.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::Value;

use super::client_lists::*;
use super::jail::{Jail, absolute_path, is_within};
use super::shell::{KEYWORDS, ShellCommand, read_line};
use super::{Class, Join, classify};
use crate::capture::vocabulary;
use crate::stored::stored_words;

/// The longest text of one argument that is judged; a longer command line or program is denied.
pub const JUDGED_BYTES_MAX: usize = 64 << 10;

/// How deep scripts in scripts are followed.
const DEPTH_MAX: u32 = 6;

stored_words! {
    /// What one argument of a client's call is.
    CallPart, "part of a client's call" {
        /// The folder that it is about.
        Folder = "cwd",
        /// A command line.
        Shell = "shell",
        /// A program in another language.
        Code = "code",
        /// A file that is read.
        Read = "read",
        /// A file that is written, moved or deleted.
        Write = "write",
    }
}

stored_words! {
    /// What a client's tools may never do.
    Harm, "harm" {
        /// Writing or deleting outside of the workspace.
        Outside = "OUTSIDE-WRITE",
        /// Deleting all of the workspace, or of the user's home folder.
        Everything = "DELETE-ALL",
        /// Writing what runs later by itself, or tslp's own data.
        Protected = "PROTECTED-PATH",
        /// Rewriting history that others have.
        History = "HISTORY-REWRITE",
        /// Running what was just downloaded or decoded.
        Download = "DOWNLOADED-CODE",
        /// Reading or printing credentials.
        Credential = "CREDENTIAL-ACCESS",
        /// Acting as the Operator, or ending the proxy.
        Proxy = "OPERATOR-ONLY",
        /// Writing a file of the workspace while the user has locked others.
        Locked = "OUTSIDE-LOCK",
        /// Nobody can tell what it does: it is too long.
        Unreadable = "UNREADABLE",
    }
}

impl Harm {
    /// Whether no agent should do it, whatever it was asked for: nothing brings back what it takes.
    #[must_use]
    pub const fn is_never_meant(self) -> bool {
        matches!(self, Self::Everything | Self::Protected | Self::History)
    }
}

/// Why a call is denied: the harm, and what does it.
pub type HarmFound = (Harm, String);

/// The parts of a call that are judged, in the order of its arguments; the folder comes first.
#[must_use]
pub fn call_parts(tool: &str, arguments: &str) -> Vec<(CallPart, String)> {
    let tool = tool.to_ascii_lowercase();
    // What comes after an object, such as one brace too many, is none of it to some clients.
    let mut values = serde_json::Deserializer::from_str(arguments).into_iter::<Value>();
    let is_object = arguments.trim_start().starts_with('{');
    let read = match is_object {
        true => values.next().and_then(Result::ok),
        false => serde_json::from_str(arguments).ok(),
    };
    if is_object && read.is_none() {
        // Some clients mend it. Whatever stands between its quotes may be a line that one of them runs.
        let lines = arguments.replace(['"', '\''], "\n");
        return Vec::from([(CallPart::Shell, lines)]);
    }
    // A call that no JSON holds is a command line or a patch to clients that take one.
    let value = read.unwrap_or_else(|| arguments.into());
    let mut members = Vec::new();
    if value.is_string() {
        members.push(("input", &value));
    }
    collect_members(&value, &mut members);
    let has = |words: &[&str]| members.iter().any(|(name, _)| words.contains(name));
    let editor = value["command"].as_str();
    let is_editor = has(&["path"]) && editor.is_some_and(|word| lists(EDITOR_COMMANDS, word));
    let writes = WRITTEN_ARGUMENTS.into_iter().any(has)
        || is_editor && editor != Some("view")
        || !is_editor && holds_any(WRITING_TOOLS, &tool);
    let mut parts = Vec::new();
    for (name, value) in members {
        if !is_editor || name != "command" {
            collect_part(&tool, name, value, writes, &mut parts);
        }
    }
    parts.sort_by_key(|(part, _)| *part != CallPart::Folder);
    parts
}

/// The members of an object and of all objects in it.
fn collect_members<'v>(value: &'v Value, members: &mut Vec<(&'v str, &'v Value)>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                members.push((name, value));
                collect_members(value, members);
            }
        }
        Value::Array(items) => items.iter().for_each(|it| collect_members(it, members)),
        _ => {}
    }
}

/// Arguments of calls that write.
const WRITTEN_ARGUMENTS: [&[&str]; 7] = [
    vocabulary::CONTENT,
    vocabulary::NEW,
    vocabulary::NEW_WITHOUT_OLD,
    vocabulary::EDITS,
    vocabulary::DIFF,
    vocabulary::PATCH,
    &["insert_text", "new_source", "destination", "new_path"],
];

fn collect_part(
    tool: &str,
    name: &str,
    value: &Value,
    writes: bool,
    parts: &mut Vec<(CallPart, String)>,
) {
    let is_terminal = holds_any(TERMINAL_TOOLS, tool);
    let is_line = is_line_argument(name) || is_terminal && lists(TYPED_ARGUMENTS, name);
    let is_patch = vocabulary::PATCH.contains(&name) || vocabulary::DIFF.contains(&name);
    let path = match writes {
        true => CallPart::Write,
        false => CallPart::Read,
    };
    let mut add = |part, text: &str| parts.push((part, text.to_string()));
    let Some(text) = value.as_str() else {
        let items = value.as_array().into_iter().flatten();
        let items: Vec<&str> = items.filter_map(Value::as_str).collect();
        match name {
            _ if is_line && !items.is_empty() => add(CallPart::Shell, &line_of(&items)),
            "commands" => items.iter().for_each(|line| add(CallPart::Shell, line)),
            _ if lists(PATH_LISTS, name) => items.iter().for_each(|it| add(path, it)),
            _ => {}
        }
        return;
    };
    let patched = if is_patch {
        patched_paths(text)
    } else {
        Vec::new()
    };
    if is_line {
        add(CallPart::Shell, text);
    } else if !patched.is_empty() {
        patched.iter().for_each(|it| add(CallPart::Write, it));
    } else if lists(FOLDER_ARGUMENTS, name) {
        add(CallPart::Folder, text);
    } else if lists(CODE_ARGUMENTS, name) && !writes {
        add(CallPart::Code, text);
    } else if is_path_argument(name) {
        add(path, text);
    }
}

/// A command's words as a line; of `["bash", "-lc", "…"]` the line itself.
fn line_of(words: &[&str]) -> String {
    let quoted = words
        .iter()
        .map(|word| format!("'{}'", word.replace('\'', "'\"'\"'")));
    quoted.collect::<Vec<_>>().join(" ")
}

/// The files that a patch changes, by its headers.
fn patched_paths(patch: &str) -> Vec<String> {
    let headers = patch.lines().filter_map(|line| {
        let path = names(PATCH_HEADERS).find_map(|header| line.strip_prefix(header))?;
        let path = path.split('\t').next()?.trim();
        Some(path.strip_prefix("b/").unwrap_or(path)).filter(|path| *path != "/dev/null")
    });
    headers.map(str::to_string).collect()
}

/// What is denied of a call, by its parts; nothing if it passes.
#[must_use]
pub fn judge_client_call(parts: &[(CallPart, &str)], jail: &Jail) -> Vec<HarmFound> {
    let mut judge = ClientJudge {
        jail,
        cwd: jail.root.clone(),
        fetched: Vec::new(),
        found: Vec::new(),
        depth: 0,
    };
    for (part, text) in parts {
        match part {
            CallPart::Shell | CallPart::Code if text.len() > JUDGED_BYTES_MAX => {
                let what = format!("more than {JUDGED_BYTES_MAX} bytes");
                judge.deny(Harm::Unreadable, what);
            }
            CallPart::Folder => judge.cwd = judge.resolved(text).unwrap_or_default(),
            CallPart::Shell => judge.script(text),
            CallPart::Code => judge.code(text),
            CallPart::Read => judge.reading(text),
            CallPart::Write => judge.writing(text),
        }
    }
    judge.found.sort();
    judge.found.dedup();
    judge.found
}

/// Whether a call may change files: whatever isn't known to only read.
#[must_use]
pub fn can_write(tool: &str, arguments: &str) -> bool {
    let parts = call_parts(tool, arguments);
    let only_reads = |(part, text): &(CallPart, String)| match part {
        CallPart::Folder | CallPart::Read => true,
        CallPart::Shell => {
            let is_reading = |command: &ShellCommand| {
                let mut files = command.writes.iter().filter(|it| !it.starts_with("/dev/"));
                files.next().is_none()
                    && command.scripts.is_empty()
                    && classify(&command.words).class == Class::Read
            };
            text.len() <= JUDGED_BYTES_MAX && read_line(text).iter().all(is_reading)
        }
        CallPart::Code | CallPart::Write => false,
    };
    let tool = tool.to_ascii_lowercase();
    let name = tool.rsplit("__").next().unwrap_or(&tool);
    let is_reader = names(READING_TOOLS).any(|word| name.starts_with(word))
        && !holds_any(WRITING_TOOLS, name)
        || parts.iter().any(|(part, _)| *part == CallPart::Shell);
    !is_reader || !parts.iter().all(only_reads)
}

/// Whether a call changes the files that it names and no others: it has paths to write, and nothing that is run.
#[must_use]
pub fn writes_named_alone(tool: &str, arguments: &str) -> bool {
    let parts = call_parts(tool, arguments);
    let is = |wanted: CallPart| parts.iter().any(|(part, _)| *part == wanted);
    is(CallPart::Write) && !is(CallPart::Shell) && !is(CallPart::Code)
}

/// Whether one of the tools of a request's JSON reads files, by its shape: it takes a command line, or a path and nothing to write
/// there. A tool without a schema is known by its name.
#[must_use]
pub fn reads_files(tools: &str) -> bool {
    let tools: Value = serde_json::from_str(tools).unwrap_or_default();
    let mut tools = tools.as_array().into_iter().flatten();
    tools.any(|tool| {
        let function = tool.get("function").unwrap_or(tool);
        let word = |value: &Value| value.as_str().unwrap_or_default().to_ascii_lowercase();
        let (name, kind) = (word(&function["name"]), word(&tool["type"]));
        let schemas = [
            "parameters",
            "input_schema",
            "inputSchema",
            "parametersJsonSchema",
        ];
        let schema = schemas.iter().find_map(|key| function.get(key));
        let mut members = Vec::new();
        schema
            .into_iter()
            .for_each(|it| collect_members(it, &mut members));
        let has = |is_meant: &dyn Fn(&str) -> bool| members.iter().any(|(name, _)| is_meant(name));
        let is_terminal = holds_any(TERMINAL_TOOLS, &name) || holds_any(TERMINAL_TOOLS, &kind);
        let takes_line = has(&|it| is_line_argument(it)) || has(&|it| it == "commands");
        let takes_path = has(&|it| {
            vocabulary::PATH.contains(&it) || lists(PATH_LISTS, it) || it.ends_with("path")
        });
        // What lists names shows no file's text.
        let is_other = vocabulary::LISTING_TOOLS.contains(&&*name);
        let is_writer = has(&|it| WRITTEN_ARGUMENTS.iter().any(|words| words.contains(&it)))
            || holds_any(WRITING_TOOLS, &name);
        takes_line
            || is_terminal && has(&|it| lists(TYPED_ARGUMENTS, it))
            || !has(&|it| it == "properties")
                && (is_terminal || name.starts_with("read") || name.starts_with("view"))
            || takes_path && !is_writer && !is_other
            || kind.starts_with("text_editor")
    })
}

fn is_line_argument(name: &str) -> bool {
    vocabulary::COMMAND_LINE.contains(&name) || lists(LINE_ARGUMENTS, name)
}

fn is_path_argument(name: &str) -> bool {
    vocabulary::PATH.contains(&name) || lists(PATH_ARGUMENTS, name)
}

/// How many builds and how many test runs a call of the client's asks for; a test run is no build.
#[must_use]
pub fn builds_and_tests(tool: &str, arguments: &str) -> (u32, u32) {
    let (mut builds, mut tests) = (0, 0);
    let parts = call_parts(tool, arguments).into_iter();
    let scripts =
        parts.filter(|(part, text)| *part == CallPart::Shell && text.len() <= JUDGED_BYTES_MAX);
    for command in scripts.flat_map(|(_, text)| read_line(&text)) {
        let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
        let launched = launched(&words).into_iter().map(String::from).collect();
        // `npm run build` is a build as it is written.
        let mut readings = [command.words, launched].into_iter();
        let Some(words) = readings.find(|it| classify(it).class == Class::Build) else {
            continue;
        };
        let is_test = |word: &String| lists(TEST_WORDS, word) || word.contains("test");
        let words = words.iter();
        let mut first = words.take_while(|word| !word.contains('=')).take(3);
        match first.any(is_test) {
            true => tests += 1,
            false => builds += 1,
        }
    }
    (builds, tests)
}

/// What a command's input comes from.
#[derive(Clone, Default)]
enum Source {
    #[default]
    Unknown,
    /// Another machine, or an encoded text.
    Hidden,
    /// A text that the line itself holds.
    Text(String),
    /// Paths under these folders.
    Paths(Vec<String>),
    /// All variables.
    Environment,
}

/// One command, without what only runs it.
struct Invocation<'w> {
    /// The program's name alone, in lower case.
    program: String,
    arguments: &'w [&'w str],
    /// The arguments that are no options.
    operands: Vec<&'w str>,
    /// The command as it stands in the line.
    command: &'w ShellCommand,
}

impl<'w> Invocation<'w> {
    fn new(words: &'w [&'w str], command: &'w ShellCommand) -> Option<Self> {
        let (program, arguments) = words.split_first()?;
        let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
        let name = name.to_ascii_lowercase();
        let operands = arguments.iter().filter(|it| !it.starts_with('-'));
        Some(Self {
            program: name.trim_end_matches(".exe").into(),
            operands: operands.copied().collect(),
            arguments,
            command,
        })
    }

    /// Whether one of these arguments is given.
    fn has(&self, arguments: &'static str) -> bool {
        self.arguments.iter().any(|it| lists(arguments, it))
    }

    /// Whether an argument begins with one of these.
    fn has_beginning(&self, beginnings: &'static str) -> bool {
        let mut arguments = self.arguments.iter();
        arguments.any(|it| names(beginnings).any(|beginning| it.starts_with(beginning)))
    }

    /// Whether one of these letters is among the short options.
    fn has_letter(&self, letters: &[char]) -> bool {
        let options = self.arguments.iter().filter(|it| it.starts_with('-'));
        let mut short = options.filter(|it| !it.starts_with("--"));
        short.any(|it| it.contains(letters))
    }

    /// The value of an option, attached or not.
    fn value_of(&self, options: &'static str) -> Option<&'w str> {
        let mut arguments = self.arguments.iter();
        let at = arguments.position(|it| lists(options, it));
        let apart = at.and_then(|at| self.arguments.get(at + 1).copied());
        apart.or_else(|| {
            let mut assigned = self.arguments.iter().filter_map(|it| it.split_once('='));
            let value = assigned.find(|(name, _)| name.starts_with("--") && lists(options, name));
            value.map(|(_, value)| value)
        })
    }

    /// The folders that a search begins in, each once.
    fn roots(&self) -> Vec<&'w str> {
        let is_folder = |it: &&&str| !it.starts_with(['-', '(', '!']);
        let roots = self.arguments.iter().take_while(is_folder);
        let mut roots: Vec<&str> = roots.copied().collect();
        roots.sort_unstable();
        roots.dedup();
        roots
    }

    /// The files that operands and values of options have it write.
    fn written(&self) -> Vec<&'w str> {
        let operands = self.operands.iter().copied();
        let value_of = |options| self.value_of(options).into_iter();
        match &*self.program {
            "chmod" | "chown" | "chgrp" | "chattr" | "setfacl" => operands.skip(1).collect(),
            "cp" | "ln" | "install" | "scp" | "rsync" => {
                let target = self.value_of("-t --target-directory").or(operands.last());
                // What names another machine isn't a path here.
                let path = target.into_iter().filter(|path| !path.contains(':'));
                path.collect()
            }
            "dd" => {
                let files = self.arguments.iter().map(|it| it.strip_prefix("of="));
                files.flatten().collect()
            }
            program @ ("sed" | "gsed" | "perl") => {
                let is_edit = match program {
                    "perl" => self.has_beginning("-i -pi -ni"),
                    _ => self.has_letter(&['i']) || self.has("--in-place"),
                };
                let script = usize::from(!self.has("-e --expression -f"));
                operands.skip(script).filter(|_| is_edit).collect()
            }
            "tar" | "unzip" | "7z" => value_of("-C --directory -d").collect(),
            program if lists(DOWNLOADERS, program) => {
                let file = value_of(DOWNLOAD_TARGETS);
                let file = file.filter(|path| !path.starts_with("http") && *path != "-");
                let folder = value_of("-P --directory-prefix --output-dir");
                file.chain(folder).collect()
            }
            program if lists(WRITERS, program) || program.starts_with("mkfs") => operands.collect(),
            _ => Vec::new(),
        }
    }
}

struct ClientJudge<'j> {
    jail: &'j Jail,
    /// The folder where the call has got to.
    cwd: String,
    /// Files that it has downloaded.
    fetched: Vec<String>,
    found: Vec<HarmFound>,
    /// How many scripts the one under way is in.
    depth: u32,
}

impl ClientJudge<'_> {
    fn deny(&mut self, harm: Harm, what: impl Into<String>) {
        self.found.push((harm, what.into()));
    }

    /// Judges what is in a script.
    fn nested(&mut self, judge: impl FnOnce(&mut Self)) {
        if self.depth > DEPTH_MAX {
            return self.deny(Harm::Unreadable, "scripts in scripts");
        }
        self.depth += 1;
        judge(self);
        self.depth -= 1;
    }

    /// The absolute path that a word names; `None` if it begins with what isn't known.
    fn resolved(&self, word: &str) -> Option<String> {
        let home = &self.jail.home;
        match word.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                Some(absolute_path(rest.trim_start_matches('/'), home))
            }
            Some(_) => Some(format!("/home/{}", &word[1..])),
            None if word.starts_with('$') => None,
            None => Some(absolute_path(word.trim_start_matches("file://"), &self.cwd)),
        }
    }

    fn writing(&mut self, word: &str) {
        let Some(path) = self.resolved(word) else {
            return;
        };
        let Jail { home, locked, .. } = self.jail;
        let is_at = |folder: &String| is_within(&path, folder);
        let is_git = |part: &str| path.contains(part) || path.ends_with(part.trim_end_matches('/'));
        let is_protected = self.jail.protected.iter().any(is_at)
            || names(GIT_FILES).any(is_git)
            || !home.is_empty() && names(START_FILES).any(|name| is_at(&absolute_path(name, home)));
        let is_inside = is_at(&self.jail.root);
        if is_protected {
            self.deny(Harm::Protected, format!("{path} is protected"));
        } else if !is_inside && !names(SCRATCH).any(|folder| is_within(&path, folder)) {
            self.deny(Harm::Outside, format!("{path} is outside of the workspace"));
        } else if !locked.is_empty() && is_inside && !locked.contains(&path) {
            let what = format!("the user has locked other files than {path}");
            self.deny(Harm::Locked, what);
        }
    }

    /// Deleting a file, or a folder with all that is in it.
    fn deleting(&mut self, word: &str, is_deep: bool) {
        let path = self.resolved(word).filter(|_| is_deep);
        // `*` stands for all that a folder holds.
        let all = path.as_ref().and_then(|path| path.split_once("/*"));
        let all = all.filter(|(_, rest)| rest.trim_matches(['*', '.', '/']).is_empty());
        let Some(target) = all.map(|(folder, _)| folder).or(path.as_deref()) else {
            return self.writing(word);
        };
        let Jail { root, home, .. } = self.jail;
        let is_whole = |folder: &&String| !folder.is_empty() && is_within(folder, target);
        if [root, home].iter().any(is_whole) || matches!(target, "" | "/") {
            self.deny(Harm::Everything, format!("it deletes all of {target}/"));
        } else if target == format!("{root}/.git") {
            self.deny(Harm::History, "it deletes the repository's history");
        } else {
            self.writing(word);
        }
    }

    fn reading(&mut self, word: &str) {
        let pieces = word
            .split(['=', '@', ','].as_slice())
            .filter(|piece| !piece.is_empty());
        let mut paths = pieces.filter_map(|piece| self.resolved(piece));
        if let Some(path) = paths.find(|path| is_credential(path, &self.jail.home)) {
            self.deny(Harm::Credential, format!("{path} holds credentials"));
        }
    }

    /// A script in a shell's language.
    fn script(&mut self, script: &str) {
        self.nested(|judge| {
            let mut source = Source::default();
            for command in read_line(script) {
                if command.join != Some(Join::Pipe) {
                    judge.printed(&core::mem::take(&mut source));
                }
                source = judge.command(&command, source);
            }
            judge.printed(&source);
        });
    }

    /// What a pipeline gives isn't read by anybody else.
    fn printed(&mut self, source: &Source) {
        if matches!(source, Source::Environment) {
            self.deny(Harm::Credential, "all of the environment is printed");
        }
    }

    /// One command; returns what the next one of a pipeline reads.
    fn command(&mut self, command: &ShellCommand, source: Source) -> Source {
        for script in &command.scripts {
            let cwd = self.cwd.clone();
            self.script(script);
            self.cwd = cwd;
        }
        command.writes.iter().for_each(|path| self.writing(path));
        command.reads.iter().for_each(|path| self.reading(path));
        let source = match &*command.input {
            "" => source,
            text => Source::Text(text.to_string()),
        };
        let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
        self.words(&words, command, source)
    }

    fn words(&mut self, words: &[&str], command: &ShellCommand, source: Source) -> Source {
        let Some(call) = Invocation::new(without_wrappers(words), command) else {
            return source;
        };
        let (program, operands) = (&*call.program, &call.operands);
        self.credentials(&call, &source);
        call.written().iter().for_each(|path| self.writing(path));
        if lists(SHELLS, program) || lists(INTERPRETERS, program) {
            self.interpreter(&call, &source);
            return source;
        }
        match program {
            "cd" | "pushd" | "chdir" | "set-location" => {
                let to = operands.first().copied().unwrap_or("~");
                self.cwd = self.resolved(to).unwrap_or_else(|| self.cwd.clone());
            }
            "rm" | "rmdir" | "unlink" | "shred" | "del" | "remove-item" | "rimraf" | "trash" => {
                let is_deep = program == "rimraf"
                    || call.has_letter(&['r', 'R'])
                    || call.has("--recursive -Recurse -recurse");
                operands
                    .iter()
                    .for_each(|path| self.deleting(path, is_deep));
                if let Source::Paths(roots) = &source {
                    roots.iter().for_each(|path| self.deleting(path, is_deep));
                }
            }
            "find" => self.find(&call),
            "git" => self.git(&call),
            "bfg" | "git-filter-repo" => {
                self.deny(Harm::History, format!("{program} rewrites history"));
            }
            "crontab" if !call.has("-l") => {
                self.deny(Harm::Protected, "a crontab runs later by itself");
            }
            "apply_patch" | "patch" => {
                let typed = call.arguments.join("\n");
                let patch = match &source {
                    Source::Text(text) => text,
                    _ => &typed,
                };
                patched_paths(patch).iter().for_each(|it| self.writing(it));
            }
            "tslp"
                if matches!(operands[..], [verb, ..] if lists(OPERATOR_VERBS, verb))
                    || matches!(operands[..], ["tool", verb, ..] if lists(OPERATOR_TOOL_VERBS, verb)) =>
            {
                self.deny(Harm::Proxy, "only the user decides what tslp does");
            }
            "kill" | "pkill" | "killall" | "systemctl" | "service" | "docker" | "podman"
            | "launchctl" | "taskkill" => {
                let scripts = command.scripts.iter().map(String::as_str);
                let mut named = scripts.chain(call.arguments.iter().copied());
                let verb = operands.first();
                let is_harmless = verb.is_some_and(|verb| lists(HARMLESS_VERBS, verb));
                if !is_harmless && named.any(|it| it.to_ascii_lowercase().contains("tslp")) {
                    self.deny(Harm::Proxy, format!("{program} would end the proxy"));
                }
            }
            _ => {}
        }
        self.output_of(&call, source)
    }

    /// What a command prints, for the next one.
    fn output_of(&mut self, call: &Invocation<'_>, source: Source) -> Source {
        let arguments = call.arguments;
        match &*call.program {
            "echo" | "printf" => Source::Text(call.operands.join(" ")),
            "env" | "printenv" if arguments.is_empty() => Source::Environment,
            "export" | "declare" if arguments == ["-p"] => Source::Environment,
            "cat" if arguments.is_empty() => source,
            "base64" | "xxd" | "openssl" | "uudecode" | "base32" => Source::Hidden,
            "find" | "ls" | "fd" => {
                Source::Paths(call.roots().into_iter().map(String::from).collect())
            }
            program if lists(DOWNLOADERS, program) => {
                let mut urls = call.operands.iter().rev();
                let url_name = urls.find_map(|url| url.rsplit('/').next());
                let files = call.value_of(DOWNLOAD_TARGETS).into_iter().chain(url_name);
                let files = files.chain(call.command.writes.iter().map(String::as_str));
                let files: Vec<String> = files.filter_map(|file| self.resolved(file)).collect();
                self.fetched.extend(files);
                Source::Hidden
            }
            _ if matches!(source, Source::Environment) => Source::Unknown,
            _ => source,
        }
    }

    fn interpreter(&mut self, call: &Invocation<'_>, source: &Source) {
        let program = &*call.program;
        let file = call.operands.first();
        let path = file.and_then(|file| self.resolved(file));
        let runs_fetched = path.is_some_and(|file| self.fetched.contains(&file));
        if runs_fetched || call.command.scripts.iter().any(|script| downloads(script)) {
            let what = format!("{program} runs what was downloaded");
            self.deny(Harm::Download, what);
        }
        let is_option = |it: &&str| {
            let letters = it.strip_prefix('-').filter(|it| it.len() < 5);
            let letters = letters.filter(|it| !it.starts_with('-'));
            letters.is_some_and(|letters| letters.ends_with(['c', 'e', 'E', 'r']))
                || lists("--eval --command --print -p", it)
        };
        let script = match program {
            "eval" | "iex" | "invoke-expression" => Some(call.arguments.join(" ")),
            _ => {
                let at = call.arguments.iter().position(is_option);
                let script = at.and_then(|at| call.arguments.get(at + 1));
                script.map(|it| (*it).to_string())
            }
        };
        let reads_input = script.is_none() && (file.is_none() || call.has("- -s"));
        if reads_input && matches!(source, Source::Hidden) {
            let what = format!("{program} runs what was downloaded or decoded");
            self.deny(Harm::Download, what);
        }
        let text = match source {
            Source::Text(text) if reads_input => Some(text),
            _ => script.as_ref(),
        };
        match text {
            Some(text) if lists(SHELLS, program) => self.script(text),
            Some(text) => self.code(text),
            None => {}
        }
    }

    fn find(&mut self, call: &Invocation<'_>) {
        let roots = call.roots();
        let is_filtered = call.has(FIND_FILTERS);
        if call.has("-delete") {
            roots
                .iter()
                .for_each(|root| self.deleting(root, !is_filtered));
        }
        let mut arguments = call.arguments.iter().copied();
        if !arguments.any(|it| lists("-exec -execdir -ok -okdir", it)) {
            return;
        }
        if roots.len() * call.arguments.len() > JUDGED_BYTES_MAX {
            return self.deny(Harm::Unreadable, "a search of too many folders");
        }
        // A filtered search finds files in the folder, not the folder.
        let is_workspace = |root: &&str| self.resolved(root).as_ref() == Some(&self.jail.root);
        let is_deep = !is_filtered && roots.iter().any(is_workspace);
        let run = arguments.take_while(|it| !matches!(*it, ";" | "+"));
        let run = run.filter(|it| is_deep || !lists("-rf -r -fr", it));
        // For all folders at once: searches that run searches would be judged for each folder of each.
        let mut words: Vec<&str> = Vec::new();
        for word in run {
            match word {
                "{}" => words.extend(&roots),
                word => words.push(word),
            }
        }
        self.nested(|judge| {
            judge.words(&words, call.command, Source::default());
        });
    }

    fn git(&mut self, call: &Invocation<'_>) {
        let cwd = self.cwd.clone();
        let mut rest = call.arguments;
        while let [option, tail @ ..] = rest {
            rest = match (*option, tail) {
                ("-C", [folder, tail @ ..]) => {
                    self.cwd = self.resolved(folder).unwrap_or_default();
                    tail
                }
                ("-c" | "--git-dir" | "--work-tree" | "--namespace", [_, tail @ ..]) => tail,
                (option, tail) if option.starts_with('-') => tail,
                _ => break,
            };
        }
        if let Some(call) = Invocation::new(rest, call.command) {
            self.git_command(&call);
        }
        self.cwd = cwd;
    }

    fn git_command(&mut self, call: &Invocation<'_>) {
        let (verb, operands) = (&*call.program, &call.operands);
        let is_shared = |it: &&str| lists(SHARED_BRANCHES, it.trim_start_matches("refs/heads/"));
        let rewrites = match verb {
            "push" => {
                call.has_letter(&['f', 'd'])
                    || call.has_beginning("--force --mirror --delete --prune")
                    || operands.iter().skip(1).any(|it| it.starts_with(['+', ':']))
            }
            "filter-branch" | "filter-repo" => true,
            "reflog" => matches!(operands.first(), Some(&("expire" | "delete"))),
            "branch" => {
                let is_forced = call.has_beginning("--delete --force");
                (is_forced || call.has_letter(&['D', 'd', 'f', 'M']))
                    && operands.iter().any(is_shared)
            }
            "update-ref" => call.has_letter(&['d']) && operands.iter().any(is_shared),
            _ => false,
        };
        if rewrites {
            let arguments = call.arguments.join(" ");
            let what = format!("`git {verb} {arguments}` rewrites history that others have");
            self.deny(Harm::History, what);
        }
        match verb {
            "config" if !call.has_beginning("--get --list") && !call.has_letter(&['l']) => {
                let key = operands.first().filter(|_| operands.len() > 1);
                let key = key.map_or(String::new(), |key| key.to_ascii_lowercase());
                if names(RUNNING_KEYS).any(|it| key.starts_with(it)) {
                    let what = format!("git's `{key}` runs programs later by itself");
                    self.deny(Harm::Protected, what);
                }
            }
            "clone" => operands
                .iter()
                .skip(1)
                .take(1)
                .for_each(|it| self.writing(it)),
            "credential" => self.deny(Harm::Credential, "git's credentials are printed"),
            _ => {}
        }
    }

    /// Whether a command reads credentials from files, or prints them.
    fn credentials(&mut self, call: &Invocation<'_>, source: &Source) {
        let (program, operands) = (&*call.program, &call.operands);
        if !lists(SHOWS_NOTHING, program) {
            let written = usize::from(matches!(program, "cp" | "install" | "tee"));
            let shown = call.arguments.len().saturating_sub(written);
            call.arguments[..shown]
                .iter()
                .for_each(|it| self.reading(it));
        }
        let line = format!("{program} {}", operands.join(" "));
        if names(CREDENTIAL_COMMANDS).any(|begins| line.starts_with(begins)) {
            self.deny(Harm::Credential, format!("`{line}` prints credentials"));
        }
        let mut variables = call.command.variables.iter().map(String::as_str);
        let printed = match program {
            "echo" | "printf" | "cat" | "tee" | "print" => variables.find(|it| is_secret_name(it)),
            "printenv" => operands.iter().copied().find(|it| is_secret_name(it)),
            _ => None,
        };
        if let Some(name) = printed {
            self.deny(Harm::Credential, format!("{name} is printed"));
        }
        let pattern = operands.first().map(|pattern| pattern.to_ascii_uppercase());
        let finds_secret = pattern.is_none_or(|it| holds_any(SECRET_WORDS, &it));
        if finds_secret || !lists("grep rg egrep ag", program) {
            self.printed(source);
        }
    }

    /// A program in another language: its texts as paths and command lines.
    fn code(&mut self, code: &str) {
        self.nested(|judge| {
            let lines = code.lines().map(str::trim_start);
            for line in lines.filter_map(|line| line.strip_prefix('!')) {
                judge.script(line);
            }
            let texts = texts_of(code);
            judge.code_paths(code, &texts);
            if holds_any(RUNNING_CALLS, code) {
                // Texts that follow each other: one is a command line, several are a command's words.
                for words in texts.chunk_by(|_, (_, goes_on)| *goes_on) {
                    let words: Vec<&str> = words.iter().map(|(text, _)| *text).collect();
                    match words[..] {
                        [line] => judge.script(line),
                        _ => judge.script(&line_of(&words)),
                    }
                }
            }
            if holds_any(FETCHING_CALLS, code) && holds_any("exec( eval( Function(", code) {
                judge.deny(Harm::Download, "it runs what it downloads");
            }
            let is_name = |c: char| c.is_alphanumeric() || c == '_';
            let members = code.split("process.env.").skip(1);
            let members =
                members.map(|rest| rest.split(|c| !is_name(c)).next().unwrap_or_default());
            let mut named = texts.iter().map(|(text, _)| *text).chain(members);
            let prints = holds_any("print|console.log|puts |echo ", code)
                && holds_any("environ getenv process.env ENV[", code);
            if holds_any(PRINTS_ENVIRONMENT, code) || prints && named.any(is_secret_name) {
                judge.deny(Harm::Credential, "variables with credentials are printed");
            }
        });
    }

    /// The texts of a program that may be paths.
    fn code_paths(&mut self, code: &str, texts: &[(&str, bool)]) {
        let deletes = holds_any(DELETING_CALLS, code);
        let is_mode = |text: &str| lists("w a x wb ab w+ a+ r+", text);
        let writes = holds_any(WRITING_CALLS, code)
            || code.contains("open(") && texts.iter().any(|(text, _)| is_mode(text));
        let in_home = holds_any("Path.home() homedir() expanduser", code);
        let is_path = |text: &&str| {
            let is_short = text.len() < 512 && !text.contains(['\n', ' ']) && !text.is_empty();
            is_short && !lists("w a r utf-8 utf8", text)
        };
        for text in texts.iter().map(|(text, _)| *text).filter(is_path) {
            let of_home = in_home && !text.starts_with(['/', '~']);
            let of_home = of_home.then(|| format!("~/{text}"));
            let is_file = text.contains(['/', '.']) || text.starts_with('~');
            for path in [Some(text), of_home.as_deref()].into_iter().flatten() {
                self.reading(path);
                if deletes {
                    self.deleting(path, true);
                } else if writes && is_file {
                    self.writing(path);
                }
            }
        }
        if deletes && code.contains("Path.home()") {
            self.deleting("~", true);
        }
    }
}

/// Whether a script fetches something.
fn downloads(script: &str) -> bool {
    read_line(script).iter().any(|command| {
        let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
        without_wrappers(&words)
            .first()
            .is_some_and(|program| lists(DOWNLOADERS, program))
    })
}

/// A command without words of the shell's own and programs in front of it that only run it.
fn without_wrappers<'w, 's>(words: &'w [&'s str]) -> &'w [&'s str] {
    let mut rest = words;
    while let [program, tail @ ..] = rest {
        let name = program.rsplit('/').next().unwrap_or(program);
        if KEYWORDS.contains(&name) || matches!(name, "{" | "}" | "!") {
            rest = tail;
            continue;
        }
        if !lists(WRAPPERS, name) || tail.is_empty() {
            break;
        }
        let mut after = tail;
        while let [word, tail @ ..] = after {
            let takes_value = lists("-u -g -n -I -P -L -d -k -s -C -a", word);
            let is_setting = name == "env" && word.contains('=');
            let is_duration = word.starts_with(|c: char| c.is_ascii_digit());
            match () {
                () if takes_value && !tail.is_empty() => after = &tail[1..],
                () if word.starts_with('-') || is_setting || is_duration => after = tail,
                () => break,
            }
        }
        if after.is_empty() {
            break;
        }
        rest = after;
    }
    rest
}

/// The command that a launcher such as `npx`, `uv run` or `./venv/bin/pytest` runs: its program's name alone, and its arguments.
fn launched<'s>(words: &[&'s str]) -> Vec<&'s str> {
    let mut rest = without_wrappers(words);
    while let [program, after @ ..] = rest {
        let name = program.rsplit('/').next().unwrap_or(program);
        let mut after = after;
        match after.first() {
            _ if lists(LAUNCHERS, name) => {}
            Some(verb) if lists(LAUNCHING_TOOLS, name) && lists(LAUNCHING_VERBS, verb) => {
                after = &after[1..];
            }
            _ => break,
        }
        while let [option, tail @ ..] = after
            && option.starts_with('-')
        {
            let takes_value = lists(LAUNCHER_OPTIONS, option) && !tail.is_empty();
            after = if takes_value { &tail[1..] } else { tail };
        }
        if after.is_empty() {
            break;
        }
        rest = without_wrappers(after);
    }
    let mut launched = rest.to_vec();
    if let Some(program) = launched.first_mut() {
        *program = program.rsplit('/').next().unwrap_or(program);
    }
    launched
}

/// The texts in quotes of a program, and whether only a comma is between each and the one before.
fn texts_of(code: &str) -> Vec<(&str, bool)> {
    let mut texts = Vec::new();
    let (mut at, mut end) = (0, 0);
    while let Some(found) = code[at..].find(['"', '\'', '`']) {
        let start = at + found;
        let quote = &code[start..=start];
        let triple = [quote; 3].concat();
        let mark: &str = if code[start..].starts_with(&triple) {
            &triple
        } else {
            quote
        };
        let inner = start + mark.len();
        let mut close = inner;
        loop {
            match code[close..].find(mark) {
                Some(offset) if code[..close + offset].ends_with('\\') => close += offset + 1,
                Some(offset) => break close += offset,
                None => return texts,
            }
        }
        let goes_on = !texts.is_empty() && code[end..start].trim() == ",";
        texts.push((&code[inner..close], goes_on));
        end = close + mark.len();
        at = end;
    }
    texts
}

/// Whether a variable's name says that it holds a credential.
fn is_secret_name(name: &str) -> bool {
    let is_constant = name.len() > 3
        && name
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    is_constant && (holds_any(SECRET_WORDS, name) || name.ends_with("_KEY"))
}

/// Whether a file holds credentials, by its name and place.
fn is_credential(path: &str, home: &str) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_example = names(".example .sample .template .dist").any(|end| name.ends_with(end));
    let is_settings = name == ".env" || name.starts_with(".env.") && !is_example;
    let in_folder = |of: &str| folder.ends_with(of) || folder.contains(&format!("{of}/"));
    let is_public =
        name.ends_with(".pub") || matches!(name, "known_hosts" | "config" | "authorized_keys");
    let in_home = path.strip_prefix(home).filter(|_| !home.is_empty());
    is_settings
        || lists(CREDENTIAL_NAMES, name)
        || (in_folder("/.ssh") || path.ends_with("/.ssh")) && !is_public
        || in_folder("/.gnupg")
        || in_home.is_some_and(|rest| lists(HOME_CREDENTIALS, rest.trim_start_matches('/')))
        || path.starts_with("/proc/") && name == "environ"
        || matches!(path, "/etc/shadow" | "/etc/gshadow" | "/etc/sudoers")
}
