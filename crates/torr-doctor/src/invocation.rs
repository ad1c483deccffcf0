//! The commands that a report prints. Each is built from the user's command line, so that it can be run unchanged and sends the
//! user's requests.

use crate::secret_variables::SecretVariables;
use std::fmt::Write;
use torr_gauge::verdict::Advice;

/// The parts of the user's command line that other commands need. All texts except URLs are quoted for a shell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Invocation {
    /// The command that starts the service, where the service has ended with the command that examined it.
    pub first: Option<String>,
    /// What `torr URL` becomes where others load for it, such as `torr fleet run --`.
    pub through: Option<String>,
    /// The URL with user and password; `None` if flags of the request have it. Commands have variables for its secrets.
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
    /// The shell variables that stand for secrets.
    pub variables: SecretVariables,
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

    /// Returns the user's URL at another address, over plain HTTP. `None` without a URL.
    pub fn url_at(&self, address: &str) -> Option<String> {
        let (_, rest) = self.url.as_deref()?.split_once("://")?;
        let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let user = authority.rfind('@').map_or("", |at| &authority[..=at]);
        Some(format!("http://{user}{address}{path}"))
    }

    /// Takes variables for the secrets of a value that commands may have, so that these are known before a command is printed.
    pub fn note_secrets(&mut self, flag: &str, value: &str) {
        self.variables.value(flag, value);
    }

    /// Returns what to do before a printed command can be run.
    pub fn before_running(&self) -> Vec<Advice> {
        let variables = self.variables.meanings();
        let export = (!variables.is_empty()).then_some(Advice::ExportSecrets { variables });
        let start = self.first.clone().map(|command| Advice::StartServer { command });
        export.into_iter().chain(start).collect()
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
        let mut variables = self.variables.clone();
        url.into_iter().for_each(|url| word(&variables.url(url)));
        self.request.iter().chain(&self.streams).for_each(|given| word(given));
        let is_replaced = |name: &str| flags.iter().any(|(flag, _)| *flag == name);
        for (name, value) in self.load.iter().chain(own).filter(|(name, _)| !without(name) && !is_replaced(name)) {
            word(name);
            value.iter().for_each(|value| word(value));
        }
        for (name, value) in flags {
            word(name);
            word(&variables.value(name, &self.value(name, &value.to_string())));
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
        assert_eq!(demo.before_running(), [Advice::StartServer { command: "torr serve --workers 2".into() }]);
    }

    #[test]
    fn secrets_are_requested() {
        assert_eq!(given().before_running(), []);
        let mut secret = given();
        secret.note_secrets("--via", "http://p/?token=x");
        let variables = vec![("TORR_URL_TOKEN".to_owned(), "the parameter token of --via".to_owned())];
        assert_eq!(secret.before_running(), [Advice::ExportSecrets { variables }]);
        let via = secret.doctor_at(Some("http://h/"), &[("--via", &"http://p/?token=x")]);
        assert!(via.ends_with("--via \"http://p/?token=$TORR_URL_TOKEN\""), "{via}");
    }

    #[test]
    fn the_url_at_another_address_has_the_user_and_the_path() {
        let at = |url: &str| Invocation { url: Some(url.into()), ..Invocation::default() }.url_at("127.0.0.1:9");
        assert_eq!(at("https://u:p@h:1/a?b=@").as_deref(), Some("http://u:p@127.0.0.1:9/a?b=@"));
        assert_eq!(at("http://h").as_deref(), Some("http://127.0.0.1:9"));
        assert_eq!(at("shop.hurl"), None);
    }
}
