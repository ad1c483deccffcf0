//! What Bruno's files say, whichever of its two formats they have.

/// A row of a table: a header field, a parameter, a variable, an assertion.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) is_on: bool,
    /// Names of files that a part of a form has; a part with text has none.
    pub(super) files: Vec<String>,
    /// The media type of a part of a form or of a file; empty for none.
    pub(super) content_type: String,
}

impl Row {
    /// Returns a row that is on.
    pub(super) fn new(name: &str, value: &str) -> Self {
        Self { name: name.to_owned(), value: value.to_owned(), is_on: true, ..Self::default() }
    }
}

/// How a request authenticates itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Auth {
    /// Such as `basic`; empty, `none` or `inherit` for nothing of its own.
    pub(super) mode: String,
    /// Names, as files of the Bru language spell them, and values.
    pub(super) values: Vec<(String, String)>,
}

impl Auth {
    /// Returns a value; the empty text where there is none.
    pub(super) fn get(&self, name: &str) -> &str {
        self.values.iter().find(|(other, _)| other == name).map_or("", |(_, value)| value)
    }
}

/// What a collection, a folder or a request says, and the requests below inherit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Level {
    pub(super) name: String,
    pub(super) headers: Vec<Row>,
    pub(super) auth: Auth,
    /// Variables for requests.
    pub(super) variables: Vec<Row>,
    /// Variables that responses give a value: names and expressions.
    pub(super) captures: Vec<Row>,
    /// The script before the request.
    pub(super) before: String,
    /// The script behind the response.
    pub(super) after: String,
    pub(super) tests: String,
    /// What of the file has no meaning here: kinds and reasons.
    pub(super) left_out: Vec<(String, String)>,
}

/// Content of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Content {
    #[default]
    None,
    /// Text, by the name of its kind: `json`, `text`, `xml` or `sparql`.
    Text {
        kind: &'static str,
        text: String,
    },
    Form(Vec<Row>),
    Parts(Vec<Row>),
    GraphQl {
        query: String,
        variables: String,
    },
    /// Files, of which the one that is on is sent.
    File(Vec<Row>),
    /// A kind that is not known, by its name.
    Other(String),
}

/// Settings of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Settings {
    pub(super) encodes_url: bool,
    pub(super) follows: bool,
    pub(super) max_redirects: Option<u64>,
    /// In milliseconds; 0 for none.
    pub(super) timeout: u64,
    /// Whether redirects to another host get the credentials too.
    pub(super) forwards_credentials: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { encodes_url: false, follows: true, max_redirects: None, timeout: 0, forwards_credentials: true }
    }
}

/// A request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) level: Level,
    /// Its place among the requests of its folder.
    pub(super) sequence: i64,
    /// Such as `http` or `grpc`.
    pub(super) kind: String,
    pub(super) method: String,
    pub(super) url: String,
    /// Parameters of the path.
    pub(super) path: Vec<Row>,
    /// Names of parameters of the query that are off, and so are not part of the URL.
    pub(super) off: Vec<String>,
    pub(super) content: Content,
    /// Expressions, and what they must be.
    pub(super) asserts: Vec<Row>,
    pub(super) settings: Settings,
}

/// A folder of a collection, or the whole.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Folder {
    pub(super) level: Level,
    /// Its place among the folders beside it.
    pub(super) sequence: Option<i64>,
    pub(super) folders: Vec<Folder>,
    pub(super) items: Vec<Item>,
}

/// An environment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Environment {
    pub(super) variables: Vec<Row>,
    /// Names of variables whose values are in no file.
    pub(super) secrets: Vec<String>,
    /// What is left out of it: kinds and reasons.
    pub(super) left_out: Vec<(String, String)>,
}

/// Returns the value of a variable with a type as a request has it: numbers in the notation of JavaScript, objects as JSON
/// without spaces.
pub(super) fn typed(value: &str, kind: &str) -> String {
    let trimmed = value.trim();
    match kind {
        "number" => match trimmed.parse::<f64>() {
            Ok(number) if number.is_finite() && number.abs() < 1e21 => {
                if number == 0.0 {
                    "0".to_owned()
                } else {
                    number.to_string()
                }
            }
            _ => value.to_owned(),
        },
        "object" => match crate::node::Node::read(trimmed, "object", false) {
            Ok(node) if !node.members().is_empty() || !node.items().is_empty() => node.to_json(),
            _ => value.to_owned(),
        },
        _ => value.to_owned(),
    }
}
