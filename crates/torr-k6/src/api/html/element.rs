//! The methods of all nodes: getters of the DOM.

use std::rc::Rc;

use rquickjs::prelude::Func;
use rquickjs::{Class, Ctx, IntoJs, Object, Result, Value};
use torr_xpath::{Kind, Node};

use super::arguments::Wanted;
use super::document::Document;
use super::node::{Element, It, list, method, object, optional, own};
use super::set::Selection;
use super::write;
use crate::host::{Host, HostClass, go_error};

impl HostClass for Element {
    const NAME: &'static str = "Element";

    fn prototype<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
        let prototype = Object::new(ctx.clone())?;
        relatives(ctx, &prototype)?;
        content(ctx, &prototype)?;
        attributes(ctx, &prototype)?;
        searches(&prototype)?;
        Ok(prototype)
    }
}

/// Defines the methods that lead to other nodes.
fn relatives<'js>(ctx: &Ctx<'js>, prototype: &Object<'js>) -> Result<()> {
    type Relative = fn(&Document, Node) -> Option<Node>;
    let all: [(&str, Relative); 11] = [
        ("firstChild", |document, node| document.tree.children(node).next()),
        ("lastChild", |document, node| document.tree.children(node).last()),
        ("firstElementChild", |document, node| document.child_elements(node).next()),
        ("lastElementChild", |document, node| document.child_elements(node).last()),
        ("nextElementSibling", |document, node| document.elements_after(node).next()),
        ("previousElementSibling", |document, node| document.elements_before(node).next()),
        ("nextSibling", |document, node| {
            let parent = document.tree.parent(node)?;
            document.tree.siblings_after(node, parent).next()
        }),
        ("previousSibling", |document, node| {
            let parent = document.tree.parent(node)?;
            document.tree.siblings_before(node, parent).next()
        }),
        ("parentElement", Document::parent_element),
        ("parentNode", |document, node| document.tree.parent(node)),
        ("ownerDocument", |document, _| Some(document.tree.root())),
    ];
    for (name, relative) in all {
        method(ctx, prototype, name, move |ctx, own| optional(ctx, &own.document, relative(&own.document, own.node)))?;
    }
    method(ctx, prototype, "children", |ctx, own| list(ctx, &own.document, own.document.child_elements(own.node)))?;
    method(ctx, prototype, "childNodes", |ctx, own| list(ctx, &own.document, own.document.tree.children(own.node)))?;
    method(ctx, prototype, "childElementCount", |ctx, own| own.document.child_elements(own.node).count().into_js(ctx))?;
    method(ctx, prototype, "hasChildNodes", |ctx, own| {
        own.document.tree.children(own.node).next().is_some().into_js(ctx)
    })?;
    method(ctx, prototype, "selection", |ctx, own| {
        Ok(Selection::new(own.document.clone(), vec![own.node]).into_object(ctx)?.into_value())
    })
}

/// Defines the methods that tell what a node is and has in it.
fn content<'js>(ctx: &Ctx<'js>, prototype: &Object<'js>) -> Result<()> {
    method(ctx, prototype, "nodeName", |ctx, own| {
        match own.document.tree.kind(own.node) {
            Kind::Root => "#document",
            Kind::Text => "#text",
            Kind::Comment => "#comment",
            _ => own.document.tag(own.node),
        }
        .into_js(ctx)
    })?;
    method(ctx, prototype, "nodeType", |ctx, own| {
        match own.document.tree.kind(own.node) {
            Kind::Root => 9,
            Kind::Text => 3,
            Kind::Comment => 8,
            _ => 1,
        }
        .into_js(ctx)
    })?;
    method(ctx, prototype, "nodeValue", |ctx, own| match own.document.tree.kind(own.node) {
        Kind::Text | Kind::Comment => own.document.tree.string(own.node).into_js(ctx),
        _ => Ok(Value::new_undefined(ctx.clone())),
    })?;
    method(ctx, prototype, "textContent", |ctx, own| own.document.tree.string(own.node).into_js(ctx))?;
    method(ctx, prototype, "innerHTML", |ctx, own| write::inner(&own.document, own.node).into_js(ctx))?;
    method(ctx, prototype, "namespaceURI", |ctx, _| "http://www.w3.org/1999/xhtml".into_js(ctx))?;
    method(ctx, prototype, "isDefaultNamespace", |ctx, _| true.into_js(ctx))?;
    method(ctx, prototype, "toString", |ctx, _| "[object html.Node]".into_js(ctx))
}

/// Defines the methods that read attributes.
fn attributes<'js>(ctx: &Ctx<'js>, prototype: &Object<'js>) -> Result<()> {
    for (name, attribute) in [("id", "id"), ("className", "class"), ("lang", "lang")] {
        method(ctx, prototype, name, move |ctx, own| match own.document.attribute(own.node, attribute) {
            Some(value) => value.into_js(ctx),
            None if name == "id" => "".into_js(ctx),
            None => Ok(Value::new_undefined(ctx.clone())),
        })?;
    }
    method(ctx, prototype, "classList", |ctx, own| {
        let names = own.document.attribute(own.node, "class").unwrap_or_default();
        names.split_ascii_whitespace().map(str::to_owned).collect::<Vec<_>>().into_js(ctx)
    })?;
    method(ctx, prototype, "hasAttributes", |ctx, own| {
        own.document.tree.attributes(own.node).next().is_some().into_js(ctx)
    })?;
    method(ctx, prototype, "attributes", |ctx, own| {
        let all = Object::new(ctx.clone())?;
        for attribute in own.document.tree.attributes(own.node) {
            let name = own.document.tree.name(attribute).local;
            all.set(name, attribute_node(ctx, own, name, own.document.tree.string(attribute))?)?;
        }
        Ok(all.into_value())
    })?;
    let get = |ctx: Ctx<'js>, this: It<'js>, name: String| -> Result<Value<'js>> {
        let own = own(&this);
        match own.document.attribute(own.node, &name) {
            Some(value) => value.into_js(&ctx),
            None => Ok(Value::new_undefined(ctx)),
        }
    };
    prototype.set("getAttribute", Func::from(get))?;
    let get_node = |ctx: Ctx<'js>, this: It<'js>, name: String| -> Result<Value<'js>> {
        let own = own(&this);
        match own.document.attribute(own.node, &name) {
            Some(value) => Ok(attribute_node(&ctx, &own, &name, value)?.into_value()),
            None => Ok(Value::new_undefined(ctx)),
        }
    };
    prototype.set("getAttributeNode", Func::from(get_node))?;
    let has = |this: It<'js>, name: String| {
        let own = own(&this);
        own.document.attribute(own.node, &name).is_some()
    };
    prototype.set("hasAttribute", Func::from(has))
}

fn attribute_node<'js>(ctx: &Ctx<'js>, own: &Element, name: &str, value: &str) -> Result<Object<'js>> {
    let attribute = Object::new(ctx.clone())?;
    attribute.set("owner_element", object(ctx, &own.document, own.node)?)?;
    attribute.set("name", name)?;
    attribute.set("value", value)?;
    attribute.set("localName", name)?;
    attribute.set("namespaceURI", "")?;
    attribute.set("prefix", "")?;
    Ok(attribute)
}

/// Defines the methods that search and compare.
fn searches<'js>(prototype: &Object<'js>) -> Result<()> {
    let found = |ctx: &Ctx<'js>, own: &Element, selector: Value<'js>| {
        Wanted::of(ctx, Some(selector))?.required(ctx)?.inside(ctx, &own.document, &[own.node])
    };
    let first = move |ctx: Ctx<'js>, this: It<'js>, selector: Value<'js>| {
        let own = own(&this);
        optional(&ctx, &own.document, found(&ctx, &own, selector)?.first().copied())
    };
    prototype.set("querySelector", Func::from(first))?;
    let all = move |ctx: Ctx<'js>, this: It<'js>, selector: Value<'js>| {
        let own = own(&this);
        list(&ctx, &own.document, found(&ctx, &own, selector)?)
    };
    prototype.set("querySelectorAll", Func::from(all))?;
    let matches = |ctx: Ctx<'js>, this: It<'js>, selector: Value<'js>| -> Result<bool> {
        let own = own(&this);
        Ok(!Wanted::of(&ctx, Some(selector))?.required(&ctx)?.among(&ctx, &own.document, &[own.node])?.is_empty())
    };
    prototype.set("matches", Func::from(matches))?;
    let by_class = |ctx: Ctx<'js>, this: It<'js>, names: String| {
        let own = own(&this);
        let has_all = |node: &Node| {
            let present: Vec<&str> =
                own.document.attribute(*node, "class").unwrap_or_default().split_ascii_whitespace().collect();
            names.split_ascii_whitespace().all(|name| present.contains(&name))
        };
        let inner = own.document.tree.descendants(own.node).filter(|node| own.document.is_element(*node));
        list(&ctx, &own.document, inner.filter(has_all).collect::<Vec<_>>())
    };
    prototype.set("getElementsByClassName", Func::from(by_class))?;
    let by_tag = |ctx: Ctx<'js>, this: It<'js>, tag: String| {
        let own = own(&this);
        let tag = tag.to_ascii_lowercase();
        let is_meant = |node: &Node| own.document.is_element(*node) && (tag == "*" || own.document.tag(*node) == tag);
        list(&ctx, &own.document, own.document.tree.descendants(own.node).filter(is_meant).collect::<Vec<_>>())
    };
    prototype.set("getElementsByTagName", Func::from(by_tag))?;
    let other = |ctx: &Ctx<'js>, value: &Value<'js>| -> Result<Element> {
        let element = value.as_object().and_then(Class::<Host<Element>>::from_object);
        element
            .map(|element| element.borrow().0.clone())
            .ok_or_else(|| go_error(ctx, "the argument must be an element"))
    };
    let contains = move |ctx: Ctx<'js>, this: It<'js>, value: Value<'js>| -> Result<bool> {
        let (own, other) = (own(&this), other(&ctx, &value)?);
        Ok(Rc::ptr_eq(&own.document, &other.document) && own.document.contains(own.node, other.node))
    };
    prototype.set("contains", Func::from(contains))?;
    let same = move |ctx: Ctx<'js>, this: It<'js>, value: Value<'js>| -> Result<bool> {
        let (own, other) = (own(&this), other(&ctx, &value)?);
        Ok(Rc::ptr_eq(&own.document, &other.document) && own.node == other.node)
    };
    prototype.set("isSameNode", Func::from(same))?;
    let equal = move |ctx: Ctx<'js>, this: It<'js>, value: Value<'js>| -> Result<bool> {
        let (own, other) = (own(&this), other(&ctx, &value)?);
        let described = |element: &Element| {
            let tree = &element.document.tree;
            let attributes: Vec<(String, String)> = tree
                .attributes(element.node)
                .map(|one| (tree.name(one).local.to_owned(), tree.string(one).to_owned()))
                .collect();
            (element.document.tag(element.node).to_owned(), attributes, write::inner(&element.document, element.node))
        };
        Ok(described(&own) == described(&other))
    };
    prototype.set("isEqualNode", Func::from(equal))?;
    Ok(())
}
