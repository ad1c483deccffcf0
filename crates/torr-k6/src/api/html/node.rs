//! Nodes as scripts hold them. The files that implement the traits of `Element` define their methods.

use std::rc::Rc;

use rquickjs::prelude::This;
use rquickjs::{Array, Class, Ctx, Function, Object, Result, Value};
use torr_xpath::Node;

use super::document::Document;
use crate::host::{Held, Host};

/// The methods that the elements of some tags have beside those of all elements.
pub(super) trait TagMethods {
    /// Returns whether elements of a tag have methods of their own.
    fn has(tag: &str) -> bool;

    /// Defines the methods of a tag's elements.
    fn define<'js>(ctx: &Ctx<'js>, prototype: &Object<'js>, tag: &str) -> Result<()>;
}

/// A node of a document.
#[derive(Clone)]
pub(super) struct Element {
    pub(super) document: Rc<Document>,
    pub(super) node: Node,
}

/// Tag of the prototypes of a runtime, by the names of tags.
struct Prototypes;

pub(super) type It<'js> = This<Class<'js, Host<Element>>>;

pub(super) fn own(this: &It<'_>) -> Element {
    this.0.borrow().0.clone()
}

/// Returns a node as scripts see it, with the properties of its tag.
pub(super) fn object<'js>(ctx: &Ctx<'js>, document: &Rc<Document>, node: Node) -> Result<Object<'js>> {
    let prototypes = Held::<'js, Prototypes>::of(ctx)?;
    let tag = document.tag(node);
    // All tags without properties of their own share a prototype, so that a document cannot make up many.
    let key = if <Element as TagMethods>::has(tag) { tag } else { "" };
    let prototype = match prototypes.get::<_, Option<Object<'js>>>(key)? {
        Some(prototype) => prototype,
        None => {
            let base = Class::<Host<Element>>::prototype(ctx)?;
            let prototype = Object::new_proto(ctx.clone(), base.as_ref())?;
            <Element as TagMethods>::define(ctx, &prototype, key)?;
            prototypes.set(key, prototype.clone())?;
            prototype
        }
    };
    let element = Element { document: document.clone(), node };
    Class::instance_proto(Host(element), prototype).map(Class::into_inner)
}

/// Returns the node of an object that shows one.
pub(super) fn node_of(object: &Object<'_>) -> Option<Node> {
    Class::<Host<Element>>::from_object(object).map(|element| element.borrow().0.node)
}

/// Returns a node as scripts see it; undefined if there is none.
pub(super) fn optional<'js>(ctx: &Ctx<'js>, document: &Rc<Document>, node: Option<Node>) -> Result<Value<'js>> {
    match node {
        Some(node) => Ok(object(ctx, document, node)?.into_value()),
        None => Ok(Value::new_undefined(ctx.clone())),
    }
}

/// Returns an array of nodes as scripts see them.
pub(super) fn list<'js>(
    ctx: &Ctx<'js>,
    document: &Rc<Document>,
    nodes: impl IntoIterator<Item = Node>,
) -> Result<Value<'js>> {
    let all = Array::new(ctx.clone())?;
    for (at, node) in nodes.into_iter().enumerate() {
        all.set(at, object(ctx, document, node)?)?;
    }
    Ok(all.into_value())
}

/// Defines a method without arguments.
pub(super) fn method<'js>(
    ctx: &Ctx<'js>,
    prototype: &Object<'js>,
    name: &str,
    get: impl Fn(&Ctx<'js>, &Element) -> Result<Value<'js>> + 'js,
) -> Result<()> {
    let function = move |ctx: Ctx<'js>, this: It<'js>| get(&ctx, &own(&this));
    prototype.set(name, Function::new(ctx.clone(), function)?)
}
