//! Shells' prompts.

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
    let beginning = line.bytes().take(PROMPT_BYTES_MAX).enumerate();
    let divider = beginning
        .filter(|(_, byte)| matches!(byte, b'$' | b'#' | b'%' | b'>'))
        .find(|(at, _)| command_behind(&line[at + 1..]).is_some());
    let (at, divider) = divider?;
    let before = &line[..at];
    let is_prompt = match divider {
        b'>' => before.starts_with("PS ") || is_drive(before),
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
    let is_start = ["~", "/", "bash-", "sh-"]
        .iter()
        .any(|start| before.starts_with(start));
    is_start && !before.contains(char::is_whitespace)
}

/// `C:\src`.
fn is_drive(before: &str) -> bool {
    before.get(1..3) == Some(":\\") && before.starts_with(|c: char| c.is_ascii_alphabetic())
}
