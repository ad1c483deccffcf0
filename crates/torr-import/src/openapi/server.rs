//! The servers of a description.

use super::document::Document;
use crate::draft::{Draft, ImportError, LeftOut};
use crate::node::Node;
use crate::target::is_http;

/// The variable that holds the server's URL.
pub(super) const BASE_URL: &str = "base_url";

/// Returns the URL of the server that all requests go to, without a slash at its end.
///
/// # Errors
/// If the server that the command line gives is no URL.
pub(super) fn base(document: &Document<'_>, server: Option<&str>, draft: &mut Draft) -> Result<String, ImportError> {
    let servers = document.root.get("servers").items();
    let described = servers.first().map(url).unwrap_or_default();
    for server in servers.iter().skip(1) {
        draft.left_out.push(LeftOut::new(
            "servers",
            url(server),
            "the first one is used: choose another with --server",
        ));
    }
    let base = match server {
        // A described URL without a host is a path on the server.
        Some(given) => {
            if !is_http(given) {
                return Err(ImportError(format!("--server '{given}' must begin with http:// or https://")));
            }
            given.to_owned()
        }
        None if described.contains("://") => described,
        None => {
            let base = format!("http://localhost/{}", described.trim_start_matches('/'));
            draft
                .notes
                .push(format!("the description names no host, so base_url is {base}: set another with --server"));
            base
        }
    };
    Ok(base.trim_end_matches('/').to_owned())
}

/// Returns the URL of a server, its variables filled in.
pub(super) fn url(server: &Node) -> String {
    let mut url = server.get("url").text_or_empty().to_owned();
    for (name, variable) in server.get("variables").members() {
        let value = match variable.get("default") {
            Node::Null => variable.get("enum").items().first().map(Node::plain).unwrap_or_default(),
            value => value.plain(),
        };
        url = url.replace(&format!("{{{name}}}"), &value);
    }
    url
}
