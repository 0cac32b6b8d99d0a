//! One function of a real file as a person would show it: the file, or its part with the function's neighbours.

use crate::dice::Dice;
use crate::function::{Function, functions};
use crate::sources::{Group, Source};
use crate::statements;

/// Longest text that is pasted whole; of a longer file a part is shown.
const SHOWN_BYTES_MAX: usize = 24 << 10;

/// Functions taken from one file.
const PER_FILE: usize = 7;

/// Lines of a function that is taken.
const LINES: std::ops::RangeInclusive<usize> = 5..=300;

/// Of each size one share: up to so many lines, so many percent.
const SIZES: [(usize, usize); 4] = [(15, 35), (40, 35), (100, 20), (300, 10)];

/// One function and what is shown of its file.
pub(crate) struct Case {
    pub(crate) group: &'static str,
    pub(crate) path: String,
    /// The whole file.
    pub(crate) file: String,
    /// The text that the user pastes.
    pub(crate) shown: String,
    /// The function, by places in `shown`.
    pub(crate) function: Function,
    /// Another function of `shown`, if there is one.
    pub(crate) neighbour: Option<Function>,
}

impl Case {
    pub(crate) fn shows_the_whole_file(&self) -> bool {
        self.shown.len() == self.file.len()
    }

    pub(crate) fn is_cpp(&self) -> bool {
        !self.path.ends_with(".c")
    }

    /// Choices about this case alone.
    pub(crate) fn dice(&self, about: &str) -> Dice {
        Dice::about(&[&self.path, &self.function.name, about])
    }

    /// The function's text, with the comment above it.
    pub(crate) fn text(&self) -> &str {
        &self.shown[self.function.start..self.function.end(&self.shown)]
    }

    /// The shown text with another one in the function's place.
    pub(crate) fn shown_with(&self, function: &str) -> String {
        let place = self.function.start..self.function.end(&self.shown);
        let all = 0..self.shown.len();
        statements::replaced(&self.shown, all, vec![(place, function.to_owned())])
    }
}

/// The functions of a group that are measured.
pub(crate) fn cases(group: &Group) -> Vec<Case> {
    let mut dice = Dice::about(&[group.name]);
    let mut pool: Vec<(&Source, Vec<Function>, usize)> = Vec::new();
    for source in &group.sources {
        let all = functions(&source.text);
        let mut indices: Vec<usize> = (0..all.len())
            .filter(|at| LINES.contains(&all[*at].lines))
            .collect();
        dice.shuffle(&mut indices);
        for index in indices.into_iter().take(PER_FILE) {
            pool.push((source, all.clone(), index));
        }
    }
    dice.shuffle(&mut pool);
    let mut taken: Vec<Case> = Vec::new();
    let mut from = 0;
    for (lines, percent) in SIZES {
        let of_size = pool.iter().filter(|(_, all, index)| {
            let size = all[*index].lines;
            from < size && size <= lines
        });
        let share = (group.functions * percent).div_ceil(100);
        taken.extend(
            of_size
                .take(share)
                .filter_map(|(source, all, index)| case(group.name, source, all, *index)),
        );
        from = lines;
    }
    taken.truncate(group.functions);
    taken
}

fn case(group: &'static str, source: &Source, all: &[Function], index: usize) -> Option<Case> {
    let range = if source.text.len() <= SHOWN_BYTES_MAX {
        0..source.text.len()
    } else {
        let first = index.saturating_sub(2);
        let last = (index + 2).min(all.len() - 1);
        let range = all[first].start..all[last].end(&source.text);
        if range.len() <= SHOWN_BYTES_MAX {
            range
        } else {
            all[index].start..all[index].end(&source.text)
        }
    };
    if range.len() > SHOWN_BYTES_MAX {
        return None;
    }
    let moved = |function: &Function| {
        let by = |at: usize| at - range.start;
        Function {
            start: by(function.start),
            head: by(function.head),
            parameters: (by(function.parameters.0), by(function.parameters.1)),
            open: by(function.open),
            close: by(function.close),
            ..function.clone()
        }
    };
    let is_shown = |function: &&Function| {
        range.start <= function.start && function.end(&source.text) <= range.end
    };
    let neighbour = all[index + 1..]
        .iter()
        .chain(&all[..index])
        .filter(is_shown)
        .find(|function| function.name != all[index].name && function.start != all[index].start);
    Some(Case {
        group,
        path: source.path.clone(),
        file: source.text.clone(),
        shown: source.text[range.clone()].to_owned(),
        function: moved(&all[index]),
        neighbour: neighbour.map(moved),
    })
}
