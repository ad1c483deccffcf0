//! The methods that scripts call on selections.

use std::rc::Rc;
use url::Url;

use rquickjs::prelude::{Func, Opt, This};
use rquickjs::{Array, Class, Ctx, Function, IntoJs, Object, Result, Value};
use torr_xpath::{Kind, Node};

use super::arguments::Wanted;
use super::document::Document;
use super::matcher::Matcher;
use super::set::{Selection, Shown};
use super::walk::{Reach, Set, Way, siblings, walk};
use super::{data, form, node, write};
use crate::host::{self, Host, HostClass, go_error};

/// Returns the selection of the whole document that `text` is.
pub(super) fn of_document<'js>(ctx: &Ctx<'js>, text: &str, page: Option<Url>) -> Result<Object<'js>> {
    let document = Document::read(text, page).map_err(|message| go_error(ctx, &message))?;
    let root = document.tree.root();
    Selection::new(Rc::new(document), vec![root]).into_object(ctx)
}

type It<'js> = This<Class<'js, Host<Shown>>>;

fn own(this: &It<'_>) -> Rc<Selection> {
    this.0.borrow().0.0.clone()
}

/// Returns a selection that was made from `from`, which `end` returns to.
fn made<'js>(ctx: &Ctx<'js>, from: &Rc<Selection>, nodes: Vec<Node>) -> Result<Object<'js>> {
    let selection = Selection { document: from.document.clone(), nodes, before: Some(from.clone()) };
    selection.into_object(ctx)
}

impl HostClass for Shown {
    const NAME: &'static str = "Selection";

    fn prototype<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
        let prototype = Object::new(ctx.clone())?;
        let way = |name: &str, way: Way, reach: Reach| -> Result<()> {
            let method = move |ctx: Ctx<'js>, this: It<'js>, wanted: Opt<Value<'js>>| {
                walked(&ctx, &own(&this), (way, reach), Wanted::Nothing, Wanted::of(&ctx, wanted.0)?)
            };
            prototype.set(name, Function::new(ctx.clone(), method)?)
        };
        way("parent", Way::Up, Reach::One)?;
        way("parents", Way::Up, Reach::All)?;
        way("next", Way::Forward, Reach::One)?;
        way("nextAll", Way::Forward, Reach::All)?;
        way("prev", Way::Back, Reach::One)?;
        way("prevAll", Way::Back, Reach::All)?;
        for (name, way) in [("parentsUntil", Way::Up), ("nextUntil", Way::Forward), ("prevUntil", Way::Back)] {
            let method = move |ctx: Ctx<'js>, this: It<'js>, stop: Opt<Value<'js>>, wanted: Opt<Value<'js>>| {
                let stop = match Wanted::of(&ctx, stop.0)? {
                    // Without an element to stop at, the walk goes to the end.
                    Wanted::Nothing => Wanted::Selector(None),
                    stop => stop,
                };
                walked(&ctx, &own(&this), (way, Reach::All), stop, Wanted::of(&ctx, wanted.0)?)
            };
            prototype.set(name, Function::new(ctx.clone(), method)?)?;
        }
        prototype.set("find", Func::from(find))?;
        prototype.set("single", Func::from(single))?;
        prototype.set("add", Func::from(add))?;
        prototype.set("children", Func::from(children))?;
        prototype.set("contents", Func::from(contents))?;
        prototype.set("siblings", Func::from(sibling_elements))?;
        prototype.set("closest", Func::from(closest))?;
        prototype.set("filter", Func::from(filter))?;
        prototype.set("not", Func::from(not))?;
        prototype.set("is", Func::from(is))?;
        prototype.set("has", Func::from(has))?;
        prototype.set("first", Func::from(|ctx: Ctx<'js>, this: It<'js>| slice_of(&ctx, &own(&this), 0, Some(1))))?;
        prototype.set("last", Func::from(|ctx: Ctx<'js>, this: It<'js>| slice_of(&ctx, &own(&this), -1, None)))?;
        prototype.set("eq", Func::from(eq))?;
        prototype.set("slice", Func::from(slice))?;
        prototype.set("get", Func::from(get))?;
        prototype.set("toArray", Func::from(to_array))?;
        prototype.set("size", Func::from(|this: It<'js>| own(&this).nodes.len()))?;
        prototype.set("end", Func::from(end))?;
        prototype.set("index", Func::from(index))?;
        prototype.set("each", Func::from(each))?;
        prototype.set("map", Func::from(map))?;
        prototype.set("attr", Func::from(attr))?;
        prototype.set("text", Func::from(text))?;
        prototype.set("html", Func::from(html))?;
        prototype.set("val", Func::from(|ctx: Ctx<'js>, this: It<'js>| form::value(&ctx, &own(&this))))?;
        prototype.set(
            "data",
            Func::from(|ctx: Ctx<'js>, this: It<'js>, name: Opt<Value<'js>>| data::data(&ctx, &own(&this), name.0)),
        )?;
        prototype.set("serialize", Func::from(|this: It<'js>| form::serialize(&own(&this))))?;
        prototype.set(
            "serializeArray",
            Func::from(|ctx: Ctx<'js>, this: It<'js>| form::serialize_array(&ctx, &own(&this))),
        )?;
        prototype.set(
            "serializeObject",
            Func::from(|ctx: Ctx<'js>, this: It<'js>| form::serialize_object(&ctx, &own(&this))),
        )?;
        Ok(prototype)
    }
}

/// Returns what a walk from each node meets until `stop`, as far as it passes `wanted`.
fn walked<'js>(
    ctx: &Ctx<'js>,
    from: &Rc<Selection>,
    (way, reach): (Way, Reach),
    stop: Wanted<'js>,
    wanted: Wanted<'js>,
) -> Result<Object<'js>> {
    let matcher = Matcher::new(&from.document);
    let stops = |node: Node| match &stop {
        Wanted::Nothing => false,
        stop => stop.passes(&matcher, node),
    };
    let mut set = Set::default();
    for node in &from.nodes {
        set.extend(walk(&from.document, *node, way, reach, &stops));
    }
    matcher.finish().map_err(|message| go_error(ctx, &message))?;
    let nodes = wanted.among(ctx, &from.document, &set.into_nodes())?;
    made(ctx, from, nodes)
}

fn find<'js>(ctx: Ctx<'js>, this: It<'js>, wanted: Opt<Value<'js>>) -> Result<Object<'js>> {
    let from = own(&this);
    let nodes = Wanted::of(&ctx, wanted.0)?.required(&ctx)?.inside(&ctx, &from.document, &from.nodes)?;
    made(&ctx, &from, nodes)
}

/// The method `single`: what `find` finds first.
fn single<'js>(ctx: Ctx<'js>, this: It<'js>, wanted: Opt<Value<'js>>) -> Result<Object<'js>> {
    let from = own(&this);
    let mut nodes = Wanted::of(&ctx, wanted.0)?.required(&ctx)?.inside(&ctx, &from.document, &from.nodes)?;
    nodes.truncate(1);
    made(&ctx, &from, nodes)
}

fn add<'js>(ctx: Ctx<'js>, this: It<'js>, wanted: Opt<Value<'js>>) -> Result<Object<'js>> {
    let from = own(&this);
    let root = [from.document.tree.root()];
    let mut set = Set::default();
    set.extend(from.nodes.iter().copied());
    set.extend(Wanted::of(&ctx, wanted.0)?.required(&ctx)?.inside(&ctx, &from.document, &root)?);
    made(&ctx, &from, set.into_nodes())
}

fn children<'js>(ctx: Ctx<'js>, this: It<'js>, wanted: Opt<Value<'js>>) -> Result<Object<'js>> {
    let from = own(&this);
    let mut set = Set::default();
    for node in &from.nodes {
        set.extend(from.document.child_elements(*node));
    }
    let nodes = Wanted::of(&ctx, wanted.0)?.among(&ctx, &from.document, &set.into_nodes())?;
    made(&ctx, &from, nodes)
}

fn contents<'js>(ctx: Ctx<'js>, this: It<'js>) -> Result<Object<'js>> {
    let from = own(&this);
    let nodes = from.nodes.iter().flat_map(|node| from.document.tree.children(*node)).collect();
    made(&ctx, &from, nodes)
}

fn sibling_elements<'js>(ctx: Ctx<'js>, this: It<'js>, wanted: Opt<Value<'js>>) -> Result<Object<'js>> {
    let from = own(&this);
    let found = siblings(&from.document, &from.nodes);
    let nodes = Wanted::of(&ctx, wanted.0)?.among(&ctx, &from.document, &found)?;
    made(&ctx, &from, nodes)
}

fn closest<'js>(ctx: Ctx<'js>, this: It<'js>, wanted: Opt<Value<'js>>) -> Result<Object<'js>> {
    let from = own(&this);
    let wanted = Wanted::of(&ctx, wanted.0)?.required(&ctx)?;
    let matcher = Matcher::new(&from.document);
    let mut set = Set::default();
    for node in &from.nodes {
        let mut line = std::iter::once(*node).chain(from.document.ancestors(*node));
        set.extend(line.find(|one| wanted.passes(&matcher, *one)));
    }
    matcher.finish().map_err(|message| go_error(&ctx, &message))?;
    made(&ctx, &from, set.into_nodes())
}

fn filter<'js>(ctx: Ctx<'js>, this: It<'js>, wanted: Opt<Value<'js>>) -> Result<Object<'js>> {
    let from = own(&this);
    let nodes = Wanted::of(&ctx, wanted.0)?.required(&ctx)?.filter(&ctx, &from)?;
    made(&ctx, &from, nodes)
}

fn not<'js>(ctx: Ctx<'js>, this: It<'js>, wanted: Opt<Value<'js>>) -> Result<Object<'js>> {
    let from = own(&this);
    let mut dropped = Set::default();
    dropped.extend(Wanted::of(&ctx, wanted.0)?.required(&ctx)?.filter(&ctx, &from)?);
    let dropped: std::collections::HashSet<Node> = dropped.into_nodes().into_iter().collect();
    let nodes = from.nodes.iter().copied().filter(|node| !dropped.contains(node)).collect();
    made(&ctx, &from, nodes)
}

fn is<'js>(ctx: Ctx<'js>, this: It<'js>, wanted: Opt<Value<'js>>) -> Result<bool> {
    Ok(!Wanted::of(&ctx, wanted.0)?.required(&ctx)?.filter(&ctx, &own(&this))?.is_empty())
}

fn has<'js>(ctx: Ctx<'js>, this: It<'js>, wanted: Opt<Value<'js>>) -> Result<Object<'js>> {
    let from = own(&this);
    let inside = Wanted::of(&ctx, wanted.0)?.required(&ctx)?.inside(&ctx, &from.document, &from.nodes)?;
    let contains = |outer: &Node| {
        // The nodes inside are in the document's order within each outer node, but not over all of these.
        inside.iter().any(|inner| outer != inner && from.document.contains(*outer, *inner))
    };
    let nodes = from.nodes.iter().copied().filter(contains).collect();
    made(&ctx, &from, nodes)
}

/// Returns the nodes from one number to before another; negative numbers count from the end.
fn slice_of<'js>(ctx: &Ctx<'js>, from: &Rc<Selection>, begin: i64, end: Option<i64>) -> Result<Object<'js>> {
    let length = from.nodes.len() as i64;
    let position = |at: i64| usize::try_from(if at < 0 { at + length } else { at }.clamp(0, length)).unwrap_or(0);
    let (begin, end) = (position(begin), end.map_or(from.nodes.len(), position));
    made(ctx, from, from.nodes.get(begin..end).unwrap_or_default().to_vec())
}

fn whole(number: f64) -> i64 {
    number.clamp(-1e15, 1e15) as i64
}

fn eq<'js>(ctx: Ctx<'js>, this: It<'js>, at: Opt<f64>) -> Result<Object<'js>> {
    let from = own(&this);
    let at = whole(at.0.unwrap_or_default());
    let length = from.nodes.len() as i64;
    let position = if at < 0 { at + length } else { at };
    let node = usize::try_from(position).ok().and_then(|position| from.nodes.get(position).copied());
    made(&ctx, &from, node.into_iter().collect())
}

fn slice<'js>(ctx: Ctx<'js>, this: It<'js>, begin: Opt<f64>, end: Opt<f64>) -> Result<Object<'js>> {
    slice_of(&ctx, &own(&this), whole(begin.0.unwrap_or_default()), end.0.map(whole))
}

fn get<'js>(ctx: Ctx<'js>, this: It<'js>, at: Opt<f64>) -> Result<Value<'js>> {
    let from = own(&this);
    let Some(at) = at.0 else {
        let all = Array::new(ctx.clone())?;
        for (at, node) in from.nodes.iter().enumerate() {
            all.set(at, node::object(&ctx, &from.document, *node)?)?;
        }
        return Ok(all.into_value());
    };
    let position = if at < 0.0 { whole(at) + from.nodes.len() as i64 } else { whole(at) };
    match usize::try_from(position).ok().and_then(|position| from.nodes.get(position)) {
        Some(node) => Ok(node::object(&ctx, &from.document, *node)?.into_value()),
        None => Ok(Value::new_undefined(ctx)),
    }
}

fn to_array<'js>(ctx: Ctx<'js>, this: It<'js>) -> Result<Array<'js>> {
    let from = own(&this);
    let all = Array::new(ctx.clone())?;
    for (at, node) in from.nodes.iter().enumerate() {
        all.set(at, from.with(vec![*node]).into_object(&ctx)?)?;
    }
    Ok(all)
}

fn end<'js>(ctx: Ctx<'js>, this: It<'js>) -> Result<Object<'js>> {
    let from = own(&this);
    match &from.before {
        Some(before) => host::object(&ctx, Shown(before.clone())),
        None => from.with(Vec::new()).into_object(&ctx),
    }
}

fn index<'js>(ctx: Ctx<'js>, this: It<'js>, of: Opt<Value<'js>>) -> Result<Value<'js>> {
    let from = own(&this);
    let document = &from.document;
    let first = from.nodes.first().copied();
    let number = match Wanted::of(&ctx, of.0.clone().filter(Value::is_string))? {
        Wanted::Selector(selectors) => {
            let root = [document.tree.root()];
            let all = Wanted::Selector(selectors).inside(&ctx, document, &root)?;
            first.and_then(|node| all.iter().position(|other| *other == node))
        }
        _ => match of.0.as_ref().and_then(Value::as_object) {
            Some(object) => match Class::<Host<Shown>>::from_object(object) {
                Some(other) => {
                    let sought = other.borrow().0.0.nodes.first().copied();
                    sought.and_then(|node| from.nodes.iter().position(|one| *one == node))
                }
                None => node::node_of(object).and_then(|node| from.nodes.iter().position(|one| *one == node)),
            },
            None => first.map(|node| document.elements_before(node).count()),
        },
    };
    match number {
        Some(number) => number.into_js(&ctx),
        None => (-1).into_js(&ctx),
    }
}

fn each<'js>(ctx: Ctx<'js>, this: It<'js>, function: Function<'js>) -> Result<Value<'js>> {
    let from = own(&this);
    for (at, node) in from.nodes.iter().enumerate() {
        let element = node::object(&ctx, &from.document, *node)?;
        function.call::<_, Value<'js>>((at, element))?;
    }
    Ok(this.0.into_value())
}

fn map<'js>(ctx: Ctx<'js>, this: It<'js>, function: Function<'js>) -> Result<Array<'js>> {
    let from = own(&this);
    let results = Array::new(ctx.clone())?;
    for (at, node) in from.nodes.iter().enumerate() {
        let one = from.with(vec![*node]).into_object(&ctx)?;
        results.set(at, function.call::<_, Value<'js>>((at, one))?)?;
    }
    Ok(results)
}

fn attr<'js>(ctx: Ctx<'js>, this: It<'js>, name: Opt<String>, default: Opt<Value<'js>>) -> Result<Value<'js>> {
    let from = own(&this);
    let name = name.0.unwrap_or_default();
    match from.nodes.first().and_then(|node| from.document.attribute(*node, &name)) {
        Some(value) => value.into_js(&ctx),
        None => Ok(default.0.unwrap_or_else(|| Value::new_undefined(ctx))),
    }
}

fn text(this: It<'_>) -> String {
    let from = own(&this);
    let tree = &from.document.tree;
    from.nodes.iter().filter(|node| tree.kind(**node) != Kind::Comment).map(|node| tree.string(*node)).collect()
}

fn html(this: It<'_>) -> String {
    let from = own(&this);
    from.nodes.first().map(|node| write::inner(&from.document, *node)).unwrap_or_default()
}
