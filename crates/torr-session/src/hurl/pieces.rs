//! The pieces of a template while its text is read.

use super::ast::{Expression, Piece, Template};
use super::cursor::Cursor;

/// The pieces of a template so far.
#[derive(Default)]
pub(super) struct Pieces(Vec<Piece>);

impl Pieces {
    pub(super) fn text(&mut self, next: char) {
        match self.0.last_mut() {
            Some(Piece::Text(text)) => text.push(next),
            _ => self.0.push(Piece::Text(next.into())),
        }
    }

    pub(super) fn spaces(&mut self, from: &Cursor<'_>, to: &Cursor<'_>) {
        let spaces = from.rest().len() - to.rest().len();
        from.rest()[..spaces].chars().for_each(|space| self.text(space));
    }

    pub(super) fn placeholder(&mut self, expression: Expression) {
        self.0.push(Piece::Placeholder(expression));
    }

    pub(super) fn finish(self) -> Template {
        Template(self.0)
    }
}
