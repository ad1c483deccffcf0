//! Exports of version 5, in which folders hold what stands in them, and the order of requests.

use super::item::{
    self, Child, Collection, DEEPEST, Environments, Folder, Item, Level, Settings, cookies, flag, sorted,
};
use crate::draft::LeftOut;
use crate::node::Node;

/// Reads a collection, or the collection of a specification.
pub(super) fn read(root: &Node) -> Collection {
    let mut left_out = cookies(root.get("cookieJar"));
    left_out.extend(root.get("testSuites").items().iter().map(item::suite));
    for _ in root.get("certificates").items() {
        let reason = "pass the certificate of a server to the run (--cacert)".to_owned();
        left_out.push(("certificate".to_owned(), String::new(), reason));
    }
    let top = Folder { level: level(&Node::Null), children: children(root.get("collection"), 0) };
    Collection { folder: top, environments: environments(root.get("environments")), left_out }
}

/// Reads environments.
pub(super) fn environments(root: &Node) -> Environments {
    let sub = |(at, sub): (usize, &Node)| {
        let name = sub.get("name").text().map_or_else(|| format!("Environment {at}"), str::to_owned);
        (name, sorted(sub.get("data")))
    };
    Environments {
        name: root.get("name").plain(),
        base: sorted(root.get("data")),
        subs: root.get("subEnvironments").items().iter().enumerate().map(sub).collect(),
    }
}

fn children(list: &Node, depth: usize) -> Vec<(f64, Child)> {
    let key = |node: &Node| node.get("meta").get("sortKey").number().unwrap_or(0.0);
    list.items().iter().map(|node| (key(node), child(node, depth))).collect()
}

fn child(node: &Node, depth: usize) -> Child {
    let (name, id) = (node.get("name").plain(), node.get("meta").get("id").plain());
    let other = |kind: &str| Child::Other(kind.to_owned(), name.clone());
    if !node.get("children").is_null() || node.get("method").is_null() && node.get("url").is_null() {
        return match depth < DEEPEST {
            true => Child::Folder(Folder { level: level(node), children: children(node.get("children"), depth + 1) }),
            false => other("folders nested too deeply"),
        };
    }
    if !node.get("method").is_null() {
        return Child::Item(item::item(node, level(node), id, settings(node.get("settings"))));
    }
    if !node.get("reflectionApi").is_null() {
        return other("requests of gRPC");
    }
    match id.split_once('_').map_or(id.as_str(), |(kind, _)| kind) {
        "socketio-req" => other("requests of Socket.IO"),
        "ws-req" => other("requests of WebSocket"),
        _ => other("requests of an unknown type"),
    }
}

fn level(node: &Node) -> Level {
    let scripts = node.get("scripts");
    item::level(node, scripts.get("preRequest"), scripts.get("afterResponse"))
}

fn settings(node: &Node) -> Settings {
    if node.is_null() {
        return Settings::default();
    }
    let cookies = node.get("cookies");
    Settings {
        renders_body: flag(node.get("renderRequestBody"), true),
        encodes_url: flag(node.get("encodeUrl"), true),
        follows: node.get("followRedirects").text() != Some("off"),
        // Where one of the two is given, the other is off by default.
        sends_cookies: flag(cookies.get("send"), cookies.is_null()),
        stores_cookies: flag(cookies.get("store"), cookies.is_null()),
        rebuilds_path: flag(node.get("rebuildPath"), true),
    }
}

/// Returns the requests in the order in which Insomnia runs them, each with the folders around it, from outside in, and says what is
/// no request.
pub(super) fn in_order<'c>(root: &'c Folder, left_out: &mut Vec<LeftOut>) -> Vec<(Vec<&'c Level>, &'c Item)> {
    let mut found = Vec::new();
    walk(root, &[], &mut found, left_out);
    found
}

fn walk<'c>(
    folder: &'c Folder,
    levels: &[&'c Level],
    found: &mut Vec<(Vec<&'c Level>, &'c Item)>,
    left_out: &mut Vec<LeftOut>,
) {
    let mut children: Vec<&(f64, Child)> = folder.children.iter().collect();
    children.sort_by(|one, other| one.0.total_cmp(&other.0));
    for (_, child) in children {
        match child {
            Child::Folder(inner) => walk(inner, &[levels, &[&inner.level]].concat(), found, left_out),
            Child::Item(item) => found.push((levels.to_vec(), item)),
            Child::Other(kind, name) => {
                left_out.push(LeftOut::new(kind.as_str(), name.as_str(), "not HTTP requests"));
            }
        }
    }
}
