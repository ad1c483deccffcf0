//! Authorization, which requests inherit from their folders.

use crate::draft::LeftOut;
use crate::node::Node;
use crate::parts::{NOWHERE, aws_options, digest_options, joined, pair};
use crate::reader::Reader;
use crate::reason::AUTHENTICATION;
use torr_session::hurl::ast::{KeyValue, Request, Template};

/// Adds the credentials of a request.
pub(super) fn add(reader: &mut Reader, auth: &Node, request: &mut Request, left_out: &mut Vec<LeftOut>) {
    let kind = auth.get("type").text_or_empty();
    let value = |name: &str| value(auth.get(kind), name);
    match kind {
        "" | "noauth" => {}
        "basic" => {
            let user = reader.template(&value("username"), left_out);
            let password = credential(reader, "password", &value("password"), left_out);
            if !user.0.is_empty() {
                request.basic_auth = Some(KeyValue { name: user, value: password, at: NOWHERE });
            }
        }
        "digest" => {
            let user = reader.template(&value("username"), left_out);
            let password = credential(reader, "password", &value("password"), left_out);
            request.options.extend(digest_options(user, password));
        }
        "bearer" => {
            let token = credential(reader, "token", &value("token"), left_out);
            request.headers.push(pair("Authorization", joined(["Bearer ".into(), token])));
        }
        "apikey" => {
            let key = value("key");
            let secret = credential(reader, &key, &value("value"), left_out);
            match value("in").as_str() {
                "query" => request.query.push(pair(&key, secret)),
                _ => request.headers.push(pair(&key, secret)),
            }
        }
        "oauth2" => {
            let token = credential(reader, "access_token", &value("accessToken"), left_out);
            if value("addTokenTo") == "queryParams" {
                request.query.push(pair("access_token", token));
            } else {
                let prefix = Some(value("headerPrefix")).filter(|prefix| !prefix.trim().is_empty());
                let prefix = format!("{} ", prefix.as_deref().unwrap_or("Bearer").trim());
                request.headers.push(pair("Authorization", joined([prefix.as_str().into(), token])));
            }
        }
        "awsv4" => {
            let of_scope = ["region", "service"].map(&value);
            let of_scope = of_scope.iter().take_while(|part| !part.is_empty());
            let scope = of_scope.map(|part| reader.template(part, left_out)).collect();
            let key = reader.template(&value("accessKey"), left_out);
            let secret = credential(reader, "secret_key", &value("secretKey"), left_out);
            request.options.extend(aws_options(scope, key, secret));
            let token = value("sessionToken");
            if !token.is_empty() {
                let token = credential(reader, "session_token", &token, left_out);
                request.headers.push(pair("X-Amz-Security-Token", token));
            }
        }
        other => left_out.push(LeftOut::new("authorization", other, AUTHENTICATION)),
    }
}

/// Returns a member of an authorization: format 2.1 has a list of names and values, format 2.0 an object.
fn value(of: &Node, name: &str) -> String {
    match of {
        Node::List(items) => {
            let item = items.iter().find(|item| item.get("key").text() == Some(name));
            item.map(|item| item.get("value").plain()).unwrap_or_default()
        }
        object => object.get(name).plain(),
    }
}

/// Returns a credential: a variable that the collection names, otherwise a new one.
fn credential(reader: &mut Reader, name: &str, value: &str, left_out: &mut Vec<LeftOut>) -> Template {
    let template = reader.template(value, left_out);
    reader.secrets.credential(name, template)
}
