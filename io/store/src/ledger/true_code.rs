//! What is true, out of the table `state_map`: a row is a file, and this finds the entities in it.

use std::ops::ControlFlow;

use tslp_core::entity::{EntityId, Symbol};
use tslp_core::path::RelPath;
use tslp_projections::STATE_MAP;
use tslp_projections::file_code::{TrackedFileRow, TrueEntity};
use tslp_projections::row::{Cell as _, UnfitRow};
use tslp_projections::state_map::StoredFiles;
use tslp_projections::table::Value;

use super::error::LedgerError;
use super::reader::LedgerReader;

impl LedgerReader {
    /// What is true of an entity.
    ///
    /// # Errors
    /// When the table is missing, or holds what it can't.
    pub fn true_entity(&self, entity: &EntityId) -> Result<Option<TrueEntity>, LedgerError> {
        let of_file = self.true_entities_in(&entity.path)?;
        Ok(of_file.into_iter().find(|it| it.entity == *entity))
    }

    /// What is true in a file, in the order of the symbols.
    ///
    /// # Errors
    /// When the table is missing, or holds what it can't.
    pub fn true_entities_in(&self, path: &RelPath) -> Result<Vec<TrueEntity>, LedgerError> {
        let row = self.find_row::<TrackedFileRow>((path.clone(),))?;
        let entities = row.map_or(Ok(Vec::new()), |row| row.true_entities());
        self.fitting(entities)
    }

    /// Hands everything that is true to `visit`, in the order of paths and symbols.
    ///
    /// # Errors
    /// When the table is missing, or holds what it can't.
    pub fn visit_true(&self, visit: &mut dyn FnMut(TrueEntity)) -> Result<(), LedgerError> {
        self.visit_files("", &mut |row| {
            row.true_entities()?.into_iter().for_each(&mut *visit);
            Ok(ControlFlow::Continue(()))
        })
    }

    /// Hands the path and the symbol of everything that is true to `visit`, in order, from such a pair on; the symbol of a whole file
    /// is empty.
    ///
    /// # Errors
    /// When the table is missing, or holds what it can't.
    pub fn visit_true_names(
        &self,
        (path, symbol): (&str, &str),
        visit: &mut dyn FnMut(&str, &str) -> ControlFlow<()>,
    ) -> Result<(), LedgerError> {
        self.visit_files(path, &mut |row| {
            let file = row.path.as_str();
            let from = if file == path { symbol } else { "" };
            let mut wanted = row.symbols()?.into_iter().filter(|it| *it >= from);
            Ok(wanted.try_for_each(|symbol| visit(file, symbol)))
        })
    }

    /// Hands the rows from a path on to `visit`, until it breaks or one holds what no fold packs.
    fn visit_files(
        &self,
        from: &str,
        visit: &mut dyn FnMut(&TrackedFileRow) -> Result<ControlFlow<()>, UnfitRow>,
    ) -> Result<(), LedgerError> {
        let mut visited = Ok(());
        self.visit_rows_from(from, &mut |row| {
            visit(&row).unwrap_or_else(|unfit| {
                visited = Err(unfit);
                ControlFlow::Break(())
            })
        })?;
        self.fitting(visited)
    }

    /// The files of which something is true, in order, each with the number of its entities. Nothing else of the rows is read.
    ///
    /// # Errors
    /// When the table is missing.
    pub fn tracked_files(&self) -> Result<Vec<(RelPath, u32)>, LedgerError> {
        let sql = "SELECT path, entities FROM state_map ORDER BY path";
        let failed = self.database.sqlite_error("read the tables of");
        let mut files = Vec::new();
        let mut add = |row: &[Value]| {
            let file = RelPath::from_value(&row[0]).zip(u32::from_value(&row[1]));
            files.extend(file);
            ControlFlow::Continue(())
        };
        self.with_tail(STATE_MAP, |tail| {
            tail.merged(&[], &mut add, |visit| {
                let mut statement = self.connection.prepare_cached(sql).map_err(&failed)?;
                let mut rows = statement.query([]).map_err(&failed)?;
                while let Some(row) = rows.next().map_err(&failed)? {
                    let path: String = row.get(0).map_err(&failed)?;
                    let entities = row.get(1).map(Value::Integer).map_err(&failed)?;
                    if visit(&[Value::text(&path), entities]).is_break() {
                        break;
                    }
                }
                Ok(())
            })
        })?;
        Ok(files)
    }

    /// The entity of this name of which something is true. A file's name may itself contain `::`.
    ///
    /// # Errors
    /// When the table is missing, or holds what it can't.
    pub fn true_entity_named(&self, name: &str) -> Result<Option<EntityId>, LedgerError> {
        let splits = name.match_indices("::");
        let splits = splits.map(|(at, mark)| (&name[..at], Some(&name[at + mark.len()..])));
        for (path, symbol) in core::iter::once((name, None)).chain(splits) {
            let entity = EntityId {
                path: RelPath::from_normalised(path),
                symbol: symbol.map(Symbol::new),
            };
            if self.true_entity(&entity)?.is_some() {
                return Ok(Some(entity));
            }
        }
        Ok(None)
    }

    fn fitting<T>(&self, read: Result<T, UnfitRow>) -> Result<T, LedgerError> {
        read.map_err(|unfit| self.unfit_row::<TrackedFileRow>(unfit))
    }
}

impl StoredFiles for LedgerReader {
    fn tracked_file(&self, path: &RelPath) -> Option<TrackedFileRow> {
        match self.find_stored((path.clone(),)) {
            Ok(row) => row,
            Err(error) => {
                tracing::error!(%error, %path, "what is true of a file can't be read");
                None
            }
        }
    }
}
