//! Shells' prompts.

use memchr::memchr;

/// The command behind a shell's prompt: `$ make`, `me@host:~/src$ make`, `PS C:\src> make`. It is empty where the shell
/// waits for one.
pub(super) fn prompt(line: &str) -> Option<&str> {
    const PROMPT_BYTES_MAX: usize = 120;
    if line.starts_with([' ', '\t']) {
        return None;
    }
    if let Some(rest) = line.strip_prefix('$').or_else(|| line.strip_prefix('❯')) {
        return command_behind(rest);
    }
    let beginning = &line.as_bytes()[..line.len().min(PROMPT_BYTES_MAX)];
    // Nearly every line is none, and each of a long history is asked.
    if !begins_as_folder(line) && !begins_as_windows(line) && memchr(b'@', beginning).is_none() {
        return None;
    }
    let divider = beginning
        .iter()
        .copied()
        .enumerate()
        .filter(|(_, byte)| matches!(byte, b'$' | b'#' | b'%' | b'>'))
        .find(|(at, _)| command_behind(&line[at + 1..]).is_some());
    let (at, divider) = divider?;
    let before = &line[..at];
    let is_prompt = match divider {
        b'>' => begins_as_windows(before),
        _ => is_host(before) || divider == b'$' && is_folder(before),
    };
    is_prompt.then(|| command_behind(&line[at + 1..])).flatten()
}

fn command_behind(rest: &str) -> Option<&str> {
    match rest.strip_prefix(' ') {
        Some(command) => Some(command.trim()),
        None => rest.is_empty().then_some(rest),
    }
}

/// `me@host:~/src`, `[me@host src]`, `(venv) me@host src `.
fn is_host(before: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let Some((user, host)) = before.split_once('@') else {
        return false;
    };
    let user = user.rsplit([' ', '[', '(']).next().unwrap_or_default();
    let starts = before.starts_with(['[', '(']) || before.starts_with(user);
    let ends = host.contains([':', ' ', ']']) || host.chars().all(is_name);
    starts && ends && !user.is_empty() && user.chars().all(is_name) && host.starts_with(is_name)
}

/// `~/src`, `/w`, `bash-5.2`.
fn is_folder(before: &str) -> bool {
    begins_as_folder(before) && !before.contains(char::is_whitespace)
}

fn begins_as_folder(text: &str) -> bool {
    ["~", "/", "bash-", "sh-"]
        .iter()
        .any(|start| text.starts_with(start))
}

/// `PS C:\src`, `C:\src`.
fn begins_as_windows(text: &str) -> bool {
    let is_drive =
        || matches!(text.as_bytes(), [drive, b':', b'\\', ..] if drive.is_ascii_alphabetic());
    text.starts_with("PS ") || is_drive()
}
