//! The calls in a reply's text: closed `tool` fences with JSON in them.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tslp_core::capture::tool_text;

use super::{FLAWED_BYTES_MAX, boundary_before};

/// One call as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenCall {
    /// The command line; where there is a flaw, what the model wrote.
    pub text: String,
    /// The reason why nothing can be run.
    pub flaw: Option<String>,
}

impl WrittenCall {
    fn with_flaw(text: &str, flaw: impl Into<String>) -> Self {
        let end = boundary_before(text, FLAWED_BYTES_MAX);
        Self {
            text: text[..end].to_owned(),
            flaw: Some(flaw.into()),
        }
    }
}

/// All calls of one round's text, in order; none if the text breaks off.
#[must_use]
pub fn calls_in(text: &str, shell_fences: bool, calls_max: usize) -> Vec<WrittenCall> {
    if !text.contains("tool") && !shell_fences {
        return Vec::new();
    }
    let talk = tool_text(text);
    if talk.is_cut {
        return Vec::new();
    }
    let blocks = talk.calls.iter();
    let mut found: Vec<(usize, Vec<WrittenCall>)> = blocks
        .map(|body| {
            let block = text[body.clone()].trim();
            (body.start, read_block(block, calls_max))
        })
        .collect();
    if shell_fences {
        let lines = talk.shell.iter();
        found.extend(lines.map(|body| {
            let call = WrittenCall {
                text: line_of_script(&text[body.clone()]),
                flaw: None,
            };
            (body.start, vec![call])
        }));
    }
    // Both kinds of fences in the order in which they were written: a command may depend on the one before.
    found.sort_by_key(|(start, _)| *start);
    let mut calls: Vec<WrittenCall> = found.into_iter().flat_map(|(_, calls)| calls).collect();
    // The first call over the limit reports that; those after it are dropped.
    calls.truncate(calls_max + 1);
    if let Some(last) = calls.get_mut(calls_max) {
        *last = WrittenCall::with_flaw(
            &last.text,
            format!("a round may make {calls_max} calls; this one and those after it are too many"),
        );
    }
    calls
}

/// A fence's lines without comments as one command line, which ends with the first command that fails. What only a shell
/// understands is refused when the line is split.
fn line_of_script(script: &str) -> String {
    let lines = script.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut joined = String::new();
    for line in lines {
        match joined.strip_suffix('\\').map(str::len) {
            Some(length) => joined.truncate(length),
            None if joined.is_empty() || joined.ends_with(['&', '|', ';']) => {}
            None => joined.push_str(" &&"),
        }
        if !joined.is_empty() {
            joined.push(' ');
        }
        joined.push_str(line);
    }
    joined
}

/// The calls of one block: an object or an array of objects.
fn read_block(block: &str, calls_max: usize) -> Vec<WrittenCall> {
    let items = if block.starts_with('[') {
        serde_json::from_str::<Vec<&RawValue>>(block)
    } else {
        serde_json::from_str(block).map(|item| vec![item])
    };
    match items {
        Ok(items) if items.is_empty() => {
            vec![WrittenCall::with_flaw(block, "the list of calls is empty")]
        }
        Ok(items) => {
            let items = items.iter().take(calls_max + 1);
            items.map(|item| read_call(item.get())).collect()
        }
        Err(error) => vec![WrittenCall::with_flaw(
            block,
            format!("the block is no JSON: {error}"),
        )],
    }
}

/// The two fields of a call, if each is there once: of one that is there twice, two readers would take different ones.
#[derive(Default, Deserialize)]
struct CallFields {
    #[serde(default, rename = "type")]
    kind: Value,
    #[serde(default)]
    command: Value,
}

fn read_call(item: &str) -> WrittenCall {
    let flawed = |flaw: String| WrittenCall::with_flaw(item, flaw);
    let fields: Result<CallFields, _> = serde_json::from_str(item);
    let fields = match fields {
        Ok(fields) => fields,
        Err(error) if error.to_string().starts_with("duplicate") => {
            return flawed(format!("a call has each field once: {error}"));
        }
        // No object.
        Err(_) => CallFields::default(),
    };
    match (&fields.kind, &fields.command) {
        (Value::String(kind), Value::String(command)) if kind == "shell" => WrittenCall {
            text: command.clone(),
            flaw: None,
        },
        (Value::String(kind), _) if kind == "shell" => {
            flawed("`command` must be a text with the command line".into())
        }
        (Value::String(kind), _) => flawed(format!(
            "`{kind}` is no type of tool; the only one is `shell`"
        )),
        _ => flawed(
            r#"a call is written {"type":"shell","command":"…"}, or a list of such objects"#.into(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One line a call: what is to be run, or why nothing is.
    fn check(text: &str, expected: &[&str]) {
        let calls = calls_in(text, false, 3);
        let found: Vec<String> = calls
            .iter()
            .map(|call| match &call.flaw {
                None => call.text.clone(),
                Some(flaw) => format!("! {flaw}"),
            })
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    fn shell(command: &str) -> String {
        format!("{{\"type\":\"shell\",\"command\":\"{command}\"}}")
    }

    #[test]
    fn one_object_or_a_list() {
        check("no tools here, nor in ```tool```", &[]);
        check(
            &format!("I look.\n```tool\n{}\n```\n", shell("ls")),
            &["ls"],
        );
        check(
            &format!(
                "~~~tool\n[{},\n{}]\n~~~\nand\n````tool\n{}\n````",
                shell("a"),
                shell("b"),
                shell("c")
            ),
            &["a", "b", "c"],
        );
    }

    #[test]
    fn shell_fence_per_line() {
        for (script, expected) in [
            ("ls\n", "ls"),
            (
                "# look\ncd src\n\n  # count\ngrep -c x a.c\n",
                "cd src && grep -c x a.c",
            ),
            (
                "grep -rn x \\\n  src |\nhead -3\n",
                "grep -rn x  src | head -3",
            ),
            ("make &&\nmake test; ls", "make && make test; ls"),
        ] {
            let calls = calls_in(&format!("So:\n```bash\n{script}\n```\n"), true, 3);
            assert_eq!(calls.len(), 1, "{script}");
            assert_eq!(calls[0].text, expected, "{script}");
        }
    }

    #[test]
    fn quoted_or_broken_off() {
        let call = shell("ls");
        check(&format!("````md\n```tool\n{call}\n```\n````\n"), &[]);
        check(&format!("```tool-result\n```tool\n{call}\n```\n"), &[]);
        check(&format!("```tool\n{call}\n"), &[]);
        check(&format!("```tool\n{call}\n```\n```c\nint x;"), &[]);
        check(&format!("> ```tool\n> {call}\n> ```\n"), &[]);
    }

    /// Replies around a call; `CALL` is its fence, `RUNS` in a case's first line says that it runs.
    const REPLIES: &str = include_str!("replies.txt");

    /// Only a fence of the answer itself asks for a call.
    #[test]
    fn fence_of_the_answer() {
        let fence = format!("```tool\n{}\n```", shell("ls"));
        let mut counts = [0, 0];
        for case in REPLIES.split("\n=====\n").skip(1) {
            let (title, reply) = case.split_once('\n').unwrap();
            let mut text = String::new();
            for line in reply.split_inclusive('\n') {
                // A fence is indented and quoted as its line is.
                match line.split_once("CALL") {
                    Some((before, after)) => {
                        let lead = if before.trim().is_empty() || before == "> " {
                            before
                        } else {
                            ""
                        };
                        let fence = fence.replace('\n', &format!("\n{lead}"));
                        text.extend([before, &fence, after]);
                    }
                    None => text.push_str(line),
                }
            }
            let runs = title.starts_with("RUNS");
            counts[usize::from(runs)] += 1;
            check(&text, if runs { &["ls"] } else { &[] });
        }
        assert!(counts[0] >= 30 && counts[1] >= 12, "{counts:?}");
    }

    #[test]
    fn flaws_are_told() {
        let fenced = |block: &str| format!("```tool\n{block}\n```");
        let check = |block: &str, expected: &str| {
            let calls = calls_in(&fenced(block), false, 3);
            let flaw = calls.last().and_then(|call| call.flaw.clone()).unwrap();
            assert!(flaw.contains(expected), "{block}: {flaw}");
            assert!(calls.len() <= 4, "{block}");
        };
        check("{\"type\":\"shell\",", "no JSON");
        check(
            "{\"type\":\"python\",\"command\":\"x\"}",
            "`python` is no type of tool",
        );
        check(
            "{\"type\":\"shell\",\"command\":[\"ls\"]}",
            "must be a text",
        );
        check("{\"command\":\"ls\"}", "a call is written");
        check(
            "{\"type\":\"shell\",\"command\":\"ls\",\"command\":\"rm x\"}",
            "duplicate field `command`",
        );
        check(
            "[{\"type\":\"shell\",\"command\":\"ls\"},{\"type\":\"x\",\"comm\\u0061nd\":\"a\",\"command\":\"b\",\"type\":\"shell\"}]",
            "duplicate field",
        );
        check("[]", "empty");
        check("7", "a call is written");
        let many = vec![shell("ls"); 1_000].join(",");
        check(&format!("[{many}]"), "too many");
    }

    #[test]
    fn shell_fences_wanted() {
        let text = format!(
            "```sh\nls -l\n```\n```tool\n{}\n```\n```bash src/a.sh\nx\n```\n",
            shell("pwd")
        );
        let texts = |wanted| {
            let calls = calls_in(&text, wanted, 8).into_iter();
            calls.map(|call| call.text).collect::<Vec<_>>()
        };
        assert_eq!(texts(false), ["pwd"]);
        assert_eq!(texts(true), ["ls -l", "pwd"]);
    }
}
