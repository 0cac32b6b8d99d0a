//! Classifies commands by their words, with the table `commands.txt`.

use alloc::string::String;
use alloc::vec::Vec;

use super::class::Class;

/// What commands do, a row a line.
const TABLE: &str = include_str!("commands.txt");

/// A command as the table classifies it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassifiedCommand {
    /// Its class.
    pub class: Class,
    /// The argument that raised the class, if one did.
    pub because: Option<String>,
    /// Words, or parts of words, that may be paths.
    pub paths: Vec<String>,
}

#[derive(Debug)]
struct CommandRow {
    /// Alternatives for each word after the program.
    subcommands: Vec<Vec<&'static str>>,
    class: Class,
    rules: Vec<ArgumentRule>,
}

#[derive(Clone, Copy, Debug)]
enum ArgumentRule {
    Raises(&'static str, Class),
    /// The option's value is text; `true` if it takes the place of the first operand.
    Value(&'static str, bool),
    Text(usize),
    Operands(Class),
    Contains(&'static str, Class),
    SedScript,
    /// So many words, the first of them an option, may come before the subcommand.
    Before(&'static str, usize),
}

/// Classifies a command. A program with a slash in its name isn't in the table, so its class is unknown.
#[must_use]
pub fn classify(words: &[String]) -> ClassifiedCommand {
    let rows = words.first().map_or_else(Vec::new, |name| rows_of(name));
    let start = subcommand_at(&rows, words);
    let depth = |row: &&CommandRow| row.is_at(&words[start..]).then_some(row.subcommands.len());
    // Of rows that say the same of a program the last one counts.
    let fitting = rows.iter().filter(|row| depth(row).is_some());
    let Some(row) = fitting.max_by_key(depth) else {
        let is_known = !rows.is_empty();
        return ClassifiedCommand {
            class: Class::Unknown,
            because: None,
            paths: paths_of(words.iter().filter(|_| !is_known)),
        };
    };
    let arguments = match row.subcommands.len() {
        0 => 1,
        deep => start + deep,
    };
    let mut seen = ArgumentReader::new(row);
    // `subcommand_at` has read the options before a subcommand; their values may be paths.
    let before = &words[1..start.min(arguments)];
    seen.found.paths.extend(paths_of(before));
    seen.read_arguments(&words[arguments..]);
    seen.found
}

/// The table's rows about a program.
fn rows_of(program: &str) -> Vec<CommandRow> {
    let is_about = |line: &&str| {
        let programs = line.split(' ').next().unwrap_or_default();
        programs.split('|').any(|named| named == program)
    };
    let rows = TABLE
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let rows = rows.filter(is_about);
    rows.map(|line| parse_row(line).expect("a test reads all rows"))
        .collect()
}

/// The index of the word where a subcommand would be: after the options that may come before it.
fn subcommand_at(rows: &[CommandRow], words: &[String]) -> usize {
    let rules = rows.iter().flat_map(|row| &row.rules);
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let width = rules.clone().find_map(|rule| match rule {
            ArgumentRule::Before(option, width) if option == word => Some(*width),
            _ => None,
        });
        let Some(width) = width else { break };
        at += width;
    }
    at.min(words.len())
}

impl CommandRow {
    fn is_at(&self, words: &[String]) -> bool {
        let mut pairs = self.subcommands.iter().zip(words);
        words.len() >= self.subcommands.len()
            && pairs.all(|(any_of, word)| any_of.contains(&word.as_str()))
    }
}

/// Reads a command's arguments, and collects the class and the paths.
struct ArgumentReader<'r> {
    rules: &'r [ArgumentRule],
    found: ClassifiedCommand,
    /// Operands that are still text.
    text_left: usize,
}

impl<'r> ArgumentReader<'r> {
    fn new(row: &'r CommandRow) -> Self {
        let text = row.rules.iter().find_map(|rule| match rule {
            ArgumentRule::Text(count) => Some(*count),
            _ => None,
        });
        Self {
            rules: &row.rules,
            found: ClassifiedCommand {
                class: row.class,
                because: None,
                paths: Vec::new(),
            },
            text_left: text.unwrap_or(0),
        }
    }

    fn raise_class(&mut self, class: Class, because: &str) {
        if class > self.found.class {
            self.found.class = class;
            self.found.because = Some(because.into());
        }
    }

    fn read_arguments(&mut self, words: &[String]) {
        let mut options = words.iter().take_while(|word| *word != "--");
        if options.any(|word| word.starts_with('-') && self.gives_text(word)) {
            self.text_left = 0;
        }
        let mut words = words.iter();
        let mut options_end = false;
        while let Some(word) = words.next() {
            for rule in self.rules {
                if let ArgumentRule::Contains(text, class) = rule
                    && word.contains(text)
                {
                    self.raise_class(*class, if text.is_empty() { word } else { text });
                }
            }
            if options_end || !word.starts_with('-') || word.len() == 1 {
                self.read_operand(word);
            } else if word == "--" {
                options_end = true;
            } else {
                self.read_option(word, &mut words);
            }
        }
    }

    fn read_operand(&mut self, word: &String) {
        for rule in self.rules {
            if let ArgumentRule::Operands(class) = rule {
                self.raise_class(*class, word);
            }
        }
        if self.text_left > 0 {
            self.text_left -= 1;
            self.judge_text(word);
        } else {
            self.found.paths.extend(paths_of([word]));
        }
    }

    /// The text that a program works by: a pattern or a script.
    fn judge_text(&mut self, text: &str) {
        let is_script = self
            .rules
            .iter()
            .any(|rule| matches!(rule, ArgumentRule::SedScript));
        if is_script && !only_prints(text) {
            self.raise_class(Class::Shell, text);
        }
    }

    /// Whether an option brings the text that the first operand would be otherwise.
    fn gives_text(&self, word: &str) -> bool {
        let mut gives = false;
        self.each_option(word, |rule, _| {
            gives |= matches!(rule, ArgumentRule::Value(_, true));
        });
        gives
    }

    fn read_option<'w>(&mut self, word: &'w String, words: &mut impl Iterator<Item = &'w String>) {
        let mut raised = Vec::new();
        let mut value = None;
        self.each_option(word, |rule, rest| match rule {
            ArgumentRule::Raises(_, class) => raised.push(*class),
            ArgumentRule::Value(_, is_operand) => value = Some((*is_operand, rest)),
            _ => {}
        });
        if let Some((is_operand, attached)) = value {
            let next = || words.next().map_or("", String::as_str);
            let text = attached.unwrap_or_else(next);
            // An option, if a letter before has the rest for its value: `sort -S1k --output=x`.
            self.each_option(text, |rule, _| match rule {
                ArgumentRule::Raises(_, class) if text.starts_with('-') => raised.push(*class),
                _ => {}
            });
            if is_operand {
                self.judge_text(text);
            }
        } else {
            self.found.paths.extend(paths_of([word]));
        }
        for class in raised {
            self.raise_class(class, word);
        }
    }

    /// The rules that are about an option word, each with the value that is attached to it. Long options count by any
    /// beginning of their names, as getopt has it, and with one dash or two, as Go has it; short ones in clusters, up to one that
    /// takes a value.
    fn each_option<'w>(&self, word: &'w str, mut each: impl FnMut(&ArgumentRule, Option<&'w str>)) {
        let (name, attached) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        let bare = name.trim_start_matches('-');
        let named = |option: &str| {
            let long = option.trim_start_matches('-');
            let is_long = long.len() > 1 && !bare.is_empty();
            option == name
                || is_long && (long == bare || name.starts_with("--") && long.starts_with(bare))
        };
        let about = |rule: &&ArgumentRule| rule.option_name().is_some_and(named);
        let mut whole = self.rules.iter().filter(about).peekable();
        if whole.peek().is_some() || word.starts_with("--") {
            return whole.for_each(|rule| each(rule, attached));
        }
        for (at, letter) in word.char_indices().skip(1) {
            let rest = Some(&word[at + letter.len_utf8()..]).filter(|rest| !rest.is_empty());
            let mut takes_value = false;
            for rule in self.rules {
                let option = rule
                    .option_name()
                    .and_then(|option| option.strip_prefix('-'));
                if option.is_some_and(|option| option.chars().eq([letter])) {
                    takes_value |= matches!(rule, ArgumentRule::Value(..));
                    each(rule, rest);
                }
            }
            if takes_value {
                break;
            }
        }
    }
}

impl ArgumentRule {
    fn option_name(&self) -> Option<&'static str> {
        match self {
            Self::Raises(option, _) | Self::Value(option, _) => Some(option),
            _ => None,
        }
    }
}

/// Whether a sed script does no more than print or drop lines by their numbers, or replace text on its way: it writes no file
/// and runs no program.
fn only_prints(script: &str) -> bool {
    let mut parts = script.strip_prefix('s').into_iter().flat_map(|rest| {
        let delimiter = rest.chars().next().filter(char::is_ascii_punctuation);
        rest.splitn(4, delimiter.unwrap_or('/'))
    });
    let flags = parts.nth(3).filter(|_| !script.contains(['\\', '\n', ';']));
    let is_replacement = flags.is_some_and(|flags| flags.chars().all(|c| "gpI".contains(c)));
    is_replacement
        || script
            .chars()
            .all(|c| c.is_ascii_digit() || "$,;!=pdq ".contains(c))
}

/// The parts of words that may be paths.
fn paths_of<'w>(words: impl IntoIterator<Item = &'w String>) -> Vec<String> {
    let words = words.into_iter();
    let pieces = words.flat_map(|word| path_candidates(word));
    pieces.map(String::from).collect()
}

/// The parts of a word that may be paths: all of it, an option's value, what follows `=`, `:`, `,` or `@`. What begins with
/// two slashes is the rest of a URL.
fn path_candidates(word: &str) -> impl Iterator<Item = &str> {
    let short = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    let attached = short.and_then(|rest| {
        let (at, _) = rest.char_indices().nth(1)?;
        Some(&rest[at..])
    });
    let split = word.split(['=', ':', ',', '@']);
    let is_path = |piece: &&str| !piece.is_empty() && !piece.starts_with("//");
    split.chain(attached).filter(is_path)
}

/// One line of the table.
fn parse_row(line: &'static str) -> Option<CommandRow> {
    let mut words = line.split_whitespace().skip(1);
    let mut subcommands = Vec::new();
    let class = loop {
        let word = words.next()?;
        match Class::of_word(word) {
            Some(class) => break class,
            None => subcommands.push(word.split('|').collect()),
        }
    };
    let rules = words.map(parse_rule).collect::<Option<_>>()?;
    Some(CommandRow {
        subcommands,
        class,
        rules,
    })
}

fn parse_rule(word: &'static str) -> Option<ArgumentRule> {
    if word == "sed-script" {
        return Some(ArgumentRule::SedScript);
    }
    if let Some(option) = word.strip_prefix("before:") {
        return Some(match option.strip_suffix(':') {
            Some(option) => ArgumentRule::Before(option, 2),
            None => ArgumentRule::Before(option, 1),
        });
    }
    if let Some(option) = word.strip_suffix(':') {
        let operand = option.strip_suffix(':');
        let option = operand.unwrap_or(option);
        return Some(ArgumentRule::Value(option, operand.is_some()));
    }
    let (name, value) = word.rsplit_once('=')?;
    if name == "text" {
        return match value {
            "all" => Some(ArgumentRule::Text(usize::MAX)),
            count => count.parse().ok().map(ArgumentRule::Text),
        };
    }
    let class = Class::of_word(value)?;
    Some(match name.strip_prefix("has:") {
        Some(text) => ArgumentRule::Contains(text, class),
        None if name == "operands" => ArgumentRule::Operands(class),
        None if name.starts_with('-') => ArgumentRule::Raises(name, class),
        None => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words are separated by spaces; `_` is a space within a word.
    fn classify(line: &str) -> ClassifiedCommand {
        let words = line.split(' ').map(|word| word.replace('_', " "));
        super::classify(&words.collect::<Vec<_>>())
    }

    #[test]
    fn the_table_is_sound() {
        let rows = TABLE
            .lines()
            .filter(|it| !it.is_empty() && !it.starts_with('#'));
        for row in rows {
            assert!(parse_row(row).is_some(), "{row}");
        }
        assert!(parse_row("x NOSUCH").is_none());
        assert!(parse_row("x READ -o=").is_none());
    }

    #[test]
    fn graver_arguments() {
        let check = |line: &str, class, because: Option<&str>| {
            let found = classify(line);
            assert_eq!(
                (found.class, found.because.as_deref()),
                (class, because),
                "{line}"
            );
        };
        check("find . -name *.c", Class::Read, None);
        check("find . -exec rm {} ;", Class::System, Some("-exec"));
        check("sed -n 1,5p a.c", Class::Read, None);
        check("sed s/a/b/g a.c", Class::Read, None);
        check("sed s/a/b/e a.c", Class::Shell, Some("s/a/b/e"));
        check("sed s/a/b/w_x a.c", Class::Shell, Some("s/a/b/w x"));
        check("sed s/a/b/;w_x a.c", Class::Shell, Some("s/a/b/;w x"));
        check("sed s,a/b,c,;e,x a.c", Class::Shell, Some("s,a/b,c,;e,x"));
        check("sed r_/etc/passwd a.c", Class::Shell, Some("r /etc/passwd"));
        check("sed -ni 1,5p a.c", Class::FsMutate, Some("-ni"));
        check(
            "sed --in-p=.bak p a.c",
            Class::FsMutate,
            Some("--in-p=.bak"),
        );
        check("sed -ne 1e_ls a.c", Class::Shell, Some("1e ls"));
        check("git -C sub --no-pager log", Class::Read, None);
        check(
            "git -c core.pager=x log",
            Class::Unknown.max(Class::System),
            None,
        );
        check("python3 -m pytest -q", Class::Build, None);
        check("ruby -v", Class::Read, None);
        check("python3 --version", Class::Read, None);
        check("grep -- -e a", Class::Read, None);
    }

    /// Lines that read, and run a program that the workspace or the line brings.
    #[test]
    fn runs_workspace_code() {
        for line in [
            "nm --plugin ./x.so a.o",
            "nm --plug=./x.so a.o",
            "objdump -d --plugin=./x.so a.o",
            "diff3 --diff-program=./x a b c",
            "diff3 --diff-p ./x a b c",
            "sort --compress-p ./x a",
            "sort --compress-p=./x a",
            "sort --compress-program ./x a",
            "cargo tree",
            "cargo metadata --no-deps",
            "ruby -v -e system(1)",
            "lua -v -e os.exit()",
            "python3 --version -c x",
            "perl -v x.pl",
            "go list -toolexec=./x ./...",
            "go list --toolexec=./x ./...",
            "go list -export ./...",
            "ldd ./a.out",
        ] {
            assert!(classify(line).class > Class::Read, "{line}");
        }
    }

    #[test]
    fn paths_in_arguments() {
        let check = |line: &str, paths: &[&str]| assert_eq!(classify(line).paths, paths, "{line}");
        check("grep /etc src", &["src"]);
        check("grep -n -e /etc src", &["-n", "src"]);
        check("grep -A3 x src", &["src"]);
        check(
            "make -C../x CC=/usr/bin/cc",
            &["-C../x", "../x", "CC", "/usr/bin/cc"],
        );
        check("echo ../x", &[]);
        check("nosuch http://h/x", &["nosuch", "http"]);
        check("git -C /x log", &["-C", "/x"]);
    }
}
