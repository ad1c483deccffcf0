//! Exports of version 4: one list of resources, each of which names the one that it is part of.

use super::item::{self, Child, Collection, DEEPEST, Environments, Folder, Level, Settings, cookies, flag, sorted};
use crate::draft::ImportError;
use crate::node::Node;
use std::collections::{HashMap, HashSet};

/// The resources of an export, by those that they are part of.
type Resources<'n> = HashMap<&'n str, Vec<&'n Node>>;

/// Reads the first workspace with requests.
///
/// # Errors
/// If there are no resources.
pub(super) fn read(root: &Node) -> Result<Collection, ImportError> {
    let all = root.get("resources").items();
    if all.is_empty() {
        return Err(ImportError("not an Insomnia export: 'resources' is missing or empty".to_owned()));
    }
    let mut by_parent = Resources::new();
    for resource in all {
        by_parent.entry(resource.get("parentId").text_or_empty()).or_default().push(resource);
    }
    let ids: HashSet<&str> = all.iter().map(id).collect();
    let workspaces: Vec<&Node> = all.iter().filter(|node| kind(node) == "workspace").collect();
    let is_request = |node: &&Node| kind(node).ends_with("request");
    let (with, _): (Vec<&Node>, Vec<&Node>) =
        workspaces.into_iter().partition(|node| within(&[node], &by_parent).iter().any(is_request));
    let mut left_out = Vec::new();
    for other in with.iter().skip(1) {
        let reason = "an export with several: export each alone".to_owned();
        left_out.push(("collection".to_owned(), other.get("name").plain(), reason));
    }
    // What is part of nothing in the file stands at the top: requests that were exported alone.
    let is_loose = |node: &&Node| kind(node) != "workspace" && !ids.contains(node.get("parentId").text_or_empty());
    let loose: Vec<&Node> = all.iter().filter(is_loose).collect();
    let reached = within(&[&with[..], &loose].concat(), &by_parent);
    let reached: HashSet<*const Node> =
        reached.into_iter().chain(loose.iter().copied()).map(std::ptr::from_ref).collect();
    for lost in all.iter().filter(is_request).filter(|node| !reached.contains(&std::ptr::from_ref(*node))) {
        left_out.push(("request".to_owned(), lost.get("name").plain(), "its folder is part of itself".to_owned()));
    }
    let environments = match with.first() {
        Some(workspace) => environments_of(id(workspace), &by_parent),
        None => environments(root).unwrap_or_default(),
    };
    let mut children = with.first().map(|workspace| children(workspace, &mut by_parent, 0)).unwrap_or_default();
    children.extend(loose.iter().filter_map(|node| child(node, &mut by_parent, 0)));
    for resource in all {
        match kind(resource) {
            "cookie_jar" => left_out.extend(cookies(resource)),
            "unit_test_suite" => left_out.push(item::suite(resource)),
            _ => {}
        }
    }
    let folder = Folder { level: level(&Node::Null), children };
    Ok(Collection { folder, environments, left_out })
}

/// Returns everything that is part of these resources.
fn within<'n>(tops: &[&'n Node], by_parent: &Resources<'n>) -> Vec<&'n Node> {
    let mut open: Vec<&str> = tops.iter().map(|node| id(node)).collect();
    let (mut seen, mut found) = (HashSet::new(), Vec::new());
    while let Some(next) = open.pop() {
        if seen.insert(next) {
            let inner = by_parent.get(next).map_or(&[][..], Vec::as_slice);
            open.extend(inner.iter().map(|node| id(node)));
            found.extend(inner);
        }
    }
    found
}

/// Returns the first environment of an export, with its sub-environments.
pub(super) fn environments(root: &Node) -> Option<Environments> {
    let all = root.get("resources").items();
    let is_base =
        |node: &&Node| kind(node) == "environment" && !node.get("parentId").text_or_empty().starts_with("env_");
    let base = all.iter().find(is_base)?;
    let subs: Vec<&Node> = all.iter().filter(|node| node.get("parentId").text() == Some(id(base))).collect();
    Some(with_subs(base, &subs))
}

fn environments_of(workspace: &str, by_parent: &Resources<'_>) -> Environments {
    let of = |id: &str| by_parent.get(id).map_or(&[][..], Vec::as_slice);
    let base = of(workspace).iter().find(|node| kind(node) == "environment");
    base.map(|base| with_subs(base, of(id(base)))).unwrap_or_default()
}

fn with_subs(base: &Node, subs: &[&Node]) -> Environments {
    let subs = subs.iter().filter(|node| kind(node) == "environment");
    Environments {
        name: base.get("name").plain(),
        base: sorted(base.get("data")),
        subs: subs.map(|sub| (sub.get("name").plain(), sorted(sub.get("data")))).collect(),
    }
}

fn id(node: &Node) -> &str {
    node.get("_id").text_or_empty()
}

/// Returns the kind of a resource.
fn kind(node: &Node) -> &str {
    node.get("_type").text_or_empty()
}

/// Returns what is part of a resource. Each is part of one only, even where two have one name.
fn children<'n>(of: &'n Node, by_parent: &mut Resources<'n>, depth: usize) -> Vec<(f64, Child)> {
    let inner = by_parent.remove(id(of)).unwrap_or_default();
    inner.into_iter().filter_map(|node| child(node, by_parent, depth)).collect()
}

fn child<'n>(node: &'n Node, by_parent: &mut Resources<'n>, depth: usize) -> Option<(f64, Child)> {
    let name = node.get("name").plain();
    let other = |kind: &str| Child::Other(kind.to_owned(), name.clone());
    let child = match kind(node) {
        "request_group" if depth < DEEPEST => {
            Child::Folder(Folder { level: level(node), children: children(node, by_parent, depth + 1) })
        }
        "request_group" => other("folders nested too deeply"),
        "request" => Child::Item(item::item(node, level(node), id(node).to_owned(), settings(node))),
        "grpc_request" => other("requests of gRPC"),
        "websocket_request" => other("requests of WebSocket"),
        "socketio_request" => other("requests of Socket.IO"),
        _ => return None,
    };
    Some((node.get("metaSortKey").number().unwrap_or(0.0), child))
}

fn level(node: &Node) -> Level {
    item::level(node, node.get("preRequestScript"), node.get("afterResponseScript"))
}

fn settings(node: &Node) -> Settings {
    let setting = |name: &str, otherwise: bool| flag(node.get(name), otherwise);
    Settings {
        renders_body: !setting("settingDisableRenderRequestBody", false),
        encodes_url: setting("settingEncodeUrl", true),
        follows: node.get("settingFollowRedirects").text() != Some("off"),
        sends_cookies: setting("settingSendCookies", true),
        stores_cookies: setting("settingStoreCookies", true),
        rebuilds_path: setting("settingRebuildPath", true),
    }
}
