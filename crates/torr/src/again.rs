//! From a command line to the commands that a report prints. Secrets do not go into reports, which are kept and passed on: a shell's
//! variable stands for each of them.

use crate::cli::{Given, GivenFlag};
use torr_doctor::{Invocation, quoted};
use torr_press::Target;

/// Flags of which the whole value is a secret, and the variable that stands for it.
const SECRETS: [(&str, &str); 4] = [
    ("user", "TORR_USER"),
    ("oauth2_bearer", "TORR_TOKEN"),
    ("proxy_user", "TORR_PROXY_USER"),
    ("cookies", "TORR_COOKIE"),
];

/// Parts of the names of fields whose values are secrets.
const SECRET_FIELDS: [&str; 7] = ["auth", "cookie", "token", "secret", "password", "key", "session"];

/// The request and the way there, as they were given, for this URL.
pub fn invocation(given: &Given, url: Option<&str>) -> Invocation {
    let target = url.and_then(|url| Target::parse(url).ok());
    let mut again = Invocation { url: target.as_ref().map(|target| target.url.clone()), ..Invocation::default() };
    for flag in &given.flags {
        let words = words(flag, &mut again.variables);
        let into = if flag.id == "streams" { &mut again.streams } else { &mut again.request };
        into.extend(words);
    }
    // What stands in a URL counts only where no flag says otherwise.
    let has_user = given.flags.iter().any(|flag| ["user", "oauth2_bearer"].contains(&flag.id.as_str()));
    if !has_user && target.is_some_and(|target| target.has_userinfo()) {
        let variable = variable("TORR_USER", "user and password of the URL", &mut again.variables);
        again.request.extend(["--user".to_owned(), format!("\"${variable}\"")]);
    }
    again
}

/// A flag and its value, as words of a shell.
fn words(flag: &GivenFlag, variables: &mut Vec<(String, String)>) -> Vec<String> {
    let mut words = vec![flag.name.clone()];
    let Some(value) = &flag.value else { return words };
    let secret = SECRETS.iter().find(|(id, _)| *id == flag.id).map(|(_, variable)| variable);
    let field = (flag.id == "headers").then(|| value.split_once(':')).flatten().filter(|(name, _)| is_secret(name));
    let word = match (secret, field) {
        (Some(name), _) => format!("\"${}\"", variable(name, &flag.name, variables)),
        (None, Some((name, _))) => {
            let upper: String =
                name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
            let variable = variable(&format!("TORR_{upper}"), &format!("the field {name}"), variables);
            format!("\"{name}: ${variable}\"")
        }
        // A value that looks like a flag is taken for one, unless it is joined to its own.
        (None, None) if value.starts_with('-') => return vec![format!("{}={}", flag.name, quoted(value))],
        (None, None) => quoted(value),
    };
    words.push(word);
    words
}

/// Whether a field of this name carries a secret. The name has to be one that a shell leaves as it is between quotation marks.
fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_FIELDS.iter().any(|part| name.contains(part))
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

/// Notes a variable, with a number where there is one of this name already.
fn variable(name: &str, what: &str, variables: &mut Vec<(String, String)>) -> String {
    let same =
        variables.iter().filter(|(known, _)| known.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_') == name);
    let name = match same.count() {
        0 => name.to_owned(),
        n => format!("{name}_{}", n + 1),
    };
    variables.push((name.clone(), what.to_owned()));
    name
}
