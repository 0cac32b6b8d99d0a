//! Tags and what is between them: opening tags with attributes, an element's children.

use alloc::format;
use alloc::string::{String, ToString};
use core::ops::Range;

use super::ends::{TagPosition, find_tag};
use super::line::without_first_end;
use super::vocabulary::{PATH_ATTRIBUTES, PATH_TAGS};
use crate::limits::PATH_BYTES_MAX;

/// An opening tag.
pub(super) struct OpeningTag<'t> {
    pub(super) name: &'t str,
    attributes: &'t str,
    pub(super) end: usize,
}

impl<'t> OpeningTag<'t> {
    pub(super) fn at(text: &'t str, start: usize) -> Option<Self> {
        let inside = text[start..].strip_prefix('<')?;
        let line = inside.lines().next()?;
        let length = line.find('>')?;
        let inside = &line[..length];
        let end = inside.find(char::is_whitespace).unwrap_or(inside.len());
        let (name, attributes) = inside.split_at(end);
        (!inside.ends_with('/')).then_some(Self {
            name,
            attributes,
            end: start + 1 + length + 1,
        })
    }

    pub(super) fn path(&self) -> Option<&'t str> {
        PATH_ATTRIBUTES.iter().find_map(|name| self.attribute(name))
    }

    pub(super) fn attribute(&self, name: &str) -> Option<&'t str> {
        let mut rest = self.attributes;
        while let Some((key, value)) = rest.split_once('=') {
            let value = value.trim_start();
            let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''));
            let (value, after) = match quote {
                Some(quote) => value[1..].split_once(quote)?,
                None => value.split_once(' ').unwrap_or((value, "")),
            };
            if key.trim() == name {
                return Some(value).filter(|value| !value.is_empty());
            }
            rest = after;
        }
        None
    }
}

/// The value of a body's first child, if that has this name and is on one line, and the text after it.
pub(super) fn first_child<'t>(body: &'t str, name: &str) -> Option<(&'t str, &'t str)> {
    let tagged = body.trim_start().strip_prefix('<')?;
    let inside = tagged.strip_prefix(name)?.strip_prefix('>')?;
    let closer = format!("</{name}>");
    let (value, _) = inside.lines().next()?.split_once(&closer)?;
    let rest = &inside[value.len() + closer.len()..];
    Some((value.trim(), rest.trim_start()))
}

/// A path that is the value of a body's first child.
pub(super) fn path_child(body: &str, names: &[&str]) -> Option<String> {
    let body = body.trim_start();
    let body = body.strip_prefix("<args>").unwrap_or(body);
    let (path, _) = names.iter().find_map(|name| first_child(body, name))?;
    (!path.is_empty() && path.len() <= 4 * PATH_BYTES_MAX).then(|| path.to_string())
}

/// Whether a body begins with a child that names a path.
pub(super) fn begins_with_path(body: &str) -> bool {
    let inside = body.trim_start().strip_prefix('<').unwrap_or_default();
    let mut names = PATH_TAGS.iter();
    names.any(|name| {
        inside
            .strip_prefix(name)
            .is_some_and(|rest| rest.starts_with('>'))
    })
}

/// A child's content in a text.
pub(super) struct ChildElement {
    pub(super) content: Range<usize>,
    pub(super) is_closed: bool,
}

/// A child that may itself contain tags: from its first opening tag to its last closing one.
pub(super) fn long_child(text: &str, body: &Range<usize>, name: &str) -> Option<ChildElement> {
    let opener = format!("<{name}>");
    let start = body.start + text[body.clone()].find(&opener)? + opener.len();
    Some(child_from(text, start..body.end, name))
}

/// A child whose content starts here, up to its last closing tag.
pub(super) fn child_from(text: &str, range: Range<usize>, name: &str) -> ChildElement {
    let closer = format!("</{name}>");
    let end = text[range.clone()].rfind(&closer);
    let content = range.start..end.map_or(range.end, |end| range.start + end);
    ChildElement {
        content: trimmed_content(text, content),
        is_closed: end.is_some(),
    }
}

/// All elements of a name: the start of each, and its content. The last may be unclosed.
pub(super) fn elements(text: &str, name: &str) -> impl Iterator<Item = (usize, ChildElement)> {
    let (opener, closer) = (format!("<{name}>"), format!("</{name}>"));
    let mut at = 0;
    core::iter::from_fn(move || {
        let start = find_tag(text, &opener, TagPosition::Edge, at)?;
        let end = find_tag(text, &closer, TagPosition::Edge, start);
        at = end.unwrap_or(text.len());
        let element = ChildElement {
            content: start + opener.len()..at,
            is_closed: end.is_some(),
        };
        Some((start, element))
    })
}

/// A range without the line end after its opening tag and the indentation of its closing tag.
pub(super) fn trimmed_content(text: &str, range: Range<usize>) -> Range<usize> {
    let start = range.end - without_first_end(&text[range.clone()]).len();
    let inside = &text[start..range.end];
    let last_line = inside.rfind('\n').map_or(0, |newline| newline + 1);
    let end = if inside[last_line..].trim().is_empty() {
        start + last_line
    } else {
        range.end
    };
    start..end
}
