//! What clients call by paths that aren't beneath our root (docs/rules.md).

use alloc::string::String;

use tslp_core::event::{Event, PlaceKind, Recorded};
use tslp_core::ids::{EpisodeId, SessionId};
use tslp_core::path::{self, RelPath};

use crate::row_map::RowMap;

/// Most paths that are kept, those of the newest conversations.
const PLACES_KEPT: usize = 4096;

row! {
    /// `places`: the files and folders of each conversation's client that aren't beneath our root by their paths.
    pub struct PlaceRow in table "places", version 2;
    key {
        /// The conversation.
        session: SessionId,
        /// The absolute path as its client has it; empty for its working folder.
        theirs: String,
    }
    values {
        /// What it is.
        place: PlaceKind,
        /// The same beneath our root, which itself is empty; of a working folder its path.
        ours: String,
        /// The first file that was recognised below it; empty if it wasn't found so.
        file: String,
        /// The episode of the last event.
        episode: EpisodeId,
    }
}

/// What a client's path means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientPlace<'p> {
    /// What is beneath our root.
    Ours(&'p PlaceRow),
    /// Another file of this machine.
    Elsewhere,
    /// This machine doesn't have it.
    Nowhere,
}

/// The paths of clients.
#[derive(Default)]
pub struct Places {
    pub(crate) rows: RowMap<PlaceRow>,
}

impl Places {
    /// Folds one event in.
    pub fn apply(&mut self, recorded: &Recorded) {
        let session = recorded.session;
        let (theirs, place, ours, file) = match &recorded.event {
            Event::PlaceObserved(seen) if seen.place == PlaceKind::WorkingFolder => {
                (String::new(), seen.place, seen.written.clone(), None)
            }
            Event::PlaceObserved(seen) if seen.written.starts_with('/') => {
                (seen.written.clone(), seen.place, seen.ours.clone(), None)
            }
            Event::PathResolved(resolved) => {
                let known = self.rows.get(&(session, resolved.theirs.clone()));
                let place = match &resolved.file {
                    None => PlaceKind::Unseen,
                    // Two files that agree teach where the client's root is.
                    Some(file)
                        if known.is_some_and(|known| {
                            let is_other = !known.file.is_empty() && known.file != file.as_str();
                            known.ours == resolved.ours && is_other
                        }) =>
                    {
                        PlaceKind::Beneath
                    }
                    Some(_) => PlaceKind::MatchedOnce,
                };
                let file = resolved.file.as_ref().map(RelPath::as_str);
                (resolved.theirs.clone(), place, resolved.ours.clone(), file)
            }
            _ => return,
        };
        let row = PlaceRow {
            session,
            theirs,
            place,
            ours,
            file: file.map(String::from).unwrap_or_default(),
            episode: recorded.episode,
        };
        self.rows.put(row);
        self.rows.keep_last(PLACES_KEPT);
    }

    /// The folder from which a conversation's relative paths are meant, if its client states one.
    #[must_use]
    pub fn working_folder(&self, session: SessionId) -> Option<&str> {
        let row = self.rows.get(&(session, String::new()))?;
        Some(&row.ours)
    }

    /// What is known of an absolute path: by itself, or by the nearest folder above it.
    #[must_use]
    pub fn find(&self, session: SessionId, theirs: &str) -> Option<ClientPlace<'_>> {
        if self.rows.is_empty() {
            return None;
        }
        path::with_folders(theirs)
            .enumerate()
            .find_map(|(depth, it)| {
                let row = self.rows.get(&(session, String::from(it)))?;
                match row.place {
                    PlaceKind::Beneath => Some(ClientPlace::Ours(row)),
                    // A folder says nothing of other folders in it.
                    PlaceKind::Elsewhere => (depth < 2).then_some(ClientPlace::Elsewhere),
                    PlaceKind::Nowhere => Some(ClientPlace::Nowhere),
                    PlaceKind::WorkingFolder | PlaceKind::MatchedOnce | PlaceKind::Unseen => None,
                }
            })
    }

    /// What is known of this path itself.
    #[must_use]
    pub fn at(&self, session: SessionId, theirs: &str) -> Option<&PlaceRow> {
        self.rows.get(&(session, String::from(theirs)))
    }

    /// All of them.
    pub fn rows(&self) -> impl Iterator<Item = &PlaceRow> {
        self.rows.values()
    }
}
