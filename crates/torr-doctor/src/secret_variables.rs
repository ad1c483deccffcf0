//! The shell variables that stand for secrets in printed commands: reports are kept and passed on.

use crate::shell::{in_double_quotes, quoted};
use torr_gauge::redact;

/// The shell variables of the commands of a report. Each stands for one secret, wherever that stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SecretVariables(Vec<SecretVariable>);

/// A shell variable that stands for a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
struct SecretVariable {
    name: String,
    /// What the secret was given as, such as `--user`.
    meaning: String,
    secret: String,
}

/// A part of a URL.
enum Part<'u> {
    /// The text is shown.
    Shown(&'u str),
    /// User and password, for which a variable stands.
    User(&'u str),
    /// A parameter of the query: its name and '=' are shown, and a variable stands for its value.
    Parameter { name: &'u str, secret: &'u str },
}

impl SecretVariables {
    /// Returns the name of each variable with what its value was given as.
    pub fn meanings(&self) -> Vec<(String, String)> {
        self.0.iter().map(|variable| (variable.name.clone(), variable.meaning.clone())).collect()
    }

    /// Returns the variable that stands for a secret, with a number where another secret has the name already.
    pub fn variable(&mut self, name: &str, meaning: &str, secret: &str) -> String {
        let of_name = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
        let first: String = name.chars().map(of_name).collect();
        let (mut name, mut number) = (first.clone(), 1);
        loop {
            match self.0.iter().find(|known| known.name == name) {
                Some(known) if known.secret == secret => return name,
                Some(_) => {
                    number += 1;
                    name = format!("{first}_{number}");
                }
                None => {
                    self.0.push(SecretVariable {
                        name: name.clone(),
                        meaning: meaning.to_owned(),
                        secret: secret.to_owned(),
                    });
                    return name;
                }
            }
        }
    }

    /// Returns the user's URL as a word of a shell.
    pub fn url(&mut self, url: &str) -> String {
        self.url_of("the URL", url)
    }

    /// Returns a URL of the service that was given as `meaning`, as a word of a shell.
    pub fn url_of(&mut self, meaning: &str, url: &str) -> String {
        if redact::url(url) == url { quoted(url) } else { self.hidden(meaning, "TORR_URL", url) }
    }

    /// Returns the value of a flag as a word of a shell.
    pub fn value(&mut self, flag: &str, value: &str) -> String {
        if redact::hides(value) { self.secret_value(flag, value) } else { quoted(value) }
    }

    /// Returns the value of a flag, in which there is a secret, as a word of a shell.
    pub fn secret_value(&mut self, flag: &str, value: &str) -> String {
        self.hidden(flag, &format!("TORR_{}", flag.trim_start_matches('-')), value)
    }

    /// Returns a value as a word of a shell, in which variables stand for the secrets of a URL. One variable stands for the whole of
    /// any other value.
    fn hidden(&mut self, meaning: &str, name: &str, value: &str) -> String {
        let Some(parts) = parts(value) else {
            return format!("\"${}\"", self.variable(name, meaning, value));
        };
        let part = |part| match part {
            Part::Shown(text) => in_double_quotes(text),
            Part::User(secret) => {
                format!("${}", self.variable("TORR_URL_USER", &format!("user and password of {meaning}"), secret))
            }
            Part::Parameter { name, secret } => {
                let meaning = format!("the parameter {name} of {meaning}");
                let variable = self.variable(&format!("TORR_URL_{name}"), &meaning, secret);
                format!("{}=${variable}", in_double_quotes(name))
            }
        };
        format!("\"{}\"", parts.into_iter().map(part).collect::<String>())
    }
}

/// Returns the parts of a URL. `None` for a text that is no URL, or one whose secrets are not only user and password and values of
/// parameters.
fn parts(url: &str) -> Option<Vec<Part<'_>>> {
    let scheme = url.split_once("://").map(|(scheme, _)| scheme)?;
    if !scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte)) {
        return None;
    }
    let (mut parts, mut shown, mut rest) = (Vec::new(), String::new(), url);
    if let Some(user) = redact::user(url) {
        let (before, from_user) = url.split_at(scheme.len() + 3);
        rest = from_user[user.len()..].strip_prefix('@')?;
        parts.extend([Part::Shown(before), Part::User(user), Part::Shown("@")]);
        shown.push_str(before);
    }
    let query = rest.find('?').map_or(rest.len(), |at| at + 1);
    parts.push(Part::Shown(&rest[..query]));
    shown.push_str(&rest[..query]);
    for piece in rest[query..].split_inclusive(['&', '#']) {
        let body = piece.trim_end_matches(['&', '#']);
        let hides = redact::url(&format!("http://host/?{body}")) != format!("http://host/?{body}");
        match body.split_once('=').filter(|_| hides) {
            Some((name, secret)) => {
                parts.extend([Part::Parameter { name, secret }, Part::Shown(&piece[body.len()..])]);
            }
            None => {
                parts.push(Part::Shown(piece));
                shown.push_str(piece);
            }
        }
    }
    (redact::url(&shown) == shown).then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(variables: &SecretVariables) -> Vec<String> {
        variables.meanings().into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn variables_stand_for_the_secrets_of_a_url() {
        for (url, word, expected) in [
            ("http://h/a?b=c d", "'http://h/a?b=c d'", &[][..]),
            (
                "http://h/$?b=\"!&token=x&c=`#t",
                "\"http://h/\\$?b=\\\"\"'!'\"&token=$TORR_URL_TOKEN&c=\\`#t\"",
                &["TORR_URL_TOKEN"],
            ),
            (
                "http://h/?api-key=x&api_key=y",
                "\"http://h/?api-key=$TORR_URL_API_KEY&api_key=$TORR_URL_API_KEY_2\"",
                &["TORR_URL_API_KEY", "TORR_URL_API_KEY_2"],
            ),
            ("http://u:p@h:1/a", "\"http://$TORR_URL_USER@h:1/a\"", &["TORR_URL_USER"]),
            (
                "http://u:p@h/?token=x",
                "\"http://$TORR_URL_USER@h/?token=$TORR_URL_TOKEN\"",
                &["TORR_URL_USER", "TORR_URL_TOKEN"],
            ),
            ("http://h/?to=http://u:p@k", "\"http://h/?to=$TORR_URL_TO\"", &["TORR_URL_TO"]),
            ("http://h/http://u:p@k?a=b", "\"$TORR_URL\"", &["TORR_URL"]),
        ] {
            let mut variables = SecretVariables::default();
            assert_eq!(
                (variables.url(url).as_str(), names(&variables)),
                (word, expected.iter().map(|name| (*name).to_owned()).collect()),
                "{url}"
            );
        }
    }

    #[test]
    fn a_parameter_that_is_called_user_is_not_the_user() {
        let mut variables = SecretVariables::default();
        let word = variables.url("http://u:p@h/?user=http://v:q@k");
        assert_eq!(word, "\"http://$TORR_URL_USER@h/?user=$TORR_URL_USER_2\"");
        let expected =
            [("TORR_URL_USER", "user and password of the URL"), ("TORR_URL_USER_2", "the parameter user of the URL")];
        assert_eq!(variables.meanings(), expected.map(|(name, meaning)| (name.to_owned(), meaning.to_owned())));
    }

    #[test]
    fn a_variable_stands_for_one_secret() {
        let mut variables = SecretVariables::default();
        let word = variables.url("http://h/?token=a");
        assert_eq!(variables.url("http://h/?token=a"), word);
        assert_eq!(variables.value("--via", "http://p/?token=a"), "\"http://p/?token=$TORR_URL_TOKEN\"");
        assert_eq!(variables.value("--via", "http://p/?token=b"), "\"http://p/?token=$TORR_URL_TOKEN_2\"");
        assert_eq!(variables.value("--via", "http://p/"), "http://p/");
        assert_eq!(variables.value("--command", "serve {port} --db mysql://u:p@h/d"), "\"$TORR_COMMAND\"");
        assert_eq!(variables.secret_value("--data", "password=b&next=http://k/"), "\"$TORR_DATA\"");
        let expected = [
            ("TORR_URL_TOKEN", "the parameter token of the URL"),
            ("TORR_URL_TOKEN_2", "the parameter token of --via"),
            ("TORR_COMMAND", "--command"),
            ("TORR_DATA", "--data"),
        ];
        assert_eq!(variables.meanings(), expected.map(|(name, meaning)| (name.to_owned(), meaning.to_owned())));
        // A name that looks numbered is another one.
        assert_eq!(variables.variable("TORR_URL_TOKEN_2", "", "c"), "TORR_URL_TOKEN_2_2");
    }
}
