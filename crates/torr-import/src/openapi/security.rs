//! Security schemes: credentials are variables that are read from the environment.

use super::document::Document;
use crate::draft::LeftOut;
use crate::node::Node;
use crate::parts::{NOWHERE, digest_options, pair, variable, variable_name};
use crate::secret::Secrets;
use torr_session::hurl::ast::{KeyValue, Piece, Request, Template};

/// Adds the credentials of an operation: those of the first alternative, which the description prefers.
pub(super) fn add(
    document: &Document<'_>,
    operation: &Node,
    request: &mut Request,
    secrets: &mut Secrets,
    left_out: &mut Vec<LeftOut>,
) {
    let requirements = match operation.get("security") {
        Node::Null => document.root.get("security"),
        own => own,
    };
    let alternatives = requirements.items();
    // An empty alternative says that credentials are optional.
    let chosen = alternatives.iter().find(|one| !one.members().is_empty());
    for (name, _) in chosen.map(Node::members).unwrap_or_default() {
        let scheme = document.resolve(document.root.get("components").get("securitySchemes").get(name));
        if let Err(reason) = add_scheme(name, scheme, request, secrets) {
            left_out.push(LeftOut::new("security scheme", name, reason));
        }
    }
}

fn add_scheme(name: &str, scheme: &Node, request: &mut Request, secrets: &mut Secrets) -> Result<(), String> {
    let place = format!("security scheme {name}");
    let mut credential = |suffix: &str| {
        let variable_name = variable_name(&format!("{name}{suffix}"), |_| false);
        secrets.note(&variable_name, &place, "");
        Piece::Placeholder(variable(&variable_name))
    };
    let bearer = |piece: Piece| pair("Authorization", Template(vec![Piece::Text("Bearer ".to_owned()), piece]));
    match (scheme.get("type").text_or_empty(), scheme.get("scheme").text_or_empty().to_ascii_lowercase().as_str()) {
        ("apiKey", _) => {
            let (key, value) = (scheme.get("name").text_or_empty(), Template(vec![credential("")]));
            match scheme.get("in").text_or_empty() {
                "header" => request.headers.push(pair(key, value)),
                "query" => request.query.push(pair(key, value)),
                "cookie" => request.cookies.push(pair(key, value)),
                other => return Err(format!("a key in '{other}' is not supported")),
            }
        }
        ("http", "basic") => {
            let name = Template(vec![credential("_user")]);
            request.basic_auth = Some(KeyValue { name, value: Template(vec![credential("_password")]), at: NOWHERE });
        }
        ("http", "digest") => {
            let mut part = |end: &str| Template(vec![credential(end)]);
            request.options.extend(digest_options(part("_user"), part("_password")));
        }
        ("http", "bearer") | ("oauth2" | "openIdConnect", _) => request.headers.push(bearer(credential(""))),
        ("http", other) => return Err(format!("authentication scheme '{other}' is not supported")),
        ("mutualTLS", _) => return Err("use the option 'cert' for the certificate".to_owned()),
        ("", _) => return Err("the description does not define it".to_owned()),
        (other, _) => return Err(format!("unknown type '{other}'")),
    }
    Ok(())
}
