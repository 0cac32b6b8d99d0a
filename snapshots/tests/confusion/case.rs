//! One function of a real file as a person would show it: the file, or its part with the function's neighbours.

use std::ops::Range;

use crate::dice::Dice;
use crate::function::{Function, condition, functions};
use crate::lexer::tokens;
use crate::margin::{self, Style};
use crate::sources::{Group, Source};
use crate::statements;

/// Longest text that is pasted whole; of a longer file a part is shown.
const SHOWN_BYTES_MAX: usize = 16 << 10;

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
    /// Another function of `shown` under the same `#if`s, if there is one.
    pub(crate) neighbour: Option<Function>,
}

impl Case {
    pub(crate) fn shows_the_whole_file(&self) -> bool {
        self.shown.len() == self.file.len()
    }

    /// How its language writes functions; none for C and C++, whose tokens are known.
    pub(crate) fn style(&self) -> Option<&'static Style> {
        margin::style(&self.path)
    }

    /// The name of its language in info strings.
    pub(crate) fn tag(&self) -> &'static str {
        match self.style() {
            Some(style) => style.tag,
            None if self.path.ends_with(".c") => "c",
            None => "cpp",
        }
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
        let all = match margin::style(&source.path) {
            None => functions(&source.text),
            Some(style) => margin::functions(&source.text, style),
        };
        let mut indices: Vec<usize> = (0..all.len())
            .filter(|at| LINES.contains(&all[*at].lines))
            .collect();
        dice.shuffle(&mut indices);
        for index in indices.into_iter().take(group.functions_per_file) {
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
    let has_conditions = margin::style(&source.path).is_none();
    let are_closed = |text: &str| !has_conditions || conditions_are_closed(text);
    let range = if source.text.len() <= SHOWN_BYTES_MAX {
        0..source.text.len()
    } else {
        part(&source.text, all, index, are_closed)?
    };
    let from = range.start;
    let moved = |function: &Function| {
        let by = |at: usize| at - from;
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
    let own = &all[index];
    let is_beside = |function: &&Function| {
        let (first, second) = if function.start < own.start {
            (*function, own)
        } else {
            (own, *function)
        };
        function.name != own.name
            && first.end(&source.text) <= second.start
            && are_closed(&source.text[first.end(&source.text)..second.start])
    };
    let neighbour = all[index + 1..]
        .iter()
        .chain(&all[..index])
        .filter(is_shown)
        .find(is_beside);
    let mut function = moved(&all[index]);
    if range.len() < source.text.len() {
        // The part begins inside of them: nobody who answers to it sees them.
        function.namespaces.clear();
    }
    Some(Case {
        group,
        path: source.path.clone(),
        file: source.text.clone(),
        shown: source.text[range].to_owned(),
        function,
        neighbour: neighbour.map(moved),
    })
}

/// The function with as many neighbours as fit, cut where no `#if` is left open.
fn part(
    text: &str,
    all: &[Function],
    index: usize,
    are_closed: impl Fn(&str) -> bool,
) -> Option<Range<usize>> {
    [(2, 2), (2, 1), (1, 2), (1, 1), (1, 0), (0, 1), (0, 0)]
        .into_iter()
        .map(|(before, after)| {
            let last = (index + after).min(all.len() - 1);
            all[index.saturating_sub(before)].start..all[last].end(text)
        })
        .find(|range| {
            let inside = &text[range.clone()];
            range.len() <= SHOWN_BYTES_MAX && are_closed(inside)
        })
}

fn conditions_are_closed(text: &str) -> bool {
    let all = tokens(text);
    let mut open = 0;
    let is_sound = all.iter().all(|token| {
        let (depth, is_branch) = condition(text, token);
        open += depth;
        open >= 0 && (open > 0 || !is_branch)
    });
    is_sound && open == 0
}
