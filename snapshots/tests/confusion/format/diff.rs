//! Edits as what changes between two texts.

use std::fmt::Write as _;

/// Lines of context on each side.
const CONTEXT: usize = 3;

/// The lines in which two texts differ, with some around them.
struct LineChange<'t> {
    /// Lines before the change's context.
    before: usize,
    lead: Vec<&'t str>,
    old: Vec<&'t str>,
    new: Vec<&'t str>,
    trail: Vec<&'t str>,
}

impl<'t> LineChange<'t> {
    /// `context` lines on each side, or more, until the old lines are in the old text once.
    fn between(old_text: &'t str, new_text: &'t str) -> Self {
        let old: Vec<&str> = old_text.split_inclusive('\n').collect();
        let new: Vec<&str> = new_text.split_inclusive('\n').collect();
        let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
        let most = old.len().min(new.len()) - same;
        let same_after = old
            .iter()
            .rev()
            .zip(new.iter().rev())
            .take(most)
            .take_while(|(a, b)| a == b)
            .count();
        let last = old.len() - same_after;
        let mut context = CONTEXT;
        loop {
            let first = same.saturating_sub(context);
            let end = (last + context).min(old.len());
            let is_all = first == 0 && end == old.len();
            if is_all || old_text.matches(&old[first..end].concat()).count() == 1 {
                return Self {
                    before: first,
                    lead: old[first..same].to_vec(),
                    old: old[same..last].to_vec(),
                    new: new[same..new.len() - same_after].to_vec(),
                    trail: old[last..end].to_vec(),
                };
            }
            context += CONTEXT;
        }
    }

    fn side(&self, middle: &[&str]) -> String {
        whole_lines([&self.lead, middle, &self.trail].concat().concat())
    }

    fn lines(&self, out: &mut String) {
        let marked = [
            (' ', &self.lead),
            ('-', &self.old),
            ('+', &self.new),
            (' ', &self.trail),
        ];
        for (mark, lines) in marked {
            for line in lines {
                let _ = writeln!(out, "{mark}{}", line.trim_end_matches('\n'));
            }
        }
    }
}

fn whole_lines(mut text: String) -> String {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// One SEARCH/REPLACE block.
pub(crate) fn search_replace(old: &str, new: &str) -> String {
    let change = LineChange::between(old, new);
    format!(
        "<<<<<<< SEARCH\n{}=======\n{}>>>>>>> REPLACE\n",
        change.side(&change.old),
        change.side(&change.new)
    )
}

/// A unified diff of one hunk.
pub(crate) fn unified(path: &str, old: &str, new: &str) -> String {
    let change = LineChange::between(old, new);
    let around = change.lead.len() + change.trail.len();
    let mut out = format!(
        "--- a/{path}\n+++ b/{path}\n@@ -{first},{} +{first},{} @@\n",
        around + change.old.len(),
        around + change.new.len(),
        first = change.before + 1,
    );
    change.lines(&mut out);
    out
}

/// A patch for `apply_patch` with one chunk.
pub(crate) fn apply_patch(path: &str, old: &str, new: &str) -> String {
    let mut out = format!("*** Begin Patch\n*** Update File: {path}\n@@\n");
    LineChange::between(old, new).lines(&mut out);
    out.push_str("*** End Patch\n");
    out
}
