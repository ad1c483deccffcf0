//! The commands that a report prints. Each is built from the user's command line, so that it can be run unchanged and sends the
//! user's requests.

use std::fmt::Write;
use torr_gauge::redact;
use torr_gauge::verdict::Advice;

/// The parts of the user's command line that other commands need. All texts except URLs are quoted for a shell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Invocation {
    /// The command that starts the service, where the service has ended with the command that examined it.
    pub first: Option<String>,
    /// What `torr URL` becomes where others load for it, such as `torr fleet run --`.
    pub through: Option<String>,
    /// The URL without user and password; `None` if flags of the request have it. Commands have variables for its secrets.
    pub url: Option<String>,
    /// The requests of a session, if hurl files are loaded: `-r` then counts sessions.
    pub requests_each: usize,
    /// The flags of the request and its route, which all commands take.
    pub request: Vec<String>,
    /// The flags of streams per HTTP/2 connection, which exclude a connection for each request.
    pub streams: Vec<String>,
    /// The flags of the load that `torr URL` and `torr doctor` share: names, and values as words.
    pub load: Vec<(String, Option<String>)>,
    /// The flags of `torr doctor` alone: names, and values as words.
    pub doctor: Vec<(String, Option<String>)>,
    /// The shell variables that replace secrets, each with its flag or field.
    pub variables: Vec<(String, String)>,
}

/// A flag of a command with its value.
pub type Flag<'f> = (&'f str, &'f dyn std::fmt::Display);

impl Invocation {
    /// Returns `torr URL` with these flags, which replace the user's.
    pub fn press(&self, flags: &[Flag<'_>]) -> String {
        self.press_at(self.url.as_deref(), flags, &[])
    }

    /// Returns `torr URL` with these flags and keep-alive, even if the user's command has none.
    pub fn press_kept_alive(&self, flags: &[Flag<'_>]) -> String {
        self.press_at(self.url.as_deref(), flags, &["--no-keepalive"])
    }

    /// Returns `torr URL` for another URL, with a connection for each request.
    pub fn press_once_each(&self, url: &str, flags: &[Flag<'_>]) -> String {
        let one_each = Self { streams: vec![], ..self.clone() };
        one_each.press_at(Some(url), flags, &["--no-keepalive"]) + " --no-keepalive"
    }

    /// Returns `torr URL` for another URL of the service.
    pub fn press_other(&self, url: &str, flags: &[Flag<'_>]) -> String {
        self.press_at(Some(url), flags, &[])
    }

    fn press_at(&self, url: Option<&str>, flags: &[Flag<'_>], without: &[&str]) -> String {
        // `--max-rate` bounds closed loops only.
        let is_open = flags.iter().any(|(name, _)| *name == "-r");
        let without = |name: &str| without.contains(&name) || is_open && name == "--max-rate";
        let program = self.through.as_deref().unwrap_or("torr");
        self.command(program, url, flags, &without, &[])
    }

    /// Returns `torr doctor URL` with these flags.
    pub fn doctor(&self, flags: &[Flag<'_>]) -> String {
        self.command("torr doctor", self.url.as_deref(), flags, &|_| false, &self.doctor)
    }

    /// `torr doctor` for another URL, or for none, with these flags.
    pub fn doctor_at(&self, url: Option<&str>, flags: &[Flag<'_>]) -> String {
        self.command("torr doctor", url, flags, &|_| false, &self.doctor)
    }

    /// Returns what to do before a printed command can be run. `None` if there is nothing to do.
    pub fn before_running(&self) -> Option<Advice> {
        if let Some(command) = &self.first {
            return Some(Advice::StartServer { command: command.clone() });
        }
        let variables = self.variables.clone();
        (!variables.is_empty()).then_some(Advice::ExportSecrets { variables })
    }

    fn command(
        &self,
        program: &str,
        url: Option<&str>,
        flags: &[Flag<'_>],
        without: &dyn Fn(&str) -> bool,
        own: &[(String, Option<String>)],
    ) -> String {
        let mut command = program.to_owned();
        let mut word = |word: &str| {
            // Writing to a string does not fail.
            let _ = write!(command, " {word}");
        };
        url.into_iter().for_each(|url| word(&UrlWord::of(url).word));
        self.request.iter().chain(&self.streams).for_each(|given| word(given));
        let is_replaced = |name: &str| flags.iter().any(|(flag, _)| *flag == name);
        for (name, value) in self.load.iter().chain(own).filter(|(name, _)| !without(name) && !is_replaced(name)) {
            word(name);
            value.iter().for_each(|value| word(value));
        }
        for (name, value) in flags {
            word(name);
            word(&UrlWord::of(&self.value(name, &value.to_string())).word);
        }
        command
    }

    /// Returns the value of a flag: a rate of requests is one of sessions where these are loaded.
    fn value(&self, name: &str, value: &str) -> String {
        match value.parse::<f64>() {
            Ok(rate) if name == "-r" && self.requests_each > 1 => {
                let sessions = rate / self.requests_each as f64;
                if sessions >= 10.0 { format!("{:.0}", sessions.floor()) } else { format!("{sessions:.2}") }
            }
            _ => value.to_owned(),
        }
    }
}

/// A URL as a word of a shell, in which variables stand for secrets.
#[derive(Debug, PartialEq, Eq)]
pub struct UrlWord {
    /// The word.
    pub word: String,
    /// The variables, each with what it stands for.
    pub variables: Vec<(String, String)>,
}

impl UrlWord {
    /// Returns the word of a URL without user and password. Parameters of the same name have variables with numbers.
    pub fn of(url: &str) -> Self {
        let is_open = |text: &str| redact::url(text) == text;
        if is_open(url) {
            return Self { word: quoted(url), variables: Vec::new() };
        }
        let (front, query) = url.split_once('?').unwrap_or((url, ""));
        let (mut word, mut variables) = (format!("{}?", in_quotes(front)), Vec::<(String, String)>::new());
        let mut left = format!("{front}?");
        for part in query.split_inclusive(['&', '#']) {
            let (body, end) = part.split_at(part.trim_end_matches(['&', '#']).len());
            match body.split_once('=').filter(|_| !is_open(&format!("http://host/?{body}"))) {
                Some((name, _)) => {
                    let variable = variable(name, &variables);
                    word.push_str(&format!("{}=${variable}{end}", in_quotes(name)));
                    left.push_str(end);
                    variables.push((variable, format!("the parameter {name} of the URL")));
                }
                None => {
                    word.push_str(&in_quotes(part));
                    left.push_str(part);
                }
            }
        }
        match is_open(&left) {
            true => Self { word: format!("\"{word}\""), variables },
            // The secret is no parameter's value.
            false => Self {
                word: "\"$TORR_URL\"".to_owned(),
                variables: vec![("TORR_URL".to_owned(), "the URL".to_owned())],
            },
        }
    }
}

/// Returns the name of the variable of a parameter, which none of the `known` ones has.
fn variable(parameter: &str, known: &[(String, String)]) -> String {
    let of_name = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    let name: String = "TORR_URL_".chars().chain(parameter.chars().map(of_name)).collect();
    let numbered = (1..).map(|number| if number == 1 { name.clone() } else { format!("{name}_{number}") });
    let is_new = |name: &String| known.iter().all(|(known, _)| known != name);
    numbered.into_iter().find(is_new).unwrap_or_default()
}

/// Returns a text as it stands within double quotes of a shell.
fn in_quotes(text: &str) -> String {
    let escaped = |c: char| match c {
        '"' | '\\' | '$' | '`' => format!("\\{c}"),
        // Of an interactive shell it is the history.
        '!' => "\"'!'\"".to_owned(),
        _ => c.to_string(),
    };
    text.chars().map(escaped).collect()
}

/// A text as a shell takes it for one word.
pub fn quoted(text: &str) -> String {
    // Only a NUL cannot be quoted, and no argument of a program has one.
    shlex::try_quote(text).map_or_else(|_| "''".to_owned(), std::borrow::Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given() -> Invocation {
        Invocation {
            url: Some("https://h:1/a?b=c d".into()),
            request: vec!["-k".into(), "-H".into(), "'a: b'".into()],
            streams: vec!["--streams".into(), "4".into()],
            load: vec![
                ("-t".into(), Some("2".into())),
                ("--no-keepalive".into(), None),
                ("--max-rate".into(), Some("50".into())),
            ],
            doctor: vec![("--budget".into(), Some("9s".into())), ("--i-own-this".into(), None)],
            ..Invocation::default()
        }
    }

    #[test]
    fn a_rate_of_requests_becomes_one_of_sessions_where_these_are_loaded() {
        let url = || Some("shop.hurl".to_owned());
        let press = |requests_each, rate: f64| {
            Invocation { url: url(), requests_each, ..Invocation::default() }.press(&[("-r", &rate), ("-c", &10)])
        };
        assert_eq!(press(1, 500.0), "torr shop.hurl -r 500 -c 10");
        assert_eq!(press(5, 500.0), "torr shop.hurl -r 100 -c 10");
        assert_eq!(press(5, 7.0), "torr shop.hurl -r 1.40 -c 10");
    }

    #[test]
    fn all_that_was_given_is_given_again() {
        let given = given();
        assert_eq!(
            given.press(&[("-c", &8)]),
            "torr 'https://h:1/a?b=c d' -k -H 'a: b' --streams 4 -t 2 --no-keepalive --max-rate 50 -c 8"
        );
        assert_eq!(
            given.press(&[("-t", &3), ("-r", &100), ("--fail-if", &"errors>0")]),
            "torr 'https://h:1/a?b=c d' -k -H 'a: b' --streams 4 --no-keepalive -t 3 -r 100 --fail-if 'errors>0'"
        );
        assert!(!given.press_kept_alive(&[]).contains("--no-keepalive"));
        assert_eq!(
            given.press_once_each("https://h:2/", &[("-c", &8)]),
            "torr https://h:2/ -k -H 'a: b' -t 2 --max-rate 50 -c 8 --no-keepalive"
        );
        assert!(given.doctor(&[("-c", &8)]).ends_with("--max-rate 50 --budget 9s --i-own-this -c 8"));
        assert!(given.doctor_at(None, &[("--budget", &"20s")]).ends_with("--max-rate 50 --i-own-this --budget 20s"));
    }

    #[test]
    fn a_service_that_has_ended_is_started_first() {
        let demo = Invocation { first: Some("torr serve --workers 2".into()), ..given() };
        assert_eq!(demo.before_running(), Some(Advice::StartServer { command: "torr serve --workers 2".into() }));
    }

    #[test]
    fn secrets_are_requested() {
        assert_eq!(given().before_running(), None);
        let secret = Invocation { variables: vec![("TORR_USER".into(), "--user".into())], ..given() };
        let variables = secret.variables.clone();
        assert_eq!(secret.before_running(), Some(Advice::ExportSecrets { variables }));
    }

    #[test]
    fn variables_stand_for_the_secrets_of_a_url() {
        for (url, word, variables) in [
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
            ("http://h/?to=http://u:p@k", "\"http://h/?to=$TORR_URL_TO\"", &["TORR_URL_TO"]),
            ("http://h/http://u:p@k?a=b", "\"$TORR_URL\"", &["TORR_URL"]),
        ] {
            let of = UrlWord::of(url);
            let names: Vec<_> = of.variables.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!((of.word.as_str(), names.as_slice()), (word, variables), "{url}");
        }
        let via = given().doctor_at(Some("http://h/"), &[("--via", &"http://p/?token=x")]);
        assert!(via.ends_with("--via \"http://p/?token=$TORR_URL_TOKEN\""), "{via}");
    }
}
