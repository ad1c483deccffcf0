//! Values of the controls of forms.

use std::collections::BTreeMap;

use rquickjs::{Array, Ctx, IntoJs, Object, Result, Value};
use torr_xpath::Node;
use url::form_urlencoded;

use super::document::Document;
use super::set::Selection;

/// Types of `input` whose values k6 leaves out of forms.
const LEFT_OUT: [&str; 7] = ["button", "checkbox", "file", "image", "radio", "reset", "submit"];

/// The value of a control.
pub(super) enum Control {
    One(String),
    /// The values of a `select` that allows several.
    Several(Vec<String>),
}

impl Control {
    fn into_js<'js>(self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        match self {
            Control::One(value) => value.into_js(ctx),
            Control::Several(values) => values.into_js(ctx),
        }
    }
}

/// Returns the value of the selection's first node; undefined if it is no control.
pub(super) fn value<'js>(ctx: &Ctx<'js>, from: &Selection) -> Result<Value<'js>> {
    match from.nodes.first().and_then(|node| control(&from.document, *node)) {
        Some(control) => control.into_js(ctx),
        None => Ok(Value::new_undefined(ctx.clone())),
    }
}

/// Returns the value of a control.
pub(super) fn control(document: &Document, node: Node) -> Option<Control> {
    let value = |node| document.attribute(node, "value").map(str::to_owned);
    let one = match document.tag(node) {
        "input" => {
            let kind = document.attribute(node, "type").unwrap_or_default().to_ascii_lowercase();
            let default = if matches!(kind.as_str(), "checkbox" | "radio") { "on" } else { "" };
            value(node).unwrap_or_else(|| default.to_owned())
        }
        "button" => value(node).unwrap_or_default(),
        "option" => option_value(document, node),
        "textarea" => document.tree.string(node).to_owned(),
        "select" => {
            let options = document.descendants(node, &["option"]);
            let mut selected = options.into_iter().filter(|option| document.attribute(*option, "selected").is_some());
            if document.attribute(node, "multiple").is_some() {
                return Some(Control::Several(selected.map(|option| option_value(document, option)).collect()));
            }
            selected.next().map(|option| option_value(document, option)).unwrap_or_default()
        }
        _ => return None,
    };
    Some(Control::One(one))
}

/// Returns the value of an option: its attribute, or else its text.
pub(super) fn option_value(document: &Document, node: Node) -> String {
    document.attribute(node, "value").unwrap_or_else(|| document.tree.string(node)).to_owned()
}

/// Returns names and values of the controls in the selection, in the order of the document.
fn controls(from: &Selection) -> Vec<(String, Control)> {
    let document = &from.document;
    let mut nodes = super::walk::Set::default();
    for node in &from.nodes {
        if document.tag(*node) == "form" {
            nodes.extend(document.descendants(*node, &["input", "select", "textarea"]));
        } else {
            nodes.add(*node);
        }
    }
    let is_sent = |node: &Node| match document.tag(*node) {
        "input" => {
            let kind = document.attribute(*node, "type").unwrap_or_default().to_ascii_lowercase();
            !LEFT_OUT.contains(&kind.as_str())
        }
        "select" | "textarea" => true,
        _ => false,
    };
    let named = |node: Node| {
        let name = document.attribute(node, "name").filter(|name| !name.is_empty())?;
        Some((name.to_owned(), control(document, node)?))
    };
    nodes.into_nodes().into_iter().filter(is_sent).filter_map(named).collect()
}

/// Returns the controls as the content of a request, sorted by name.
pub(super) fn serialize(from: &Selection) -> String {
    let mut by_name: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, control) in controls(from) {
        let values = match control {
            Control::One(value) => vec![value],
            Control::Several(values) => values,
        };
        by_name.insert(name, values);
    }
    let mut text = form_urlencoded::Serializer::new(String::new());
    for (name, values) in &by_name {
        for value in values {
            text.append_pair(name, value);
        }
    }
    text.finish()
}

/// Returns the controls as an array of objects with `name` and `value`.
pub(super) fn serialize_array<'js>(ctx: &Ctx<'js>, from: &Selection) -> Result<Array<'js>> {
    let all = Array::new(ctx.clone())?;
    for (at, (name, control)) in controls(from).into_iter().enumerate() {
        let entry = Object::new(ctx.clone())?;
        entry.set("name", name)?;
        entry.set("value", control.into_js(ctx)?)?;
        all.set(at, entry)?;
    }
    Ok(all)
}

/// Returns the controls as an object of values by name.
pub(super) fn serialize_object<'js>(ctx: &Ctx<'js>, from: &Selection) -> Result<Object<'js>> {
    let all = Object::new(ctx.clone())?;
    for (name, control) in controls(from) {
        all.set(name, control.into_js(ctx)?)?;
    }
    Ok(all)
}
