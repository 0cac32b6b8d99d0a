//! What the output of a build or a test run says of its result, by the patterns of `runs.json`.

use alloc::borrow::ToOwned as _;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Deserialize;

/// Bytes at an output's end that are read: the summary is there.
const TAIL_BYTES_MAX: usize = 64 << 10;

/// The longest line of a summary that is shown, in characters.
const LINE_CHARS_MAX: usize = 100;

/// How a run ended, as far as its output says so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunResult {
    /// Whether it passed; `None` if nothing in the output tells.
    pub passed: Option<bool>,
    /// The line that says so.
    pub summary: Option<String>,
}

#[derive(Deserialize)]
struct RunPatterns {
    failed: Vec<String>,
    passed: Vec<String>,
    exit_codes: Vec<String>,
}

/// Reads an output. Of several summaries a failure counts, since a line may run several programs.
///
/// # Panics
/// Never: a test reads the patterns.
#[must_use]
pub fn run_result(output: &str) -> RunResult {
    let patterns: RunPatterns =
        serde_json::from_str(include_str!("runs.json")).expect("a test reads the file");
    let from = output.len().saturating_sub(TAIL_BYTES_MAX);
    let from = (from..=output.len()).find(|at| output.is_char_boundary(*at));
    let tail = without_colours(&output[from.unwrap_or(0)..]);
    // "0 errors in 3 files" is no failure.
    let counts_none = |line: &str| line.starts_with("0 ") || line.contains(" 0 errors");
    let says = |patterns: &[String], line: &str| {
        !counts_none(line) && patterns.iter().any(|it| fits(it, line))
    };
    let last = |patterns: &[String]| tail.lines().map(str::trim).rfind(|it| says(patterns, it));
    let summary = |line: &str| Some(line.chars().take(LINE_CHARS_MAX).collect());
    let by_line = |passed, line: &str| RunResult {
        passed: Some(passed),
        summary: summary(line),
    };
    if let Some(line) = last(&patterns.failed) {
        // What the failing tests were called stands before; the counts say more than "make: *** [test] Error 1".
        let counts = tail.lines().map(str::trim).rfind(|line| {
            says(&patterns.failed, line) && line.bytes().any(|byte| byte.is_ascii_digit())
        });
        return by_line(false, counts.unwrap_or(line));
    }
    let code = exit_code(output, &patterns.exit_codes);
    match (last(&patterns.passed), code) {
        (_, Some(code)) if code != 0 => RunResult {
            passed: Some(false),
            summary: Some(format!("exit code {code}")),
        },
        (Some(line), _) => by_line(true, line),
        (None, Some(_)) => RunResult {
            passed: Some(true),
            summary: Some("exit code 0".to_owned()),
        },
        (None, None) => RunResult::default(),
    }
}

/// The exit code that a client writes around an output: in its first or last lines.
fn exit_code(output: &str, marks: &[String]) -> Option<i64> {
    let lines = || output.lines();
    let near = lines().take(6).chain(lines().rev().take(6));
    let code_in = |line: &str| {
        marks.iter().find_map(|mark| {
            let line = line.to_ascii_lowercase();
            let rest = line.split_once(mark.as_str())?.1.trim_start();
            let end = rest.find(|it: char| !it.is_ascii_digit() && it != '-');
            rest[..end.unwrap_or(rest.len())].parse().ok()
        })
    };
    near.into_iter().find_map(code_in)
}

/// Whether a line is what a pattern says.
fn fits(pattern: &str, line: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = line.strip_prefix(first) else {
        return false;
    };
    let mut pieces = pieces.peekable();
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            return rest.ends_with(piece);
        }
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    rest.is_empty()
}

/// A text without the sequences that colour a terminal.
fn without_colours(text: &str) -> String {
    let mut pieces = text.split("\u{1b}[");
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let end = piece.find(|it: char| it.is_ascii_alphabetic());
        plain.push_str(end.map_or("", |end| &piece[end + 1..]));
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(output: &str, passed: Option<bool>, summary: &str) {
        let result = run_result(output);
        assert_eq!(result.passed, passed, "{output}: {result:?}");
        let said = result.summary.unwrap_or_default();
        assert!(said.contains(summary), "{output}: {said}");
    }

    #[test]
    fn runner_summaries() {
        let (ok, bad) = (Some(true), Some(false));
        check(
            "running 3 tests\ntest result: ok. 3 passed; 0 failed; 0 ignored\n",
            ok,
            "3 passed",
        );
        check(
            "test result: ok. 3 passed; 0 failed\ntest result: FAILED. 1 passed; 2 failed; 0 ignored\n\nerror: test failed, to rerun pass `--lib`\n",
            bad,
            "2 failed",
        );
        check(
            "   Compiling a v0.1.0\nerror: could not compile `a` (lib) due to 2 previous errors\n",
            bad,
            "could not",
        );
        check(
            "    Finished `dev` profile [unoptimized] target(s) in 0.52s\n",
            ok,
            "Finished",
        );
        check(
            "\u{1b}[1m     Summary\u{1b}[0m [   0.112s] 7 tests run: 6 passed, 1 failed, 0 skipped",
            bad,
            "1 failed",
        );
        check(
            "....F\n=== 1 failed, 4 passed in 0.12s ===\n",
            bad,
            "1 failed, 4 passed",
        );
        check("4 passed in 0.03s\n", ok, "4 passed");
        check(
            "========= 4 passed, 1 warning in 0.03s =========\n",
            ok,
            "4 passed",
        );
        check("Ran 3 tests in 0.001s\n\nOK\n", ok, "OK");
        check(
            "Ran 3 tests in 0.001s\n\nFAILED (failures=1)\n",
            bad,
            "failures=1",
        );
        check("ok  \texample.com/a\t0.012s\n", ok, "example.com/a");
        check(
            "--- FAIL: TestA (0.00s)\nFAIL\nFAIL\texample.com/a\t0.002s\nFAIL\n",
            bad,
            "FAIL",
        );
        check(
            "Test Suites: 1 failed, 1 total\nTests:       1 failed, 5 passed, 6 total\n",
            bad,
            "1 failed, 5 passed",
        );
        check("Tests:       6 passed, 6 total\n", ok, "6 passed");
        check(
            " Test Files  1 passed (1)\n      Tests  6 passed (6)\n",
            ok,
            "6 passed",
        );
        check("npm error code 1\n", bad, "npm error");
        check("make: *** [Makefile:3: test] Error 1\n", bad, "Error 1");
        check("100% tests passed, 0 tests failed out of 12\n", ok, "100%");
        check(
            "75% tests passed, 3 tests failed out of 12\nErrors while running CTest\n",
            bad,
            "",
        );
        check("Found 0 errors in 3 files (0.12s)\n", None, "");
        check("Exit code: 0\n0 errors in 0.1s\n", ok, "exit code 0");
        check("# a\nexit status 2\n", bad, "exit code 2");
        check("4 passed, 1 xfailed in 0.12s\n", ok, "4 passed");
        check("BUILD SUCCESSFUL in 3s\n", ok, "BUILD");
        check("[INFO] BUILD FAILURE\n", bad, "FAILURE");
    }

    #[test]
    fn exit_code_decides() {
        check(
            "Exit code: 0\nWall time: 0.1 seconds\nOutput:\nbuilt\n",
            Some(true),
            "0",
        );
        check("Exit code 2\nsrc/a.c:3: syntax error\n", Some(false), "2");
        check(
            "<returncode>1</returncode>\n<output>\nx\n</output>",
            Some(false),
            "1",
        );
        check("Process exited with code 0\nbuilt", Some(true), "0");
        // The pipe's last program ended well; the summary knows better.
        check(
            "Exit code: 0\ntest result: FAILED. 0 passed; 1 failed\n",
            Some(false),
            "1 failed",
        );
        check(
            "Command: make\nOutput: cc -o lex\nExit Code: 0\nSignal: (none)",
            Some(true),
            "0",
        );
        check(
            r#"[{"query":"make","result":"cc\n","success":false}]"#,
            Some(false),
            "success",
        );
        check("some words that say nothing", None, "");
        check("", None, "");
    }
}
