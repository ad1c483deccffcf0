//! Credentials in the clients' own notation, such as `Authorization: Basic user password`.

use super::made::Made;
use super::text;
use crate::parts::{NOWHERE, aws_options, digest_options, pair};
use crate::pattern::pattern;
use crate::reason::AUTHENTICATION;
use regex::Regex;
use std::sync::LazyLock;
use torr_session::hurl::ast::{KeyValue, Template};

/// Credentials of Amazon: the key's name and the key, the session's token, the region and the service.
static AWS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(\S+)\s+(\S+)\s*(?:token:\s*(\S*))?\s*(?:region:\s*(\S*))?\s*(?:service:\s*(\S*))?$"));

/// Adds credentials; `false` for a value that is sent as it stands.
pub(super) fn add(made: &mut Made<'_>, value: &str) -> bool {
    let (scheme, rest) = value.split_once(char::is_whitespace).unwrap_or((value, ""));
    let rest = rest.trim();
    match scheme.to_ascii_lowercase().as_str() {
        "basic" => basic(made, rest),
        "digest" => digest(made, rest),
        "aws" => aws(made, rest),
        "ntlm" | "negotiate" | "oauth2" | "openid" => {
            made.leave_out("authorization", scheme, AUTHENTICATION);
            true
        }
        _ => false,
    }
}

fn basic(made: &mut Made<'_>, rest: &str) -> bool {
    let Some((name, value)) = user_and_password(made, rest) else { return false };
    made.request.basic_auth = Some(KeyValue { name, value, at: NOWHERE });
    true
}

fn digest(made: &mut Made<'_>, rest: &str) -> bool {
    // Parameters of a whole response to a challenge are sent as they stand.
    if rest.contains('=') {
        return false;
    }
    let Some((user, password)) = user_and_password(made, rest) else { return false };
    made.request.options.extend(digest_options(user, password));
    true
}

/// Returns a name and a password, separated by a colon or a space.
fn user_and_password(made: &mut Made<'_>, rest: &str) -> Option<(Template, Template)> {
    // A variable may have both.
    let whole = text::expressions(rest).next().filter(|name| *name == rest.trim_matches(['{', '}', ' ']));
    let known = whole.and_then(|name| made.reader.variables.value(name)).map(str::to_owned);
    let rest = known.filter(|value| value.contains(':') || value.contains(' ')).unwrap_or_else(|| rest.to_owned());
    let split = rest.rsplit_once(':').or_else(|| rest.split_once(char::is_whitespace));
    // A colon or a space within braces separates nothing.
    let is_whole = |text: &str| text.matches("{{").count() == text.matches("}}").count();
    let (user, password) = split.filter(|(user, password)| is_whole(user) && is_whole(password))?;
    let name = made.template(user);
    Some((name, credential(made, "password", password)))
}

fn aws(made: &mut Made<'_>, rest: &str) -> bool {
    let Some(found) = AWS.captures(rest) else {
        made.leave_out("authorization", "AWS", AUTHENTICATION);
        return true;
    };
    let part = |at: usize| found.get(at).map_or("", |part| part.as_str());
    let of_scope = [part(4), part(5)].into_iter().take_while(|part| !part.is_empty());
    let scope = of_scope.map(|part| made.template(part)).collect();
    let key = made.template(part(1));
    let secret = credential(made, "secret_key", part(2));
    made.request.options.extend(aws_options(scope, key, secret));
    if !part(3).is_empty() {
        let token = credential(made, "session_token", part(3));
        made.request.headers.push(pair("X-Amz-Security-Token", token));
    }
    true
}

/// Returns a credential: a variable that the file names, otherwise a new one.
fn credential(made: &mut Made<'_>, name: &str, value: &str) -> Template {
    let template = made.template(value);
    made.reader.secrets.credential(name, template)
}
