//! Selections: sets of nodes of a document, as scripts hold them.

use std::rc::Rc;

use rquickjs::{Ctx, Object, Result};
use torr_xpath::Node;

use super::document::Document;
use crate::host;

/// A set of nodes of a document.
pub(super) struct Selection {
    pub(super) document: Rc<Document>,
    pub(super) nodes: Vec<Node>,
    /// The selection that this one was made from.
    pub(super) before: Option<Rc<Selection>>,
}

impl Selection {
    pub(super) fn new(document: Rc<Document>, nodes: Vec<Node>) -> Self {
        Selection { document, nodes, before: None }
    }

    /// Returns a selection of other nodes of the same document.
    pub(super) fn with(&self, nodes: Vec<Node>) -> Self {
        Selection::new(self.document.clone(), nodes)
    }

    pub(super) fn into_object<'js>(self, ctx: &Ctx<'js>) -> Result<Object<'js>> {
        host::object(ctx, Shown(Rc::new(self)))
    }
}

/// A selection as scripts see it.
pub(super) struct Shown(pub(super) Rc<Selection>);
