//! What exports of Insomnia say, whichever of their two formats they have.

use crate::node::Node;

/// A header field, or a parameter of a URL.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) is_on: bool,
}

/// What a folder or a request says, and the requests below inherit.
#[derive(Debug, Clone)]
pub(super) struct Level {
    pub(super) name: String,
    pub(super) headers: Vec<Row>,
    pub(super) auth: Node,
    /// The variables of a folder, sorted by name.
    pub(super) environment: Node,
    /// The script before the request.
    pub(super) before: String,
    /// The script behind the response.
    pub(super) after: String,
}

/// Settings of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Settings {
    /// Whether variables and tags in the content count.
    pub(super) renders_body: bool,
    pub(super) encodes_url: bool,
    pub(super) follows: bool,
    pub(super) sends_cookies: bool,
    pub(super) stores_cookies: bool,
    /// Whether dots in the path are resolved.
    pub(super) rebuilds_path: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            renders_body: true,
            encodes_url: true,
            follows: true,
            sends_cookies: true,
            stores_cookies: true,
            rebuilds_path: true,
        }
    }
}

/// A request.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) level: Level,
    /// The name by which tags refer to it.
    pub(super) id: String,
    pub(super) method: String,
    pub(super) url: String,
    /// Parameters of the path.
    pub(super) path: Vec<Row>,
    pub(super) parameters: Vec<Row>,
    /// The content: `mimeType`, and `text`, `params` or `fileName`.
    pub(super) body: Node,
    pub(super) settings: Settings,
}

/// What stands in a folder.
#[derive(Debug, Clone)]
pub(super) enum Child {
    Folder(Folder),
    Item(Box<Item>),
    /// What is no HTTP request, by its kind and its name.
    Other(String, String),
}

/// A folder, or the whole collection.
#[derive(Debug, Clone)]
pub(super) struct Folder {
    pub(super) level: Level,
    /// What stands in it, each with the key by which it is sorted.
    pub(super) children: Vec<(f64, Child)>,
}

/// Environments: the variables of the base, and those of the sub-environments with their names, all sorted.
#[derive(Debug, Clone)]
pub(super) struct Environments {
    pub(super) name: String,
    pub(super) base: Node,
    pub(super) subs: Vec<(String, Node)>,
}

impl Default for Environments {
    fn default() -> Self {
        Self { name: String::new(), base: Node::Null, subs: Vec::new() }
    }
}

/// An export.
#[derive(Debug, Clone)]
pub(super) struct Collection {
    pub(super) folder: Folder,
    pub(super) environments: Environments,
    /// What is left out of the whole: kinds, names and reasons.
    pub(super) left_out: Vec<(String, String, String)>,
}

/// The levels of folders; JSON and YAML have a limit near.
pub(super) const DEEPEST: usize = 64;

/// Returns what a folder or a request says, with its scripts.
pub(super) fn level(node: &Node, before: &Node, after: &Node) -> Level {
    Level {
        name: node.get("name").plain(),
        headers: rows(node.get("headers")),
        auth: node.get("authentication").clone(),
        environment: sorted(node.get("environment")),
        before: before.plain(),
        after: after.plain(),
    }
}

/// Returns a request. It has no variables of its own.
pub(super) fn item(node: &Node, level: Level, id: String, settings: Settings) -> Box<Item> {
    Box::new(Item {
        level: Level { environment: Node::Null, ..level },
        id,
        method: node.get("method").plain(),
        url: node.get("url").plain(),
        path: rows(node.get("pathParameters")),
        parameters: rows(node.get("parameters")),
        body: node.get("body").clone(),
        settings,
    })
}

/// Returns what is said of a suite of tests.
pub(super) fn suite(node: &Node) -> (String, String, String) {
    ("test suite".to_owned(), node.get("name").plain(), "unit tests are not imported".to_owned())
}

/// Returns the rows of a list.
fn rows(list: &Node) -> Vec<Row> {
    let row = |row: &Node| Row {
        name: row.get("name").plain(),
        value: row.get("value").plain(),
        is_on: !row.get("disabled").is_true(),
    };
    list.items().iter().map(row).collect()
}

/// Returns the variables of an environment with the members of objects sorted by name, so that they are found fast.
pub(super) fn sorted(node: &Node) -> Node {
    match node {
        Node::Object(members) => {
            let mut made: Vec<(String, Node)> =
                members.iter().map(|(name, value)| (name.clone(), sorted(value))).collect();
            made.sort_by(|one, other| one.0.cmp(&other.0));
            Node::Object(made)
        }
        Node::List(items) => Node::List(items.iter().map(sorted).collect()),
        other => other.clone(),
    }
}

/// Returns a flag, which has a value of its own where it is missing.
pub(super) fn flag(node: &Node, otherwise: bool) -> bool {
    if let Node::Boolean(value) = node { *value } else { otherwise }
}

/// Returns what is left out of a jar of cookies: a virtual user begins without any.
pub(super) fn cookies(jar: &Node) -> Vec<(String, String, String)> {
    let reason = "a virtual user begins without cookies, and keeps those that responses set";
    let said = |cookie: &Node| ("cookie of the jar".to_owned(), cookie.get("key").plain(), reason.to_owned());
    jar.get("cookies").items().iter().map(said).collect()
}
