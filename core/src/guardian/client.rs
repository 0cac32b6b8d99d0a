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
use super::{Class, CommandTable, Join};
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
        /// Writing or deleting outside of the workspace, or all of it.
        Outside = "OUTSIDE-WRITE",
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

/// Why a call is denied: the harm, and what does it.
pub type HarmFound = (Harm, String);

/// The parts of a call that are judged, in the order of its arguments; the folder comes first.
#[must_use]
pub fn call_parts(tool: &str, arguments: &str) -> Vec<(CallPart, String)> {
    let mut parts = Vec::new();
    let tool = tool.to_ascii_lowercase();
    // What comes after an object, such as one brace too many, is none of it to some clients.
    let mut values = serde_json::Deserializer::from_str(arguments).into_iter::<Value>();
    let read = match arguments.trim_start().starts_with('{') {
        true => values.next().and_then(Result::ok),
        false => serde_json::from_str(arguments).ok(),
    };
    match read {
        Some(value @ Value::String(_)) => collect_part(&tool, "input", &value, false, &mut parts),
        Some(value) => {
            let has = |words: &[&str]| words.iter().any(|word| has_key(&value, word));
            let editor = value.get("command").and_then(Value::as_str);
            let is_editor =
                has_key(&value, "path") && editor.is_some_and(|word| lists(EDITOR_COMMANDS, word));
            let writes = has(vocabulary::CONTENT)
                || has(vocabulary::NEW)
                || has(vocabulary::NEW_WITHOUT_OLD)
                || has(vocabulary::EDITS)
                || has(vocabulary::DIFF)
                || has(vocabulary::PATCH)
                || has(&["insert_text", "new_source", "destination", "new_path"])
                || is_editor && editor != Some("view")
                || !is_editor && holds_any(WRITING_TOOLS, &tool);
            collect_parts(&tool, &value, writes, is_editor, &mut parts);
        }
        // A call that no JSON holds is a command line or a patch to clients that take one.
        None => collect_part(&tool, "input", &arguments.into(), false, &mut parts),
    }
    parts.sort_by_key(|(part, _)| *part != CallPart::Folder);
    parts
}

fn has_key(value: &Value, key: &str) -> bool {
    match value {
        Value::Object(fields) => fields
            .iter()
            .any(|(name, value)| name == key || has_key(value, key)),
        Value::Array(items) => items.iter().any(|item| has_key(item, key)),
        _ => false,
    }
}

fn collect_parts(
    tool: &str,
    value: &Value,
    writes: bool,
    is_editor: bool,
    parts: &mut Vec<(CallPart, String)>,
) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                if !(is_editor && name == "command") {
                    collect_part(tool, name, value, writes, parts);
                }
                if value.is_object() || value.is_array() {
                    collect_parts(tool, value, writes, is_editor, parts);
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                collect_parts(tool, item, writes, is_editor, parts);
            }
        }
        _ => {}
    }
}

fn collect_part(
    tool: &str,
    name: &str,
    value: &Value,
    writes: bool,
    parts: &mut Vec<(CallPart, String)>,
) {
    let is_terminal = holds_any(TERMINAL_TOOLS, tool);
    let is_line = vocabulary::COMMAND_LINE.contains(&name)
        || lists(LINE_ARGUMENTS, name)
        || is_terminal && lists(TYPED_ARGUMENTS, name);
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
    } else if vocabulary::PATH.contains(&name) || lists(PATH_ARGUMENTS, name) {
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
    };
    for (part, text) in parts {
        match part {
            CallPart::Shell | CallPart::Code if text.len() > JUDGED_BYTES_MAX => {
                judge.deny(
                    Harm::Unreadable,
                    format!("more than {JUDGED_BYTES_MAX} bytes"),
                );
            }
            CallPart::Folder => judge.cwd = judge.resolved(text).unwrap_or_default(),
            CallPart::Shell => judge.script(text, 0),
            CallPart::Code => judge.code(text, 0),
            CallPart::Read => judge.reading(text),
            CallPart::Write => judge.writing(text),
        }
    }
    judge.found.sort();
    judge.found.dedup();
    judge.found
}

/// How many builds and how many test runs a call of the client's asks for; a test run is no build.
#[must_use]
pub fn builds_and_tests(tool: &str, arguments: &str, table: &CommandTable) -> (u32, u32) {
    let (mut builds, mut tests) = (0, 0);
    let parts = call_parts(tool, arguments).into_iter();
    let scripts =
        parts.filter(|(part, text)| *part == CallPart::Shell && text.len() <= JUDGED_BYTES_MAX);
    for command in scripts.flat_map(|(_, text)| read_line(&text)) {
        if table.classify(&command.words).class != Class::Build {
            continue;
        }
        let is_test = |word: &String| lists(TEST_WORDS, word) || word.contains("test");
        match command
            .words
            .iter()
            .take_while(|word| !word.contains('='))
            .take(3)
            .any(is_test)
        {
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

struct ClientJudge<'j> {
    jail: &'j Jail,
    /// The folder where the call has got to.
    cwd: String,
    /// Files that it has downloaded.
    fetched: Vec<String>,
    found: Vec<HarmFound>,
}

impl ClientJudge<'_> {
    fn deny(&mut self, harm: Harm, what: String) {
        self.found.push((harm, what));
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
        let home = self.jail.home.clone();
        let in_home = |name: &str| is_within(&path, &absolute_path(name, &home));
        let is_protected = self
            .jail
            .protected
            .iter()
            .any(|folder| is_within(&path, folder))
            || names(GIT_FILES)
                .any(|part| path.contains(part) || path.ends_with(part.trim_end_matches('/')))
            || !home.is_empty() && names(START_FILES).any(in_home);
        if is_protected {
            self.deny(Harm::Protected, format!("{path} is protected"));
        } else if !is_within(&path, &self.jail.root) && !is_scratch(&path) {
            self.deny(Harm::Outside, format!("{path} is outside of the workspace"));
        } else if !self.jail.locked.is_empty()
            && is_within(&path, &self.jail.root)
            && !self.jail.locked.contains(&path)
        {
            self.deny(
                Harm::Locked,
                format!("the user has locked other files than {path}"),
            );
        }
    }

    /// Deleting a folder with all that is in it.
    fn deleting(&mut self, word: &str) {
        let Some(path) = self.resolved(word) else {
            return;
        };
        // `*` stands for all that a folder holds.
        let all = path
            .split_once("/*")
            .map(|(folder, rest)| (folder, rest.trim_matches(['*', '.', '/'])));
        let target = match all {
            Some((folder, "")) => folder,
            _ => &*path,
        };
        let whole = [&self.jail.root, &self.jail.home];
        let is_whole = |folder: &&String| !folder.is_empty() && is_within(folder, target);
        if whole.iter().any(is_whole) || target.is_empty() || target == "/" {
            self.deny(Harm::Outside, format!("it deletes all of {target}/"));
        } else if target == format!("{}/.git", self.jail.root) {
            self.deny(Harm::History, "it deletes the repository's history".into());
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
    fn script(&mut self, script: &str, depth: u32) {
        if depth > DEPTH_MAX {
            return self.deny(Harm::Unreadable, "scripts in scripts".into());
        }
        let mut source = Source::default();
        for command in read_line(script) {
            if command.join != Some(Join::Pipe) {
                self.printed(&core::mem::take(&mut source));
            }
            source = self.command(&command, source, depth);
        }
        self.printed(&source);
    }

    /// What a pipeline gives isn't read by anybody else.
    fn printed(&mut self, source: &Source) {
        if matches!(source, Source::Environment) {
            self.deny(Harm::Credential, "all of the environment is printed".into());
        }
    }

    /// One command; returns what the next one of a pipeline reads.
    fn command(&mut self, command: &ShellCommand, source: Source, depth: u32) -> Source {
        for script in &command.scripts {
            let cwd = self.cwd.clone();
            self.script(script, depth + 1);
            self.cwd = cwd;
        }
        for path in &command.writes {
            self.writing(path);
        }
        for path in &command.reads {
            self.reading(path);
        }
        let source = match &*command.input {
            "" => source,
            text => Source::Text(text.to_string()),
        };
        let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
        self.words(&words, command, source, depth)
    }

    fn words(
        &mut self,
        words: &[&str],
        command: &ShellCommand,
        source: Source,
        depth: u32,
    ) -> Source {
        let words = without_wrappers(words);
        let Some((program, arguments)) = words.split_first() else {
            return source;
        };
        let program = program
            .rsplit(['/', '\\'])
            .next()
            .unwrap_or(program)
            .to_ascii_lowercase();
        let program = program.trim_end_matches(".exe");
        let operands: Vec<&str> = arguments
            .iter()
            .copied()
            .filter(|it| !it.starts_with('-'))
            .collect();
        let has = |options: &[&str]| arguments.iter().any(|it| options.contains(it));
        let short = |letter: char| {
            let mut clusters = arguments
                .iter()
                .filter(|it| it.starts_with('-') && !it.starts_with("--"));
            clusters.any(|it| it.contains(letter))
        };
        self.credentials(program, arguments, &operands, command, &source);
        let from_web = command.scripts.iter().any(|script| downloads(script));
        let is_shell = lists(SHELLS, program);
        if is_shell || lists(INTERPRETERS, program) {
            return self.interpreter(program, arguments, (from_web, is_shell), source, depth);
        }
        match program {
            "cd" | "pushd" | "chdir" | "set-location" => {
                let to = operands.first().copied().unwrap_or("~");
                self.cwd = self.resolved(to).unwrap_or_else(|| self.cwd.clone());
            }
            "rm" | "rmdir" | "unlink" | "shred" | "del" | "remove-item" | "rimraf" | "trash" => {
                let searched = match &source {
                    Source::Paths(roots) => roots.clone(),
                    _ => Vec::new(),
                };
                let is_deep =
                    short('r') || short('R') || has(&["--recursive", "-Recurse", "-recurse"]);
                for path in operands
                    .iter()
                    .copied()
                    .chain(searched.iter().map(String::as_str))
                {
                    if is_deep || matches!(program, "rimraf") {
                        self.deleting(path);
                    } else {
                        self.writing(path);
                    }
                }
            }
            "chmod" | "chown" | "chgrp" | "chattr" | "setfacl" => {
                operands.iter().skip(1).for_each(|path| self.writing(path));
            }
            "cp" | "ln" | "install" | "scp" | "rsync" => {
                let target = value_after(arguments, &["-t", "--target-directory"]);
                let target = target.or(operands.last().copied());
                // What names another machine isn't a path here.
                if let Some(path) = target.filter(|path| !path.contains(':')) {
                    self.writing(path);
                }
            }
            "dd" => {
                let files = arguments.iter().filter_map(|it| it.strip_prefix("of="));
                files.for_each(|path| self.writing(path));
            }
            "sed" | "perl" | "gsed" if short('i') || has(&["--in-place"]) => {
                let skipped = usize::from(!has(&["-e", "--expression", "-f"]));
                operands
                    .iter()
                    .skip(skipped)
                    .for_each(|path| self.writing(path));
            }
            "find" => self.find(arguments, command, depth),
            "git" => self.git(arguments),
            "bfg" | "git-filter-repo" => {
                self.deny(Harm::History, format!("{program} rewrites history"))
            }
            "tar" | "unzip" | "7z" => {
                let folder = value_after(arguments, &["-C", "--directory", "-d"]);
                folder.into_iter().for_each(|path| self.writing(path));
            }
            "crontab" if !has(&["-l"]) => {
                self.deny(Harm::Protected, "a crontab runs later by itself".into());
            }
            "apply_patch" | "patch" => {
                let text = match &source {
                    Source::Text(text) => text.clone(),
                    _ => arguments.join("\n"),
                };
                patched_paths(&text)
                    .iter()
                    .for_each(|path| self.writing(path));
            }
            "tslp" => {
                if let Some(verb) = operands.first().filter(|verb| lists(OPERATOR_VERBS, verb)) {
                    self.deny(Harm::Proxy, format!("`tslp {verb}` is the user's"));
                }
            }
            "kill" | "pkill" | "killall" | "systemctl" | "service" | "docker" | "podman"
            | "launchctl" | "taskkill" => {
                let ends = |text: &&str| text.to_ascii_lowercase().contains("tslp");
                let scripts = command.scripts.iter().map(String::as_str);
                let is_harmless = operands
                    .first()
                    .is_some_and(|verb| lists(HARMLESS_VERBS, verb));
                if !is_harmless
                    && (arguments.iter().any(ends) || scripts.clone().any(|it| ends(&it)))
                {
                    self.deny(Harm::Proxy, format!("{program} would end the proxy"));
                }
            }
            _ if lists(WRITERS, program) || program.starts_with("mkfs") => {
                operands.iter().for_each(|path| self.writing(path));
            }
            _ => {}
        }
        self.output_of(program, arguments, &operands, command, source)
    }

    /// What a command prints, for the next one.
    fn output_of(
        &mut self,
        program: &str,
        arguments: &[&str],
        operands: &[&str],
        command: &ShellCommand,
        source: Source,
    ) -> Source {
        if lists(DOWNLOADERS, program) {
            let url_name = operands.iter().rev().find_map(|url| url.rsplit('/').next());
            let target = value_after(arguments, &["-o", "--output", "-O", "--output-document"]);
            let folder = value_after(arguments, &["-P", "--directory-prefix", "--output-dir"]);
            folder.into_iter().for_each(|path| self.writing(path));
            if let Some(path) = target.filter(|path| !path.starts_with("http") && *path != "-") {
                self.writing(path);
            }
            let files = target
                .into_iter()
                .chain(url_name)
                .chain(command.writes.iter().map(String::as_str));
            let files: Vec<String> = files.filter_map(|file| self.resolved(file)).collect();
            self.fetched.extend(files);
            return Source::Hidden;
        }
        match program {
            "echo" | "printf" => Source::Text(operands.join(" ")),
            "env" | "printenv" if arguments.is_empty() => Source::Environment,
            "export" | "declare" if arguments == ["-p"] => Source::Environment,
            "cat" if arguments.is_empty() => source,
            "base64" | "xxd" | "openssl" | "uudecode" | "base32" => Source::Hidden,
            "find" | "ls" | "fd" => {
                let roots = arguments
                    .iter()
                    .take_while(|it| !it.starts_with(['-', '(', '!']));
                Source::Paths(roots.map(|it| (*it).to_string()).collect())
            }
            _ if matches!(source, Source::Environment) => Source::Unknown,
            _ => source,
        }
    }

    fn interpreter(
        &mut self,
        program: &str,
        arguments: &[&str],
        (from_web, is_shell): (bool, bool),
        source: Source,
        depth: u32,
    ) -> Source {
        let mut operands = arguments.iter().copied().filter(|it| !it.starts_with('-'));
        let file = operands.next();
        let runs_fetched = file
            .and_then(|file| self.resolved(file))
            .is_some_and(|file| self.fetched.contains(&file));
        if from_web || runs_fetched {
            self.deny(
                Harm::Download,
                format!("{program} runs what was downloaded"),
            );
        }
        let script = match program {
            "eval" | "iex" | "invoke-expression" => Some(arguments.join(" ")),
            _ => {
                let is_option = |it: &&str| {
                    let letters = it
                        .strip_prefix('-')
                        .filter(|it| !it.starts_with('-') && it.len() < 5);
                    let is_code = |letters: &str| letters.ends_with(['c', 'e', 'E', 'r']);
                    letters.is_some_and(is_code)
                        || matches!(*it, "--eval" | "--command" | "--print" | "-p")
                };
                let at = arguments.iter().position(is_option);
                at.and_then(|at| arguments.get(at + 1))
                    .map(|it| (*it).to_string())
            }
        };
        let reads_input = script.is_none()
            && (file.is_none() || arguments.contains(&"-") || arguments.contains(&"-s"));
        match (script, &source) {
            (Some(script), _) if is_shell => self.script(&script, depth + 1),
            (Some(code), _) => self.code(&code, depth + 1),
            (None, Source::Hidden) if reads_input => {
                self.deny(
                    Harm::Download,
                    format!("{program} runs what was downloaded or decoded"),
                );
            }
            (None, Source::Text(text)) if reads_input => match is_shell {
                true => self.script(&text.clone(), depth + 1),
                false => self.code(&text.clone(), depth + 1),
            },
            _ => {}
        }
        source
    }

    fn find(&mut self, arguments: &[&str], command: &ShellCommand, depth: u32) {
        let roots: Vec<&str> = arguments
            .iter()
            .copied()
            .take_while(|it| !it.starts_with(['-', '(', '!']))
            .collect();
        let is_filter = |it: &&str| lists(FIND_FILTERS, it);
        let is_filtered = arguments.iter().any(is_filter);
        if arguments.contains(&"-delete") {
            for root in &roots {
                if is_filtered {
                    self.writing(root)
                } else {
                    self.deleting(root)
                }
            }
        }
        let at = arguments
            .iter()
            .position(|it| matches!(*it, "-exec" | "-execdir" | "-ok" | "-okdir"));
        if let Some(at) = at {
            let run = arguments[at + 1..].iter().copied();
            let run: Vec<&str> = run.take_while(|it| !matches!(*it, ";" | "+")).collect();
            for root in &roots {
                let words: Vec<&str> = run
                    .iter()
                    .map(|it| if *it == "{}" { root } else { *it })
                    .collect();
                // A filtered search finds files in the folder, not the folder.
                let is_deep = !is_filtered && self.resolved(root).as_ref() == Some(&self.jail.root);
                let words: Vec<&str> = words
                    .into_iter()
                    .filter(|it| is_deep || !matches!(*it, "-rf" | "-r" | "-fr"))
                    .collect();
                self.words(&words, command, Source::default(), depth + 1);
            }
        }
    }

    fn git(&mut self, arguments: &[&str]) {
        let mut rest = arguments;
        let cwd = self.cwd.clone();
        while let [option, tail @ ..] = rest {
            match (*option, tail) {
                ("-C", [folder, tail @ ..]) => {
                    self.cwd = self.resolved(folder).unwrap_or_default();
                    rest = tail;
                }
                ("-c" | "--git-dir" | "--work-tree" | "--namespace", [_, tail @ ..]) => rest = tail,
                (option, tail) if option.starts_with('-') => rest = tail,
                _ => break,
            }
        }
        let Some((verb, arguments)) = rest.split_first() else {
            self.cwd = cwd;
            return;
        };
        let operands: Vec<&str> = arguments
            .iter()
            .copied()
            .filter(|it| !it.starts_with('-'))
            .collect();
        let short = |letter: char| {
            arguments
                .iter()
                .any(|it| it.starts_with('-') && !it.starts_with("--") && it.contains(letter))
        };
        let long = |option: &str| arguments.iter().any(|it| it.starts_with(option));
        let is_shared = || {
            operands
                .iter()
                .any(|it| lists(SHARED_BRANCHES, it.trim_start_matches("refs/heads/")))
        };
        let any_short = |letters: &str| letters.chars().any(short);
        let any_long = |options: &str| options.split(' ').any(long);
        let rewrites = match *verb {
            "push" => {
                any_short("fd")
                    || any_long("--force --mirror --delete --prune")
                    || operands.iter().skip(1).any(|it| it.starts_with(['+', ':']))
            }
            "filter-branch" | "filter-repo" => true,
            "reflog" => operands
                .first()
                .is_some_and(|it| matches!(*it, "expire" | "delete")),
            "branch" => (any_short("DdfM") || any_long("--delete --force")) && is_shared(),
            "update-ref" => short('d') && is_shared(),
            _ => false,
        };
        if rewrites {
            self.deny(
                Harm::History,
                format!(
                    "`git {verb} {}` rewrites history that others have",
                    arguments.join(" ")
                ),
            );
        }
        match *verb {
            "config" if !long("--get") && !long("--list") && !short('l') => {
                let key = operands
                    .first()
                    .map_or(String::new(), |key| key.to_ascii_lowercase());
                let runs = operands.len() > 1 && names(RUNNING_KEYS).any(|it| key.starts_with(it));
                if runs {
                    self.deny(
                        Harm::Protected,
                        format!("git's `{key}` runs programs later by itself"),
                    );
                }
            }
            "clone" => operands
                .get(1)
                .into_iter()
                .for_each(|path| self.writing(path)),
            "credential" => self.deny(Harm::Credential, "git's credentials are printed".into()),
            _ => {}
        }
        self.cwd = cwd;
    }

    /// Whether a command reads credentials from files, or prints them.
    fn credentials(
        &mut self,
        program: &str,
        arguments: &[&str],
        operands: &[&str],
        command: &ShellCommand,
        source: &Source,
    ) {
        if !lists(SHOWS_NOTHING, program) {
            let last = usize::from(matches!(program, "cp" | "install" | "tee"));
            let read = arguments
                .iter()
                .take(arguments.len() - last.min(arguments.len()));
            read.for_each(|word| self.reading(word));
        }
        let line = operands.join(" ");
        let line = format!("{program} {line}");
        if names(CREDENTIAL_COMMANDS).any(|begins| line.starts_with(begins)) {
            self.deny(Harm::Credential, format!("`{line}` prints credentials"));
        }
        let variables = command.variables.iter().map(String::as_str);
        let printed = match program {
            "echo" | "printf" | "cat" | "tee" | "print" => {
                variables.clone().find(|name| is_secret_name(name))
            }
            "printenv" => operands.iter().copied().find(|name| is_secret_name(name)),
            _ => None,
        };
        if let Some(name) = printed {
            self.deny(Harm::Credential, format!("{name} is printed"));
        }
        let is_search = matches!(program, "grep" | "rg" | "egrep" | "ag");
        let pattern = operands.first().map(|pattern| pattern.to_ascii_uppercase());
        let finds_secret = pattern.is_none_or(|it| holds_any(SECRET_WORDS, &it));
        if matches!(source, Source::Environment) && (!is_search || finds_secret) {
            self.printed(source);
        }
    }

    /// A program in another language: its texts as paths and command lines.
    fn code(&mut self, code: &str, depth: u32) {
        if depth > DEPTH_MAX {
            return self.deny(Harm::Unreadable, "scripts in scripts".into());
        }
        for line in code
            .lines()
            .filter_map(|line| line.trim_start().strip_prefix('!'))
        {
            self.script(line, depth + 1);
        }
        let calls = |names: &[&str]| names.iter().any(|name| code.contains(name));
        let (runs, deletes, writes) = (
            holds_any(RUNNING_CALLS, code),
            holds_any(DELETING_CALLS, code),
            holds_any(WRITING_CALLS, code),
        );
        let texts = texts_of(code);
        let opens_to_write = code.contains("open(")
            && texts.iter().any(|(text, _)| {
                matches!(*text, "w" | "a" | "x" | "wb" | "ab" | "w+" | "a+" | "r+")
            });
        let in_home = code.contains("Path.home()")
            || code.contains("homedir()")
            || code.contains("expanduser");
        for (text, _) in &texts {
            let is_path = text.len() < 512 && !text.contains(['\n', ' ']) && !text.is_empty();
            if !is_path || matches!(*text, "w" | "a" | "r" | "utf-8" | "utf8") {
                continue;
            }
            let mut paths = Vec::from([(*text).to_string()]);
            if in_home && !text.starts_with(['/', '~']) {
                paths.push(format!("~/{text}"));
            }
            for path in &paths {
                self.reading(path);
                if deletes {
                    self.deleting(path);
                } else if writes || opens_to_write {
                    let names_a_file = text.contains(['/', '.']) || text.starts_with('~');
                    if names_a_file {
                        self.writing(path);
                    }
                }
            }
        }
        if deletes && code.contains("Path.home()") {
            self.deleting("~");
        }
        if runs {
            let mut list: Vec<&str> = Vec::new();
            for (text, goes_on) in &texts {
                if !goes_on {
                    self.list(&core::mem::take(&mut list), depth);
                }
                list.push(text);
            }
            self.list(&list, depth);
        }
        let fetches = calls(&["urlopen", "requests.get", "urllib", "fetch(", "httpx.get"]);
        if fetches && calls(&["exec(", "eval(", "Function("]) {
            self.deny(Harm::Download, "it runs what it downloads".into());
        }
        let names_secret = texts.iter().any(|(text, _)| is_secret_name(text))
            || code.split("process.env.").skip(1).any(|rest| {
                is_secret_name(
                    rest.split(|c: char| !c.is_alphanumeric() && c != '_')
                        .next()
                        .unwrap_or_default(),
                )
            });
        let prints = calls(&["print", "console.log", "puts ", "echo "]);
        let reads_variables = calls(&["environ", "getenv", "process.env", "ENV["]);
        if holds_any(PRINTS_ENVIRONMENT, code) || prints && reads_variables && names_secret {
            self.deny(
                Harm::Credential,
                "variables with credentials are printed".into(),
            );
        }
    }

    /// Texts that follow each other in a program: one is a command line, several are a command's words.
    fn list(&mut self, texts: &[&str], depth: u32) {
        match texts {
            [] => {}
            [line] => self.script(line, depth + 1),
            words => self.script(&line_of(words), depth + 1),
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
            let takes_value = matches!(
                *word,
                "-u" | "-g" | "-n" | "-I" | "-P" | "-L" | "-d" | "-k" | "-s" | "-C" | "-a"
            );
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

/// The value of an option, attached or not.
fn value_after<'a>(arguments: &[&'a str], options: &[&str]) -> Option<&'a str> {
    let at = arguments.iter().position(|it| options.contains(it));
    let apart = at.and_then(|at| arguments.get(at + 1).copied());
    apart.or_else(|| {
        arguments.iter().find_map(|it| {
            let long = options.iter().filter(|option| option.starts_with("--"));
            long.filter_map(|option| it.strip_prefix(option)?.strip_prefix('='))
                .next()
        })
    })
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

fn is_scratch(path: &str) -> bool {
    names(SCRATCH).any(|folder| is_within(path, folder))
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
    let is_example = [".example", ".sample", ".template", ".dist"]
        .iter()
        .any(|end| name.ends_with(end));
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
