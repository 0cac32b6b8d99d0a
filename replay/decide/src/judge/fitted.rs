//! A call whose old text isn't in its file, made to fit before the client has it, where exactly one place can be meant (docs/repair.md).

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::slice::from_ref;
use tslp_projections::state::StateView;

use crate::judge::meant::whole_texts;
use crate::scope::place::{self, Standpoint};
use tslp_core::capture::{self, json_text};
use tslp_core::edit::{self, BaseTexts, Edit, EditError, Hunk};
use tslp_core::entity::EntityId;
use tslp_core::message::ToolCall;
use tslp_core::path::RelPath;

/// The file that a call edits, and its arguments with the file's own text in the place of old texts that aren't there; `None` if it
/// fits as it is, or may mean several places or none. `was_shown`: whether the model saw the lines of a text.
#[must_use]
pub fn fitted_arguments(
    view: &StateView<'_>,
    at: Standpoint<'_>,
    call: &ToolCall,
    was_shown: &dyn Fn(&str) -> bool,
) -> Option<(EntityId, String)> {
    let (path, mut hunks) = edit_of(view, at, call)?;
    let file = EntityId::file(path.clone());
    // Clients compare with the line ends that models write.
    let texts = whole_texts(view, &file)?;
    let mut former = texts.into_iter().map(|text| text.replace("\r\n", "\n"));
    let mut text = former.next()?;
    let former: Vec<String> = former.collect();
    let mut changes = Vec::new();
    for hunk in &mut hunks {
        let fits = edit::apply(from_ref(hunk), BaseTexts::Whole(&text));
        if let (Err(EditError::NotFound), Hunk::Replace { old, new, .. }) = (fits, &mut *hunk) {
            // A text that was there is meant itself, and no other place that is like it.
            let mut stale = former.iter().filter(|it| it.contains(&**old)).peekable();
            let fitted = match stale.peek() {
                None => in_layout(old, new, &text),
                Some(_) if was_shown(old) => stale.find_map(|it| since(old, new, it, &text)),
                Some(_) => None,
            }?;
            let written = [core::mem::take(old), core::mem::take(new)];
            (*old, *new) = fitted;
            changes.extend(written.into_iter().zip([old.clone(), new.clone()]));
        }
        let edited = edit::apply(from_ref(hunk), BaseTexts::Whole(&text)).ok()?;
        text = edited.into_iter().next().flatten().unwrap_or(text);
    }
    // A string, or whole lines between the marks of a diff.
    let replaced =
        |text: String, (old, new): &(String, String)| match text == *old || old.ends_with('\n') {
            true => text.replacen(&**old, new, 1),
            false => text,
        };
    let mut change = |written: &str| {
        let changed = changes.iter().fold(written.to_string(), replaced);
        (changed != written).then_some(changed)
    };
    let arguments = json_text::with_others(&call.arguments, &mut change).ok()??;
    let fitted = ToolCall {
        name: call.name.clone(),
        arguments: arguments.clone(),
        ..ToolCall::default()
    };
    (edit_of(view, at, &fitted)? == (path, hunks)).then_some((file, arguments))
}

/// The one file that a call changes, and how.
fn edit_of(
    view: &StateView<'_>,
    at: Standpoint<'_>,
    call: &ToolCall,
) -> Option<(RelPath, Vec<Hunk>)> {
    let mut blocks = capture::tool_call(&call.name, &call.arguments).into_iter();
    let block = blocks.next().filter(|_| blocks.next().is_none())?;
    let Edit::Change(hunks) = block.edit?.ok()? else {
        return None;
    };
    Some((place::in_call(view, at, &block.path?).ok()?, hunks))
}

/// How many lines two texts have in common at their beginning, and then at their end.
fn common_lines(one: &str, other: &str) -> (usize, usize) {
    let same = |(one, other): &(&str, &str)| one == other;
    let head = one.lines().zip(other.lines()).take_while(same).count();
    let (lines, others) = (one.lines().skip(head), other.lines().skip(head));
    let lines: Vec<&str> = lines.collect();
    let others: Vec<&str> = others.collect();
    let tail = lines.iter().rev().zip(others.iter().rev());
    (head, tail.take_while(|(one, other)| one == other).count())
}

fn indent_of(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

/// An edit's old and new text as they are where the old one's lines differ from the file's in blanks alone, and there is one such place.
/// What the edit leaves as it is stays as the file has it, and what it writes is indented as the file is.
fn in_layout(old: &str, new: &str, text: &str) -> Option<(String, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let full = |lines: &[&str]| lines.iter().filter(|line| !line.trim().is_empty()).count();
    let (written, made): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let bare = |line: &str| line.split_whitespace().collect::<String>();
    let known = (0..).zip(lines.iter().map(|line| bare(line)));
    let known: Vec<(usize, String)> = known.filter(|(_, line)| !line.is_empty()).collect();
    let wanted = written.iter().map(|line| (*line, bare(line)));
    let wanted: Vec<(&str, String)> = wanted.filter(|(_, line)| !line.is_empty()).collect();
    let mut places = known.windows(wanted.len().max(1)).filter(|there| {
        let mut pairs = there.iter().zip(&wanted);
        !wanted.is_empty() && pairs.all(|((_, there), (_, line))| there == line)
    });
    let place = places.next().filter(|_| places.next().is_none())?;
    let pairs = place.iter().zip(&wanted);
    let indents = pairs.map(|((at, _), (line, _))| (indent_of(line), indent_of(lines[*at])));
    let indents: Vec<(&str, &str)> = indents.collect();
    let (head, tail) = common_lines(old, new);
    let (first, last) = (place[0].0, place[place.len() - 1].0);
    // Empty lines at the seams are the file's, too.
    let is_empty = |line: Option<&&str>| line.map(|line| line.trim().is_empty());
    let kept = full(&written[..head]);
    let before = match is_empty(written[..head].last()) {
        None => first,
        Some(true) => place.get(kept).map_or(last + 1, |next| next.0),
        Some(false) => place[kept - 1].0 + 1,
    };
    let after = written.len() - tail;
    let left = place.len() - full(&written[after..]);
    let after = match is_empty(written[after..].first()) {
        None => last + 1,
        Some(true) => left.checked_sub(1).map_or(first, |at| place[at].0 + 1),
        Some(false) => place[left].0,
    };
    let mut fitted: Vec<String> = Vec::new();
    fitted.extend(lines[first..before].iter().map(|line| (*line).into()));
    for line in &made[head..made.len() - tail] {
        let indent = match line.trim() {
            "" => String::new(),
            _ => indent_there(indent_of(line), &indents)?,
        };
        fitted.push(indent + line.trim_start());
    }
    fitted.extend(lines[after..=last].iter().map(|line| (*line).into()));
    let end = if old.ends_with('\n') { "\n" } else { "" };
    let last_end = if fitted.is_empty() { "" } else { end };
    Some((
        lines[first..=last].join("\n") + end,
        fitted.join("\n") + last_end,
    ))
}

/// What a line's indentation in an edit is in the file; `None` if nobody can tell.
fn indent_there(own: &str, indents: &[(&str, &str)]) -> Option<String> {
    let outer = indents.iter().filter(|(here, _)| own.starts_with(here));
    let (here, there) = *outer.max_by_key(|(here, _)| here.len())?;
    let mut others = indents.iter().filter(|(other, _)| *other == here);
    if others.any(|(_, other)| *other != there) {
        return None;
    }
    // One step further in than another line is what it is there.
    let more = &own[here.len()..];
    let steps = indents
        .iter()
        .flat_map(|from| indents.iter().map(move |to| (from, to)));
    let mut steps = steps.filter(|(from, to)| to.0.strip_prefix(from.0) == Some(more));
    let step = match steps.next() {
        Some((from, to)) => to.1.strip_prefix(from.1)?,
        None => Some(more).filter(|_| indents.iter().all(|it| it.0 == it.1 || it.0.is_empty()))?,
    };
    Some([there, step].concat())
}

/// An edit of a former text as one of the present text: with as much of what it leaves as it is as stands in both, once.
fn since(old: &str, new: &str, former: &str, text: &str) -> Option<(String, String)> {
    let is_once = |text: &str, part: &str| text.matches(part).count() == 1;
    let (head, tail) = common_lines(old, new);
    let (old_lines, new_lines): (Vec<&str>, Vec<&str>) = (
        old.split_inclusive('\n').collect(),
        new.split_inclusive('\n').collect(),
    );
    let cuts = (0..=head).flat_map(|from| (0..=tail).map(move |after| (from, after)));
    let mut cuts: Vec<(usize, usize)> = cuts.filter(|_| is_once(former, old)).collect();
    cuts.sort_by_key(|(from, after)| from + after);
    let mut parts = cuts.into_iter().map(|(from, after)| {
        let part = |lines: &[&str]| lines[from..lines.len() - after].concat();
        (part(&old_lines), part(&new_lines))
    });
    parts.find(|(part, _)| is_once(text, part) && is_once(former, part))
}

#[cfg(test)]
mod tests;
