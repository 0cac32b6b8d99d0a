//! Unknown files that a prompt or a reply names: which of them may be taken as they are.

use ignore::gitignore::GitignoreBuilder;
use tslp_core::path::RelPath;
use tslp_replay::pending::TouchedText;

use super::examine::{ObserverShared, text_of};
use super::files::Files;

impl ObserverShared {
    /// The text of a file that may be taken without being asked for: readable, not hidden, and not ignored by a
    /// `.gitignore` of the workspace. Git's own settings aren't read.
    pub(super) fn touched_text(&self, root: &dyn Files, path: &RelPath) -> Option<TouchedText> {
        if !self.adopt_on_touch || is_hidden(path) || self.is_ignored(root, path) {
            return None;
        }
        let steady = self.steady_content(root, path).ok().flatten()?;
        let text = text_of(&steady.bytes).ok()?;
        Some((text, steady.identity.changed_at()))
    }

    /// Whether git would ignore the file, or one of the folders that it is in.
    fn is_ignored(&self, root: &dyn Files, path: &RelPath) -> bool {
        let mut rules = Vec::new();
        let parts: Vec<&str> = path.as_str().split('/').collect();
        for depth in 0..parts.len() {
            let folder = parts[..depth].join("/");
            let name = match folder.as_str() {
                "" => ".gitignore".to_owned(),
                folder => format!("{folder}/.gitignore"),
            };
            // A file that can't be read has no rules, as for git.
            let text = self.file_text(root, &RelPath::from_normalised(&name));
            if let Ok(Some(text)) = text {
                let mut builder = GitignoreBuilder::new(format!("/{folder}"));
                for line in text.lines() {
                    // A line that is no pattern is passed over, as by git.
                    let _ = builder.add_line(None, line);
                }
                rules.extend(builder.build());
            }
            // Folder by folder, as git does: a file can't be taken back in below a folder that is ignored.
            let below = format!("/{}", parts[..=depth].join("/"));
            let is_folder = depth + 1 < parts.len();
            // The innermost rule that matches decides.
            let verdict = rules
                .iter()
                .rev()
                .map(|rules| rules.matched(&below, is_folder))
                .find(|verdict| !verdict.is_none());
            if verdict.is_some_and(|verdict| verdict.is_ignore()) {
                return true;
            }
        }
        false
    }
}

fn is_hidden(path: &RelPath) -> bool {
    path.as_str().split('/').any(|part| part.starts_with('.'))
}
