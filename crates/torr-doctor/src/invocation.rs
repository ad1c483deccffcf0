//! The commands that a report prints. Each is built from the user's command line, so that it can be run unchanged and sends the
//! user's requests.

use crate::secret_variables::SecretVariables;
use std::cell::RefCell;
use std::fmt::Write;
use torr_gauge::verdict::Advice;
use torr_press::Target;

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
    /// The shell variables that stand for secrets. A printed command adds those of its own values, so that
    /// the advice to set variables names those that were printed.
    pub variables: RefCell<SecretVariables>,
}

/// The flag of [`Invocation::streams`], however the user has written it.
const STREAMS: &str = "--streams";

/// A flag of a command with its value.
pub type Flag<'f> = (&'f str, &'f dyn std::fmt::Display);

impl Invocation {
    /// Returns `torr URL` with these flags, which replace the user's.
    pub fn press(&self, flags: &[Flag<'_>]) -> String {
        self.press_at(self.own_url(), flags, &[])
    }

    /// Returns `torr URL` with these flags and keep-alive, even if the user's command has none.
    pub fn press_kept_alive(&self, flags: &[Flag<'_>]) -> String {
        self.press_at(self.own_url(), flags, &["--no-keepalive"])
    }

    /// Returns `torr URL` for a URL of the service, the user's or that of `flag`, with a connection for each request.
    pub fn press_once_each(&self, flag: &str, url: &str, flags: &[Flag<'_>]) -> String {
        self.press_at(Some(self.url_of(flag, url)), flags, &["--no-keepalive", STREAMS]) + " --no-keepalive"
    }

    /// Returns `torr URL` for another URL of the service, which the user has given with `flag`.
    pub fn press_other(&self, flag: &str, url: &str, flags: &[Flag<'_>]) -> String {
        self.press_at(Some(self.url_of(flag, url)), flags, &[])
    }

    /// Returns the user's URL as a word.
    fn own_url(&self) -> Option<String> {
        self.url.as_ref().map(|url| self.variables.borrow_mut().url(url))
    }

    /// Returns a URL that `flag` gave, as a word.
    fn url_of(&self, flag: &str, url: &str) -> String {
        self.variables.borrow_mut().url_of(flag, url)
    }

    fn press_at(&self, url: Option<String>, flags: &[Flag<'_>], without: &[&str]) -> String {
        // `--max-rate` bounds closed loops only.
        let is_open = flags.iter().any(|(name, _)| *name == "-r");
        let without = |name: &str| without.contains(&name) || is_open && name == "--max-rate";
        let program = self.through.as_deref().unwrap_or("torr");
        self.command(program, url, flags, &without, &[])
    }

    /// Returns `torr doctor URL` with these flags.
    pub fn doctor(&self, flags: &[Flag<'_>]) -> String {
        self.command("torr doctor", self.own_url(), flags, &|_| false, &self.doctor)
    }

    /// Returns `torr doctor` for the user's URL at another address, with these flags.
    pub fn doctor_at(&self, url: &str, flags: &[Flag<'_>]) -> String {
        let url = self.variables.borrow_mut().url(url);
        self.command("torr doctor", Some(url), flags, &|_| false, &self.doctor)
    }

    /// Returns the user's URL at another address, over plain HTTP. `None` without a URL.
    pub fn url_at(&self, address: &str) -> Option<String> {
        // The name of a file can look like a host.
        let url = self.url.as_deref().filter(|url| url.contains("://"))?;
        Target::parse_any(url).ok().map(|target| target.plain_at(address))
    }

    /// Returns what to do before the printed commands can be run. Call it last: a command adds its variables when it is
    /// printed.
    pub fn before_running(&self) -> Vec<Advice> {
        let variables = self.variables.borrow().meanings();
        let export = (!variables.is_empty()).then_some(Advice::ExportSecrets { variables });
        let start = self.first.clone().map(|command| Advice::StartServer { command });
        export.into_iter().chain(start).collect()
    }

    fn command(
        &self,
        program: &str,
        url: Option<String>,
        flags: &[Flag<'_>],
        without: &dyn Fn(&str) -> bool,
        own: &[(String, Option<String>)],
    ) -> String {
        let mut command = program.to_owned();
        let mut word = |word: &str| {
            // Writing to a string does not fail.
            let _ = write!(command, " {word}");
        };
        url.iter().for_each(|url| word(url));
        self.request.iter().for_each(|given| word(given));
        if !without(STREAMS) {
            self.streams.iter().for_each(|given| word(given));
        }
        let is_replaced = |name: &str| flags.iter().any(|(flag, _)| *flag == name);
        for (name, value) in self.load.iter().chain(own).filter(|(name, _)| !without(name) && !is_replaced(name)) {
            word(name);
            value.iter().for_each(|value| word(value));
        }
        for (name, value) in flags {
            word(name);
            word(&self.variables.borrow_mut().value(name, &self.value(name, &value.to_string())));
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
            given.press_once_each("--tls", "https://h:2/", &[("-c", &8)]),
            "torr https://h:2/ -k -H 'a: b' -t 2 --max-rate 50 -c 8 --no-keepalive"
        );
        assert!(given.doctor(&[("-c", &8)]).ends_with("--max-rate 50 --budget 9s --i-own-this -c 8"));
        assert!(given.doctor(&[("--budget", &"20s")]).ends_with("--max-rate 50 --i-own-this --budget 20s"));
    }

    #[test]
    fn a_service_that_has_ended_is_started_first() {
        let demo = Invocation { first: Some("torr serve --workers 2".into()), ..given() };
        assert_eq!(demo.before_running(), [Advice::StartServer { command: "torr serve --workers 2".into() }]);
    }

    #[test]
    fn secrets_are_requested() {
        assert_eq!(given().before_running(), []);
        let secret = given();
        let via = secret.doctor_at("http://h/", &[("--via", &"http://p/?token=x")]);
        assert!(via.ends_with("--via \"http://p/?token=$TORR_URL_TOKEN\""), "{via}");
        let paths = secret.press_other("--paths", "http://h/b?token=y", &[]);
        assert!(paths.starts_with("torr \"http://h/b?token=$TORR_URL_TOKEN_2\""), "{paths}");
        let each = secret.press_once_each("--tls", "https://u:p@h/", &[]);
        assert!(each.starts_with("torr \"https://$TORR_URL_USER@h/\""), "{each}");
        let variables = [
            ("TORR_URL_TOKEN", "the parameter token of --via"),
            ("TORR_URL_TOKEN_2", "the parameter token of --paths"),
            ("TORR_URL_USER", "user and password of --tls"),
        ];
        let variables = variables.map(|(name, meaning)| (name.to_owned(), meaning.to_owned())).to_vec();
        assert_eq!(secret.before_running(), [Advice::ExportSecrets { variables }]);
    }

    #[test]
    fn the_url_at_another_address_has_the_user_and_the_path() {
        let at = |url: &str| Invocation { url: Some(url.into()), ..Invocation::default() }.url_at("127.0.0.1:9");
        assert_eq!(at("https://u:p@h:1/a?b=@").as_deref(), Some("http://u:p@127.0.0.1:9/a?b=@"));
        assert_eq!(at("http://h").as_deref(), Some("http://127.0.0.1:9"));
        assert_eq!(at("http://h?q=1").as_deref(), Some("http://127.0.0.1:9?q=1"));
        assert_eq!(at("shop.hurl"), None);
    }
}
