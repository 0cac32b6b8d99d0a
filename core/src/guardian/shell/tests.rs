//! Lines and what is made of them; `lines.txt` has the class of some hundred.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::super::classify;

use super::*;

/// Words in brackets, parted by `·`, with the join in front of each command.
fn check(line: &str, expected: &str) {
    let shown = match split(line) {
        Err(reason) => format!("{reason:?}"),
        Ok(commands) => {
            let shown = commands.iter().map(|command| {
                let join = match command.join {
                    Join::First => "",
                    Join::And => " && ",
                    Join::Or => " || ",
                    Join::Then => " ; ",
                    Join::Pipe => " | ",
                };
                format!("{join}[{}]", command.words.join("·"))
            });
            shown.collect()
        }
    };
    assert_eq!(shown, expected, "{line}");
}

#[test]
fn words_and_operators() {
    check("ls", "[ls]");
    check(
        "grep -rn 'a b' src/ | head -5",
        "[grep·-rn·a b·src/] | [head·-5]",
    );
    check(
        "make -j2&&make test||echo no;ls",
        "[make·-j2] && [make·test] || [echo·no] ; [ls]",
    );
    check("ls;", "[ls]");
    check(
        "\techo  \"a \\\"b\\\" \\n\"'c'd \"\" x ",
        "[echo·a \"b\" \\ncd··x]",
    );
    check("grep '$HOME * ~ `x`' a.c", "[grep·$HOME * ~ `x`·a.c]");
    check("make CC=gcc 2", "[make·CC=gcc·2]");
    check("\"ls\" 'ä'", "[ls·ä]");
    check("echo 'a\nb'", "[echo·a\nb]");
}

#[test]
fn refused_syntax() {
    for (line, reason) in [
        ("", "Empty"),
        ("   ", "Empty"),
        ("echo $HOME", "Substitution"),
        ("echo \"$HOME\"", "Substitution"),
        ("echo `ls`", "Substitution"),
        ("echo $(ls)", "Substitution"),
        ("ls > x", "Redirection"),
        ("ls 2>&1", "Redirection"),
        ("cat <<EOF\nx\nEOF", "Redirection"),
        ("cat <<< x", "Redirection"),
        ("diff <(ls) x", "Redirection"),
        ("sleep 9 &", "Background"),
        ("ls |& cat", "Background"),
        ("(ls)", "Subshell"),
        ("f() { ls; }", "Subshell"),
        ("{ ls; }", "Brace"),
        ("echo {a,b}", "Brace"),
        ("ls *.c", "Glob"),
        ("ls ?", "Glob"),
        ("[ -f x ]", "Glob"),
        ("ls ~", "Tilde"),
        ("ls a\\ b", "Escape"),
        ("ls # x", "Mark"),
        ("! ls", "Mark"),
        ("A=1 ls", "Assignment"),
        ("A+=1", "Assignment"),
        ("time ls", "Keyword"),
        ("then ls", "Keyword"),
        ("ls | %m", "Keyword"),
        ("if true; then ls; fi", "Keyword"),
        ("while ls; do ls; done", "Keyword"),
        ("ls\nls", "LineBreak"),
        ("ls \\\n x", "Escape"),
        ("ls 'x", "Syntax"),
        ("ls \"x", "Syntax"),
        ("ls &&", "Syntax"),
        ("&& ls", "Syntax"),
        ("ls || ;", "Syntax"),
        ("ls ;; ls", "Construct"),
        ("ls | | ls", "Syntax"),
        ("'' x", "NoProgram"),
        ("ls \u{a0}x", "NotAscii"),
        ("ls ä", "NotAscii"),
        ("ls \u{7}", "Control"),
        ("ls\r", "Control"),
        ("echo 'a\u{85}'", "Control"),
    ] {
        check(line, reason);
    }
    check(&"a".repeat(LINE_BYTES_MAX + 1), "TooLong");
    check(&["ls"; COMMANDS_MAX + 1].join(";"), "TooMany");
}

/// The class of a line is that of its gravest command.
fn class(line: &str) -> String {
    match split(line) {
        Err(reason) => format!("{reason:?}"),
        Ok(commands) => {
            let classes = commands.iter().map(|it| classify(&it.words).class);
            classes
                .max()
                .map_or_else(String::new, |class| class.to_string())
        }
    }
}

/// Each line in lines.txt gets the class that is written before it.
#[test]
fn listed_lines() {
    let lines = include_str!("lines.txt").lines();
    let rows = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let rows: Vec<(&str, &str)> = rows.map(|row| row.split_once(' ').unwrap()).collect();
    assert!(rows.len() >= 300, "{}", rows.len());
    let wrong = rows.iter().filter_map(|(expected, line)| {
        let line = line.trim();
        let found = class(line);
        (found != *expected).then(|| format!("{line}: {found}, not {expected}"))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
