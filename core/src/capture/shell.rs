//! What a shell command says of files: the here-documents that it writes, the files that it shows.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use super::line::{line_at, lines_from, without_end};
use super::path_hint;

/// A here-document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HereDocument<'t> {
    /// Its lines in the script.
    pub(super) body: Range<usize>,
    /// What they say to the command.
    pub(super) code: Cow<'t, str>,
    /// The file that it goes to.
    pub(super) path: Option<String>,
}

/// All here-documents of a script, in order. One without an end goes to the script's.
pub(super) fn here_documents(script: &str) -> Vec<HereDocument<'_>> {
    match memchr::memmem::find(script.as_bytes(), b"<<") {
        Some(_) => Reader::of(script).documents,
        None => Vec::new(),
    }
}

/// The here-documents that stand among other text, each announced by a command and ended, with where their command starts.
pub(super) fn bare_here_documents(
    text: &str,
    part: Range<usize>,
) -> Vec<(usize, HereDocument<'_>)> {
    let mut found = Vec::new();
    let mut endless: Vec<&str> = Vec::new();
    let mut at = part.start;
    while let Some(next) = memchr::memmem::find(&text.as_bytes()[at..part.end], b"<<") {
        let start = text[part.start..at + next]
            .rfind('\n')
            .map_or(part.start, |newline| part.start + newline + 1)
            .max(at);
        let line = line_at(&text[..part.end], start);
        at = line.end;
        let Some(opening) = Opening::of(&text[line.clone()]) else {
            continue;
        };
        if endless.contains(&opening.word) || endless.len() >= ENDLESS_MAX {
            continue;
        }
        let mut behind = lines_from(&text[..part.end], line.end);
        let Some((end, _)) = behind.find(|(_, line)| opening.is_ended_by(line)) else {
            endless.push(opening.word);
            continue;
        };
        let last = line_at(&text[..part.end], end);
        let indent = text[last.clone()].len() - text[last.clone()].trim_start_matches('\t').len();
        let start = start + opening.tag;
        let script = &text[start..end + indent + opening.word.len()];
        let documents = here_documents(script).into_iter();
        found.extend(documents.map(|document| {
            let body = document.body.start + start..document.body.end + start;
            (start, HereDocument { body, ..document })
        }));
        at = last.end;
    }
    found
}

/// Words that end here-documents which have no end, at most: each is looked for once.
const ENDLESS_MAX: usize = 16;

/// A line that announces a here-document among other text.
struct Opening<'t> {
    /// Bytes of a tag in front: `<command>`.
    tag: usize,
    word: &'t str,
}

impl<'t> Opening<'t> {
    fn of(line: &'t str) -> Option<Self> {
        let tag = match line.starts_with('<') {
            true => memchr::memchr(b'>', line.as_bytes())? + 1,
            false => 0,
        };
        let (command, behind) = line[tag..].split_once("<<")?;
        let mut words = command.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        if !words.any(|word| matches!(word, "cat" | "tee")) {
            return None;
        }
        let word = behind.trim_start_matches(['-', ' ', '\'', '"', '\\']);
        let end = word
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .unwrap_or(word.len());
        let word = Some(&word[..end]).filter(|word| !word.is_empty())?;
        Some(Self { tag, word })
    }

    /// A closing tag may stand behind the word.
    fn is_ended_by(&self, line: &str) -> bool {
        let line = line.trim_start_matches('\t').trim_end();
        line.strip_prefix(self.word)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with("</"))
    }
}

/// The file that a command line hands its here-document to, if it opens one.
pub(super) fn here_document_of(command: &str) -> Option<Option<String>> {
    let documents = here_documents(command);
    documents.into_iter().next().map(|document| document.path)
}

/// What a command shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Shows {
    /// The files whose text is all that it shows, in order; none if it may show anything else.
    pub(super) files: Vec<String>,
    /// All words that may name a file.
    pub(super) named: Vec<String>,
}

/// Files that one command names, at most; more is a list that nobody reads whole.
const FILES_NAMED_MAX: usize = 64;

/// Here-documents that one line announces, at most: each is looked for among the line's commands.
const HERE_DOCUMENTS_OF_LINE_MAX: usize = 16;

/// What a command shows.
pub(super) fn shows(command: &str) -> Shows {
    let reader = Reader::of(command);
    let mut shows = Shows::default();
    let mut only_files = true;
    for run in &reader.runs {
        let words: Vec<&str> = run.words.iter().map(String::as_str).collect();
        let named = words
            .iter()
            .filter(|word| path_hint::names_file(word) || is_pattern(word));
        shows.named.extend(named.map(|word| run.place(word)));
        match files_shown(&words) {
            Some(files) => shows.files.extend(files.iter().map(|word| run.place(word))),
            None => only_files = false,
        }
    }
    if !only_files {
        shows.files.clear();
    }
    shows.files.truncate(FILES_NAMED_MAX);
    shows.named.truncate(FILES_NAMED_MAX);
    shows
}

/// Whether a word stands for several files.
fn is_pattern(word: &str) -> bool {
    word.contains(['*', '?', '[', '{'])
}

/// The files whose text a simple command prints; `None` if it may print anything else.
fn files_shown<'w>(words: &[&'w str]) -> Option<Vec<&'w str>> {
    const SILENT: [&str; 6] = ["cd", "pushd", "mkdir", "true", "set", "export"];
    const PLAIN: [&str; 11] = [
        "cat",
        "head",
        "tail",
        "nl",
        "less",
        "more",
        "bat",
        "batcat",
        "type",
        "tac",
        "Get-Content",
    ];
    const WITH_SCRIPT: [&str; 3] = ["sed", "awk", "gawk"];
    let (command, arguments) = words.split_first()?;
    let mut files = arguments
        .iter()
        .copied()
        .filter(|word| !word.starts_with(['-', '+']));
    if files.clone().any(is_pattern) && !WITH_SCRIPT.contains(command) {
        return None;
    }
    let is_file = |word: &&str| !word.bytes().all(|byte| byte.is_ascii_digit());
    match *command {
        silent if SILENT.contains(&silent) => Some(Vec::new()),
        plain if PLAIN.contains(&plain) => Some(files.filter(is_file).collect()),
        scripted if WITH_SCRIPT.contains(&scripted) => {
            let names_script = arguments.iter().any(|word| matches!(*word, "-e" | "-f"));
            if names_script {
                return None;
            }
            files.next();
            (!files.clone().any(is_pattern)).then(|| files.collect())
        }
        _ => None,
    }
}

/// Reads a script from its first character to its last; what is quoted or expanded isn't looked into.
struct Reader<'t> {
    script: &'t str,
    at: usize,
    /// Simple commands that are complete.
    runs: Vec<Run>,
    run: Run,
    /// How many commands stood before this pipeline.
    pipeline: usize,
    folder: String,
    /// Here-documents whose lines come after this one.
    awaited: Vec<Awaited>,
    documents: Vec<HereDocument<'t>>,
}

/// A simple command.
#[derive(Default)]
struct Run {
    words: Vec<String>,
    /// Where it writes to.
    target: Option<String>,
    /// The folder that it is run in, as far as the script says.
    folder: String,
}

/// A here-document that was announced.
struct Awaited {
    word: String,
    strips_tabs: bool,
    is_quoted: bool,
    /// Which command it belongs to.
    run: usize,
    /// How many commands stood before its pipeline.
    pipeline: usize,
}

impl Run {
    /// A path as the script means it.
    fn place(&self, path: &str) -> String {
        // Where a variable or the user's own folder leads to isn't known.
        let path = match path.rsplit_once('/') {
            Some((folder, name)) if folder.contains('$') || folder.starts_with('~') => name,
            _ => path,
        };
        let is_absolute = path.starts_with(['/', '\\']) || path.get(1..2) == Some(":");
        match self.folder.is_empty() || is_absolute {
            true => path.to_string(),
            false => format!("{}/{path}", self.folder.trim_end_matches('/')),
        }
    }

    /// The file that it writes to.
    fn writes(&self) -> Option<String> {
        let tee = self.words.iter().position(|word| word == "tee");
        let teed = tee.and_then(|tee| {
            let mut words = self.words[tee + 1..].iter();
            words.find(|word| !word.starts_with('-'))
        });
        let path = teed.or(self.target.as_ref())?;
        Some(self.place(path))
    }
}

impl<'t> Reader<'t> {
    fn of(script: &'t str) -> Self {
        let mut reader = Self {
            script,
            at: 0,
            runs: Vec::new(),
            run: Run::default(),
            pipeline: 0,
            folder: String::new(),
            awaited: Vec::new(),
            documents: Vec::new(),
        };
        while reader.at < script.len() {
            reader.step();
        }
        reader.end_pipeline();
        reader.take_documents();
        reader
    }

    fn rest(&self) -> &'t str {
        &self.script[self.at..]
    }

    fn step(&mut self) {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else {
            return;
        };
        match first {
            '\n' => {
                self.at += 1;
                self.end_pipeline();
                self.take_documents();
            }
            '#' => self.at += without_end(&rest[line_at(rest, 0)]).len(),
            '(' if rest.starts_with("((") => {
                let end = rest.find("))").map_or(rest.len(), |end| end + 2);
                self.at += end;
            }
            ';' | '(' | ')' => {
                self.at += 1;
                self.end_pipeline();
            }
            '&' => self.ampersand(),
            '|' if rest.starts_with("||") => {
                self.at += 2;
                self.end_pipeline();
            }
            '|' => {
                self.at += 1;
                self.end_run();
            }
            '<' | '>' => self.redirect(1),
            c if c.is_whitespace() => self.at += c.len_utf8(),
            _ => self.word_or_descriptor(),
        }
    }

    /// `&&`, `&`, `&>file`.
    fn ampersand(&mut self) {
        self.at += 1;
        if self.rest().starts_with('>') {
            self.redirect(1);
            return;
        }
        self.end_pipeline();
    }

    /// A word, or the number in front of a redirection.
    fn word_or_descriptor(&mut self) {
        let rest = self.rest();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 && rest[digits..].starts_with(['<', '>']) {
            self.at += digits;
            let descriptor = rest[..digits].parse().unwrap_or(u32::MAX);
            self.redirect(descriptor);
            return;
        }
        let (word, _) = self.word();
        self.run.words.push(word);
    }

    fn redirect(&mut self, descriptor: u32) {
        let rest = self.rest();
        if let Some(after) = rest.strip_prefix("<<<") {
            self.at = self.script.len() - after.len();
            self.skip_blanks();
            self.word();
        } else if let Some(after) = rest.strip_prefix("<<") {
            self.at = self.script.len() - after.len();
            self.here_document();
        } else {
            let operator = rest.find(|c| !matches!(c, '<' | '>' | '|' | '&'));
            self.at += operator.unwrap_or(rest.len());
            self.skip_blanks();
            let (target, _) = self.word();
            let operator = &rest[..operator.unwrap_or(rest.len())];
            let is_written = operator.starts_with('>') && !operator.contains('&');
            if is_written && descriptor == 1 && !target.starts_with("/dev/") && !target.is_empty() {
                self.run.target.get_or_insert(target);
            }
        }
    }

    fn here_document(&mut self) {
        let strips_tabs = self.rest().starts_with('-');
        self.at += usize::from(strips_tabs);
        self.skip_blanks();
        let (word, is_quoted) = self.word();
        let is_word =
            |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '!' | '@' | '+');
        let is_room = self.awaited.len() < HERE_DOCUMENTS_OF_LINE_MAX;
        if is_room && !word.is_empty() && word.chars().all(is_word) {
            self.awaited.push(Awaited {
                word,
                strips_tabs,
                is_quoted,
                run: self.runs.len(),
                pipeline: self.pipeline,
            });
        }
    }

    fn skip_blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t']).len();
    }

    /// A word without its quotes, and whether it had some.
    fn word(&mut self) -> (String, bool) {
        let mut word = String::new();
        let mut is_quoted = false;
        while let Some(c) = self.rest().chars().next() {
            match c {
                '\'' => {
                    is_quoted = true;
                    let inside = &self.rest()[1..];
                    let end = memchr::memchr(b'\'', inside.as_bytes()).unwrap_or(inside.len());
                    word.push_str(&inside[..end]);
                    self.at = (self.at + end + 2).min(self.script.len());
                }
                '"' => {
                    is_quoted = true;
                    self.at += 1;
                    self.double_quoted(&mut word);
                }
                '\\' => {
                    is_quoted = true;
                    self.at += 1;
                    if let Some(c) = self.rest().chars().next() {
                        self.at += c.len_utf8();
                        word.extend((c != '\n').then_some(c));
                    }
                }
                c if c.is_whitespace() || matches!(c, ';' | '&' | '|' | '<' | '>' | '(' | ')') => {
                    break;
                }
                c => {
                    word.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
        (word, is_quoted)
    }

    fn double_quoted(&mut self, word: &mut String) {
        while let Some(c) = self.rest().chars().next() {
            self.at += c.len_utf8();
            match c {
                '"' => return,
                '\\' => {
                    if let Some(c) = self.rest().chars().next() {
                        self.at += c.len_utf8();
                        word.push(c);
                    }
                }
                c => word.push(c),
            }
        }
    }

    fn end_run(&mut self) {
        let mut run = core::mem::take(&mut self.run);
        run.folder.clone_from(&self.folder);
        if let [cd, folder] = run.words.as_slice()
            && cd == "cd"
            && !folder.starts_with('-')
            && !folder.contains('$')
        {
            self.folder = run.place(folder);
        }
        let is_empty = run.words.is_empty() && run.target.is_none();
        let is_awaited = self
            .awaited
            .iter()
            .any(|awaited| awaited.run == self.runs.len());
        if !is_empty || is_awaited {
            self.runs.push(run);
        }
    }

    fn end_pipeline(&mut self) {
        self.end_run();
        self.pipeline = self.runs.len();
    }

    /// The lines of what was announced, which start here.
    fn take_documents(&mut self) {
        for awaited in core::mem::take(&mut self.awaited) {
            let start = self.at;
            let mut end = self.script.len();
            let mut code = String::new();
            while self.at < self.script.len() {
                let line = line_at(self.script, self.at);
                let text = &self.script[line.clone()];
                let text = match awaited.strips_tabs {
                    true => text.trim_start_matches('\t'),
                    false => text,
                };
                self.at = line.end;
                if without_end(text) == awaited.word {
                    end = line.start;
                    break;
                }
                code.push_str(text);
            }
            let body = start..end;
            if !awaited.is_quoted {
                code = unescaped(&code);
            }
            let code = match &self.script[body.clone()] == code.as_str() {
                true => Cow::Borrowed(&self.script[body.clone()]),
                false => Cow::Owned(code),
            };
            let runs = self.runs.get(awaited.run..).unwrap_or_default();
            let own = runs.first().and_then(Run::writes);
            let last = self.runs.len();
            let piped = || {
                let pipeline = self.runs.get(awaited.pipeline.min(last)..)?;
                let behind = pipeline.get(awaited.run - awaited.pipeline..)?;
                behind.iter().find_map(Run::writes)
            };
            self.documents.push(HereDocument {
                path: own.or_else(piped),
                body,
                code,
            });
        }
    }
}

/// What a here-document says whose word isn't quoted; what it has the shell expand stays as it is written.
fn unescaped(body: &str) -> String {
    let mut out = String::with_capacity(body.len());
    let mut rest = body;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        let skipped = match after[1..].chars().next() {
            Some(c @ ('\\' | '$' | '`')) => {
                out.push(c);
                2
            }
            Some('\n') => 2,
            _ => {
                out.push('\\');
                1
            }
        };
        rest = &after[skipped..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One line a here-document: path and what it says.
    fn check(script: &str, expected: &[&str]) {
        let found: Vec<String> = here_documents(script)
            .iter()
            .map(|document| {
                let path = document.path.as_deref().unwrap_or("-");
                format!("{path} {:?}", document.code)
            })
            .collect();
        assert_eq!(found, expected, "{script}");
    }

    #[test]
    fn here_documents_go_to_files() {
        for (opening, path) in [
            ("cat > src/a.c <<'EOF'", "src/a.c"),
            ("cat <<EOF >src/a.c", "src/a.c"),
            ("cat <<\"EOF\" >> './src/a.c'", "./src/a.c"),
            ("tee src/a.c <<EOF", "src/a.c"),
            ("sudo tee -a src/a.c >/dev/null <<\\EOF", "src/a.c"),
            ("cat <<EOF | tee src/a.c > /dev/null", "src/a.c"),
            ("cat <<EOF 2>/tmp/log | sort > src/a.c", "src/a.c"),
            (
                "mkdir -p x && cat > src/a.c <<- EOF && echo $((1<<2))",
                "src/a.c",
            ),
            ("cd /w/src; cat > a.c <<EOF", "/w/src/a.c"),
            ("cd src && cd sub && cat 1> \"$X/a.c\" <<EOF", "src/sub/a.c"),
            ("python3 - <<EOF", "-"),
        ] {
            let expected = format!("{path} \"int a;\\n\"");
            let script = format!("echo 'a\nb'\n{opening}\nint a;\nEOF\nmake > log\n");
            check(&script, &[&expected]);
            assert_eq!(
                here_document_of(opening),
                Some(Some(path.to_string()).filter(|path| path != "-"))
            );
        }
    }

    #[test]
    fn several_and_what_the_shell_makes_of_them() {
        check(
            "cat > a.c <<A && cat > b.c <<-'B'\nint a = \\$x;\\\\ \\n\nA\n\tint b;\\\\\n\tB\nint c;\n",
            &[
                "a.c \"int a = $x;\\\\ \\\\n\\n\"",
                "b.c \"int b;\\\\\\\\\\n\"",
            ],
        );
        check(
            "cat > a.c <<EOF\r\nint a;\r\nEOF\r\n",
            &["a.c \"int a;\\r\\n\""],
        );
        check(
            "cat > a.c <<EOF\nint a;\n EOF\n",
            &["a.c \"int a;\\n EOF\\n\""],
        );
        check("cat > a.c <<EOF", &["a.c \"\""]);
    }

    #[test]
    fn among_other_text() {
        let check = |text: &str, expected: &[&str]| {
            let found: Vec<String> = bare_here_documents(text, 0..text.len())
                .into_iter()
                .map(|(_, document)| {
                    assert_eq!(text[document.body.clone()], *document.code);
                    format!("{} {:?}", document.path.unwrap_or_default(), document.code)
                })
                .collect();
            assert_eq!(found, expected, "{text}");
        };
        check(
            "I run\n$ cat > a.c <<'EOF'\nint a;\nEOF\nand\n<command>tee b.c <<X\nint b;\nX</command>\n",
            &["a.c \"int a;\\n\"", "b.c \"int b;\\n\""],
        );
        check("cat > a.c <<EOF\nint a;\n", &[]);
        check("std::cout << cat << x;\nx\n", &[]);
        check("<<\n<\n<<<\n", &[]);
    }

    #[test]
    fn what_is_no_here_document() {
        for script in [
            "echo $((1 << 2))\nint a;\n",
            "cat <<< word\nint a;\n",
            "echo 'cat <<EOF'\nint a;\nEOF\n",
            "# cat <<EOF\nint a;\nEOF\n",
            "git commit -m \"$(cat <<EOF\nint a;\nEOF\n)\"\n",
            "a < b > c\n",
            "",
            "<<",
            "\\",
            "'",
        ] {
            check(script, &[]);
        }
    }

    #[test]
    fn commands_show_files() {
        let check = |command: &str, files: &[&str], named: &[&str]| {
            let shows = shows(command);
            assert_eq!(shows.files, files, "{command}");
            assert_eq!(shows.named, named, "{command}");
        };
        check("cat src/a.c", &["src/a.c"], &["src/a.c"]);
        check(
            "cd src && head -n 50 a.c b.c",
            &["src/a.c", "src/b.c"],
            &["src/a.c", "src/b.c"],
        );
        check("sed -n '1,40p' src/a.c | nl", &["src/a.c"], &["src/a.c"]);
        check("cat Makefile", &["Makefile"], &[]);
        check("cat src/*.c", &[], &["src/*.c"]);
        check("cat ~/w/src/a.c $W/b.c", &["a.c", "b.c"], &["a.c", "b.c"]);
        check("awk '{print}' a.c", &["a.c"], &["{print}", "a.c"]);
        check("grep -rn add src/a.c", &[], &["src/a.c"]);
        check("ls; cat src/a.c", &[], &["src/a.c"]);
        check("", &[], &[]);
    }
}
