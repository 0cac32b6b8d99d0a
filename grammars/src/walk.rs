//! The one walk over a syntax tree that finds definitions, counts structure and sees comments.
//!
//! It moves a cursor and keeps its own stack of open nodes, so that the depth of a tree costs no call stack. Counts
//! are running totals; a definition's figures are the difference between leaving and entering.

use std::collections::HashSet;

use tree_sitter::{Node, Tree, TreeCursor};
use tslp_core::elision;
use tslp_core::entity::Symbol;
use tslp_core::extract::{Body, Definition, Extraction, Proof};
use tslp_core::limits::DEFINITIONS_PER_BLOCK_MAX;
use tslp_core::measure::{Part, PartCounts};
use tslp_core::slice::{Figures, Span};

use crate::c;
use crate::context::{FigureTotals, NodeContext, WalkFrame, wrapping_frames};
use crate::language::Language;
use crate::lead::{self, Comment};
use crate::node::{
    DefinitionPlace, NodeKind, NodeKinds, NodeRole, OpenedNode, offset, span as span_of,
};
use crate::parts::{self, BodyPlace, Parts};
use crate::placement::Placement;
use crate::readable::{PLACEHOLDER_BYTES_MAX, Readable};

/// A definition whose end the walk hasn't reached.
#[derive(Debug)]
struct OpenDefinition {
    depth: u32,
    index: usize,
    at_entry: FigureTotals,
    /// Attributes in front of its node.
    attributes: u32,
    body: BodyPlace,
}

/// Most open brackets that are searched for the one that a bracket closes.
const BRACKETS_COMPARED_MAX: usize = 100;

/// Most errors whose positions are kept.
const UNREAD_MAX: usize = 1_000;

struct TreeWalk<'tree, 'walk> {
    language: &'static Language,
    kinds: &'static NodeKinds,
    source: &'walk [u8],
    readable: &'walk Readable,
    /// Of a text with errors.
    placement: Option<Placement<'tree, 'walk>>,
    place: DefinitionPlace,
    in_error: bool,
    scope: String,
    namespace: usize,
    frames: Vec<WalkFrame<'tree>>,
    open: Vec<OpenDefinition>,
    totals: FigureTotals,
    comments: Vec<Comment>,
    /// Attributes and decorators of the next definition, in source order.
    prefixes: Vec<Span>,
    elisions: Vec<Span>,
    /// Symbols that are defined already: only a variable's first assignment defines it.
    firsts: &'walk mut HashSet<String>,
    /// Brackets that are open, where the text has errors.
    brackets: Vec<u8>,
    /// The positions of the first errors.
    unread: Vec<Span>,
    /// Code whose lines don't fit one another: what reaches into it is damaged.
    torn: Vec<Span>,
    /// The end of the last error, or of the code in it.
    last_error: usize,
    definitions: Vec<Definition>,
    /// Strings that are statements.
    remarks: Vec<Span>,
    imports: Vec<Span>,
    preamble: bool,
}

/// Walks `tree`, which was parsed from `readable`'s text.
pub(crate) fn walk(
    language: &'static Language,
    tree: &Tree,
    source: &[u8],
    readable: &Readable,
    firsts: &mut HashSet<String>,
) -> Extraction {
    let mut walk = TreeWalk {
        language,
        kinds: &language.ready().kinds,
        source,
        readable,
        placement: tree
            .root_node()
            .has_error()
            .then(|| Placement::new(source, readable.text(source))),
        torn: Vec::new(),
        place: DefinitionPlace::Namespace,
        in_error: false,
        scope: String::new(),
        namespace: 0,
        frames: Vec::new(),
        open: Vec::new(),
        totals: FigureTotals::default(),
        comments: Vec::new(),
        prefixes: readable.prefixes.clone(),
        elisions: readable.elisions.clone(),
        firsts,
        brackets: Vec::new(),
        unread: Vec::new(),
        last_error: 0,
        definitions: Vec::new(),
        remarks: Vec::new(),
        imports: Vec::new(),
        preamble: source.starts_with(b"#!/"),
    };
    walk.run(&mut tree.walk());
    walk.into_extraction()
}

impl<'tree> TreeWalk<'tree, '_> {
    fn run(&mut self, cursor: &mut TreeCursor<'tree>) {
        let mut depth = 0;
        loop {
            let is_comment = self.enter_node(cursor.node(), depth);
            if cursor.goto_first_child() {
                depth += 1;
                continue;
            }
            // Parity compares code, so a changed remark must not count.
            self.totals.tokens += u32::from(!is_comment);
            loop {
                self.leave_nodes(depth);
                if cursor.goto_next_sibling() {
                    break;
                }
                if !cursor.goto_parent() {
                    return;
                }
                depth -= 1;
            }
        }
    }

    /// Handles a node before its children. Returns whether it is a comment.
    fn enter_node(&mut self, node: Node<'tree>, depth: u32) -> bool {
        let NodeKind {
            role,
            named,
            bracket,
            is_statement,
            part,
            is_block,
            is_name,
            ..
        } = self.kinds.get(node.kind_id());
        if role == NodeRole::Comment {
            self.note_comment(span_of(node));
            return true;
        }
        self.totals.nodes += u32::from(named);
        let is_remark = is_statement && is_string_alone(node);
        if is_remark {
            self.remarks.push(span_of(node));
        } else if let Some(part) = part {
            self.totals.parts.add_parts(part, 1);
        }
        if is_name && let Some(part) = Part::of_name(span_of(node).of(self.source)) {
            self.totals.parts.add_parts(part, 1);
        }
        if is_block && self.does_nothing(node) {
            self.totals.parts.add_parts(Part::Empty, 1);
        }
        if let Some(placement) = &mut self.placement {
            placement.enter(node, depth);
            self.note_error(node, depth);
            if let Some(bracket) = bracket {
                self.note_bracket(node, bracket);
            }
        }
        match role {
            NodeRole::Plain | NodeRole::Comment => {}
            NodeRole::Indented => self.note_layout(node),
            NodeRole::Lead => self.prefixes.push(span_of(node)),
            NodeRole::Dots => {
                if (self.language.is_left_out)(node) {
                    self.elisions.push(span_of(node));
                }
            }
            NodeRole::Preamble if self.place == DefinitionPlace::Namespace => {
                self.preamble = true;
                self.imports.push(span_of(node));
            }
            NodeRole::Preamble => {}
            NodeRole::Body => {
                if self.place != DefinitionPlace::Body {
                    self.push(node, depth, false);
                    self.place = DefinitionPlace::Body;
                }
            }
            NodeRole::Item => {
                if self.place != DefinitionPlace::Body {
                    self.enter_item(node, depth);
                }
            }
            NodeRole::Macro => self.enter_item(node, depth),
        }
        false
    }

    /// Whether a block holds no statement but `pass`.
    fn does_nothing(&self, block: Node<'tree>) -> bool {
        let mut cursor = block.walk();
        let mut inside = block.named_children(&mut cursor);
        inside.all(|it| {
            let kind = self.kinds.get(it.kind_id());
            kind.role == NodeRole::Comment || it.kind() == "pass_statement"
        })
    }

    fn note_error(&mut self, node: Node<'tree>, depth: u32) {
        if node.is_error() {
            self.totals.errors += 1;
            self.push(node, depth, false);
            self.in_error = true;
        } else if node.is_missing() {
            self.totals.errors += 1;
        } else {
            return;
        }
        self.last_error = self.last_error.max(node.end_byte());
        if self.unread.len() < UNREAD_MAX {
            self.unread.push(span_of(node));
        }
    }

    /// Counts open brackets: the parser makes up missing ones, so the tree doesn't show them.
    fn note_bracket(&mut self, node: Node<'tree>, bracket: u8) {
        let opener = match bracket {
            _ if node.is_missing() => return,
            b')' => b'(',
            b']' => b'[',
            b'}' => b'{',
            b'>' => b'<',
            _ => return self.brackets.push(bracket),
        };
        // Nobody leaves so many open; without a bound hostile text would cost quadratic time.
        let near = self.brackets.len().saturating_sub(BRACKETS_COMPARED_MAX);
        let found = self.brackets[near..]
            .iter()
            .rposition(|open| *open == opener);
        if let Some(at) = found {
            self.brackets.truncate(near + at);
        }
    }

    /// Statements of one block begin in one column, which the parser doesn't look at, and a function alone returns. What doesn't fit
    /// was in the block before, which is torn.
    fn note_layout(&mut self, block: Node<'tree>) {
        if block.start_byte() == block.end_byte() {
            self.last_error = self.last_error.max(block.end_byte());
        }
        let (mut column, mut row, mut last_block) = (None, None, None);
        let mut cursor = block.walk();
        for statement in block.named_children(&mut cursor) {
            let position = statement.start_position();
            let is_comment = self.kinds.get(statement.kind_id()).role == NodeRole::Comment;
            if !is_comment && row != Some(position.row) {
                let first = *column.get_or_insert(position.column);
                let is_lost = self.place != DefinitionPlace::Body
                    && last_block.is_some()
                    && statement.kind() == "return_statement";
                if position.column != first || is_lost {
                    self.totals.errors += 1;
                    let span = span_of(statement);
                    let start = last_block.unwrap_or(span.start);
                    let torn = Span { start, ..span };
                    let is_full = self.torn.len() >= UNREAD_MAX;
                    match self.torn.last_mut() {
                        Some(last) if torn.start <= last.end || is_full => last.end = torn.end,
                        _ => self.torn.push(torn),
                    }
                    if self.unread.len() < UNREAD_MAX {
                        self.unread.push(span);
                    }
                }
            }
            let mut inside = statement.walk();
            let mut parts = statement.named_children(&mut inside);
            if parts
                .any(|it| self.kinds.get(it.kind_id()).role != NodeRole::Plain && !it.is_extra())
            {
                last_block = Some(offset(statement.start_byte()));
            }
            row = Some(statement.end_position().row);
        }
    }

    fn note_comment(&mut self, span: Span) {
        let text = span.of(self.source).trim_ascii_end();
        let documentation = self.language.documentation.iter();
        let documents = documentation
            .map(|open| open.as_bytes())
            .any(|open| text.starts_with(open));
        self.comments.push(Comment {
            span: Span {
                end: span.start + offset(text.len()),
                ..span
            },
            placeholder: !documents && is_placeholder(text),
        });
    }

    fn enter_item(&mut self, node: Node<'tree>, depth: u32) {
        let outer = NodeContext {
            source: self.source,
            place: self.place,
            in_error: self.in_error,
            scope: &self.scope,
            namespace: &self.scope[..self.namespace],
            readable: self.readable,
            separator: self.language.separator,
            frames: &self.frames,
            depth,
        };
        let mut opened = (self.language.open)(node, &outer);
        let is_misplaced = (opened.inside.is_some() || !opened.symbols.is_empty())
            && self.placement.as_ref().is_some_and(|it| !it.is_in_place());
        if is_misplaced && matches!(self.kinds.get(node.kind_id()).role, NodeRole::Item) {
            opened.symbols.clear();
            opened.inside = Some(DefinitionPlace::Body);
        }
        let firsts = &mut *self.firsts;
        opened
            .symbols
            .retain(|symbol| firsts.insert(symbol.clone()) || !opened.first_only);
        if opened.preamble {
            self.preamble = true;
            self.imports.push(span_of(node));
        }
        self.preamble |= opened.guard;
        if !opened.symbols.is_empty() {
            self.open_definition(node, depth, &opened);
        }
        if opened.wraps || opened.inside.is_some() || opened.scope.is_some() {
            self.push(node, depth, opened.wraps);
            if let Some(component) = opened.scope {
                self.enter_scope(&component, opened.inside);
            }
            self.place = opened.inside.unwrap_or(self.place);
        }
    }

    fn enter_scope(&mut self, component: &str, inside: Option<DefinitionPlace>) {
        if !self.scope.is_empty() {
            self.scope.push_str(self.language.separator);
        }
        self.scope.push_str(component);
        if inside == Some(DefinitionPlace::Namespace) {
            self.namespace = self.scope.len();
        }
    }

    fn open_definition(&mut self, node: Node<'tree>, depth: u32, opened: &OpenedNode) {
        let wrapper = wrapping_frames(&self.frames, depth).first();
        let (anchor, depth, at_entry) = match wrapper {
            Some(frame) => (frame.node, frame.depth, frame.at_entry),
            None => (node, depth, self.totals_before(node)),
        };
        let span = self.definition_span(anchor);
        let Parts { head_end, body } = (self.language.parts)(node);
        let head = self.head_span(span, parts::start(anchor, self.kinds), head_end);
        let is_before = |prefix: &&Span| {
            span.start <= prefix.start && prefix.end <= offset(anchor.start_byte())
        };
        let before = self
            .prefixes
            .iter()
            .rev()
            .take_while(|it| span.start <= it.start);
        let attributes = offset(before.filter(is_before).count());
        let is_apart = self.open.is_empty();
        let top_level = self.place == DefinitionPlace::Namespace
            || self.place == DefinitionPlace::Type && is_apart;
        for symbol in &opened.symbols {
            if self.definitions.len() >= DEFINITIONS_PER_BLOCK_MAX {
                return;
            }
            self.open.push(OpenDefinition {
                depth,
                index: self.definitions.len(),
                at_entry,
                attributes,
                body,
            });
            self.definitions.push(Definition {
                symbol: Symbol::new(symbol),
                span,
                head,
                body: Body::Code,
                proof: if opened.is_fragment {
                    Proof::PartialPattern
                } else {
                    Proof::Ast
                },
                figures: Figures::default(),
                parts: PartCounts::default(),
                top_level,
                damaged: false,
            });
        }
    }

    /// The totals as they were before `node`, which has just been entered, was counted.
    fn totals_before(&self, node: Node<'tree>) -> FigureTotals {
        FigureTotals {
            nodes: self.totals.nodes - u32::from(node.is_named()),
            ..self.totals
        }
    }

    /// From the comments above a node to its end, a semicolon included.
    fn definition_span(&self, node: Node<'tree>) -> Span {
        let seen = span_of(node);
        let start = lead::definition_start(self.source, &self.comments, &self.prefixes, seen.start);
        let text = seen.of(self.source);
        let trimmed = text.trim_ascii_end().len();
        let mut end = seen.start + u32::try_from(trimmed).unwrap_or(u32::MAX);
        let rest = self.source.get(end as usize..).unwrap_or_default();
        let blanks = rest.len() - rest.trim_ascii_start().len();
        let is_type = self.kinds.get(node.kind_id()).takes_semicolon;
        if is_type && rest.get(blanks) == Some(&b';') && !text.trim_ascii_end().ends_with(b";") {
            end += u32::try_from(blanks + 1).unwrap_or(u32::MAX);
        }
        Span { start, end }
    }

    /// The head from `start` to `end`, without what separates it from the body.
    fn head_span(&self, span: Span, start: usize, end: usize) -> Span {
        let text = self.source.get(start..end).unwrap_or_default();
        let ends_head = |byte: &u8| !byte.is_ascii_whitespace() && !matches!(byte, b';' | b':');
        match text.iter().rposition(ends_head) {
            Some(last) => Span {
                start: offset(start),
                end: offset(start + last + 1),
            },
            None => span,
        }
    }

    fn body_of(&self, place: BodyPlace) -> Body {
        match place {
            BodyPlace::Nowhere => Body::None,
            BodyPlace::Code => Body::Code,
            BodyPlace::Within(start, end) => {
                let stubs = &self.language.ready().stubs;
                stubs.body_kind(self.source, &self.comments, (start, end))
            }
        }
    }

    fn push(&mut self, node: Node<'tree>, depth: u32, wraps: bool) {
        self.frames.push(WalkFrame {
            depth,
            node,
            wraps,
            at_entry: self.totals_before(node),
            outer_place: self.place,
            outer_in_error: self.in_error,
            outer_scope: self.scope.len(),
            outer_namespace: self.namespace,
        });
    }

    fn leave_nodes(&mut self, depth: u32) {
        while let Some(open) = self.open.pop_if(|open| open.depth == depth) {
            let body = self.body_of(open.body);
            let definition = &mut self.definitions[open.index];
            debug_assert!(
                definition.span.end as usize <= self.source.len(),
                "a definition lies in its source"
            );
            debug_assert!(
                definition.span.start <= definition.head.start
                    && definition.head.end <= definition.span.end,
                "a head lies in its definition"
            );
            definition.body = body;
            definition.figures = Figures {
                nodes: self.totals.nodes - open.at_entry.nodes,
                tokens: self.totals.tokens - open.at_entry.tokens,
            };
            definition.parts = self.totals.parts - open.at_entry.parts;
            definition.parts.add_parts(Part::Attribute, open.attributes);
            let suspects = &self.readable.suspects;
            let first = suspects.partition_point(|at| *at < definition.span.start);
            let span = definition.span;
            let reaches_into = |torn: &Span| span.start < torn.end && torn.start < span.end;
            definition.damaged = self.totals.errors > open.at_entry.errors
                || self.torn.iter().any(reaches_into)
                || suspects
                    .get(first)
                    .is_some_and(|at| *at < definition.span.end);
        }
        while let Some(frame) = self.frames.pop_if(|frame| frame.depth == depth) {
            self.place = frame.outer_place;
            self.in_error = frame.outer_in_error;
            self.scope.truncate(frame.outer_scope);
            self.namespace = frame.outer_namespace;
        }
    }

    fn into_extraction(mut self) -> Extraction {
        debug_assert!(self.open.is_empty(), "the walk leaves every definition");
        debug_assert!(self.frames.is_empty(), "the walk leaves every node");
        let suspects = u32::try_from(self.readable.suspects.len()).unwrap_or(u32::MAX);
        self.totals.errors = self.totals.errors.saturating_add(suspects);
        let suspects = self.readable.suspects.iter();
        let places = suspects.map(|at| Span {
            start: *at,
            end: *at,
        });
        self.unread.extend(places.take(UNREAD_MAX));
        self.unread.sort_unstable();
        self.unread.dedup();
        self.take_blanked_macros();
        self.definitions
            .sort_by_key(|definition| (definition.span.start, u32::MAX - definition.span.end));
        let placeholders = self.comments.iter().filter(|comment| comment.placeholder);
        self.elisions
            .extend(placeholders.map(|comment| comment.span));
        self.elisions.sort_unstable();
        let comments = self.comments.iter().map(|comment| comment.span);
        self.remarks.extend(comments);
        self.remarks.sort_unstable();
        let text = self.source.trim_ascii_end().len();
        let ends_in_error = self.last_error > 0 && self.last_error >= text;
        Extraction {
            grammar: self.language.tag(),
            definitions: self.definitions,
            figures: Figures {
                nodes: self.totals.nodes,
                tokens: self.totals.tokens,
            },
            elisions: self.elisions,
            remarks: self.remarks,
            imports: self.imports,
            preamble: self.preamble,
            clean: self.totals.errors == 0,
            errors: self.totals.errors,
            unread: self.unread,
            breaks_off: match self.readable.breaks_off {
                Some(breaks_off) => breaks_off,
                None => ends_in_error || !self.brackets.is_empty(),
            },
        }
    }

    /// Macros that the parser didn't get to see are definitions all the same.
    fn take_blanked_macros(&mut self) {
        let source = self.source;
        let damaged = self.definitions.iter().filter(|it| it.damaged);
        let mut unknown: Vec<Span> = damaged.map(|it| it.span).collect();
        unknown.extend(&self.unread);
        let macros = self.readable.macros.iter();
        for (span, name) in macros.filter(|(span, _)| !c::is_guarded(source, *span)) {
            if self.definitions.len() >= DEFINITIONS_PER_BLOCK_MAX {
                return;
            }
            let start = lead::definition_start(self.source, &self.comments, &[], span.start);
            // Nobody knows what is in the middle of an error.
            let damaged = span.is_in(&unknown);
            self.definitions.push(Definition {
                symbol: Symbol::new(&String::from_utf8_lossy(name.of(self.source))),
                span: Span {
                    start,
                    end: span.end,
                },
                head: Span {
                    start: span.start,
                    end: name.end,
                },
                body: Body::None,
                proof: Proof::Ast,
                figures: Figures {
                    nodes: 3,
                    tokens: 3,
                },
                parts: PartCounts::default(),
                top_level: false,
                damaged,
            });
        }
    }
}

/// Whether a statement is nothing but a string.
fn is_string_alone(statement: Node<'_>) -> bool {
    let only = statement.named_child(0);
    statement.named_child_count() == 1 && only.is_some_and(|only| only.kind().contains("string"))
}

/// Whether a comment replaces left-out code.
pub(crate) fn is_placeholder(comment: &[u8]) -> bool {
    comment.len() <= PLACEHOLDER_BYTES_MAX
        && elision::is_placeholder(&String::from_utf8_lossy(comment))
}
