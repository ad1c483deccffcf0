//! `--help` on two screens, and `--help-all`.

use super::grammar::Cli;
use crate::exit;
use clap::builder::StyledStr;
use clap::{Arg, ArgAction, ArgMatches, Command, CommandFactory, Error};
use std::ffi::OsString;
use std::sync::LazyLock;
use torr_fronts::Front;
use torr_load::{SETTINGS, find};

/// Flags of help itself.
const OWN: [&str; 3] = ["help", "help_all", "version"];
/// The flag that shows everything.
const ALL: &str = "--help-all";

/// A command of which `--help` shows a part.
struct Brief {
    /// The command's name; that of the program is empty.
    command: &'static str,
    /// The flags that are shown, each with its meaning within one line; a setting of a load without one has that of its row. That of
    /// the program shows all settings that have such a line.
    flags: &'static [(&'static str, &'static str)],
    /// The commands that are shown with their meaning; the others are only named.
    commands: &'static [(&'static str, &'static str)],
    /// What stands below.
    below: &'static str,
}

const BRIEFS: &[Brief] = &[
    Brief {
        command: "",
        flags: &[],
        commands: &[
            ("serve", "Run the demo application: a server worth pressing"),
            ("doctor", "Name the one factor that limits a service, with proof"),
            ("limit", "Find the most that a service sustains"),
            ("compare", "Tell what differs between two versions, and what not"),
            ("report", "Make one HTML page of results"),
            ("demo", "Press the demo application, and diagnose it"),
            ("watch", "Offer what a server's machine shows to torr elsewhere"),
            ("check", "Say what is wrong with hurl files, scripts, plans"),
            ("once", "Run a URL or a file once, everything shown"),
            ("import", "Turn curl, HAR, OpenAPI, Postman ... into hurl files"),
        ],
        below: "\
Examples:
  torr http://127.0.0.1:8080/          10 s, 100 connections, then a verdict
  torr URL -r 5000 --fail-if 'p99>50ms'  an open loop, exit code 1 if too slow
  torr a.hurl=7 b.hurl=1 -c 50         virtual users, by weights

Exit codes: 0 done, 1 a check, threshold or output failed or no response, 2 bad
usage, 3 not reached, 4 cannot tell, 130 interrupted (the report is printed)",
    },
    Brief {
        command: "limit",
        flags: &[
            ("url", "A URL, or a.hurl, script.lua, plan.toml"),
            ("slo", "What to keep to [default: p99<50ms,errors<0.1%]"),
            ("budget", "How long all of it may take [default: 60s]"),
            ("max_rate", "Never more requests per second than this"),
            ("max_connections", "Never more connections than this [default: 512]"),
            ("arrivals", "poisson: at random; constant: evenly [poisson]"),
            ("threads", "Threads [default: one per CPU]"),
            ("no_keepalive", "Open a connection for each request"),
            ("i_own_this", "Press a service outside private networks"),
            ("json", "Write the outcome as JSON"),
            ("report", "Write a report as one HTML page"),
            ("quiet", "No progress line"),
            ("header", ""),
            ("request", ""),
            ("data", ""),
            ("insecure", ""),
        ],
        commands: &[],
        below: "",
    },
    Brief {
        command: "doctor",
        flags: &[
            ("url", "A URL, or a.hurl, script.lua, plan.toml"),
            ("connections", "Connections that the service is meant to stand [100]"),
            ("budget", "How long all experiments may take [default: 60s]"),
            ("max_rate", "Never more requests per second than this"),
            ("max_connections", "Never more connections than this [twice -c]"),
            ("no_keepalive", "The clients open a connection for each request"),
            ("i_own_this", "Examine a service outside private networks"),
            ("watch", "Where the server's machine has a 'torr watch'"),
            ("watch_token", "The token that it wants"),
            ("json", "Write the diagnosis as JSON"),
            ("report", "Write a report as one HTML page"),
            ("quiet", "No progress on stderr"),
            ("header", ""),
            ("request", ""),
            ("data", ""),
            ("insecure", ""),
            ("sweep", "Instead: ever more workers, and the number to take"),
            ("command", "The command that starts them"),
            ("via", "Instead: what this proxy before URL costs"),
            ("tls", "Instead: what TLS costs"),
            ("paths", "Instead: paths of the same server, compared"),
        ],
        commands: &[],
        below: "",
    },
    Brief {
        command: "compare",
        flags: &[
            ("versions", "A and B: URLs, results of --json, or directories of them"),
            ("a", "The command that starts A, with --url; or its results"),
            ("b", "The command that starts B; or its results"),
            ("served_at", "Where both listen; '{port}' is a free port"),
            ("budget", "How long all of it may take [default: 60s]"),
            ("fail_if", "Exit with 1 if so, such as 'cpu>+2%,throughput<-3%'"),
            ("difference", "The difference that counts otherwise [default: 2%]"),
            ("rate", "The rate of all turns [60% of the smaller limit]"),
            ("max_rate", "Never more requests per second than this"),
            ("connections", "Connections [default: 64]"),
            ("no_keepalive", "Open a connection for each request"),
            ("i_own_this", "Load services outside private networks"),
            ("json", "Write the comparison as JSON"),
            ("report", "Write a report as one HTML page"),
            ("markdown", "Write Markdown, for a pull request"),
            ("summary", "Append Markdown, such as to $GITHUB_STEP_SUMMARY"),
            ("junit", "Write the rules as JUnit XML"),
            ("quiet", "No progress on stderr"),
            ("header", ""),
            ("insecure", ""),
        ],
        commands: &[],
        below: "",
    },
    Brief {
        command: "once",
        flags: &[
            ("target", "A URL, a.hurl, script.lua, plan.toml"),
            ("script", "A Lua script that says what is sent to the URL"),
            ("variable", "Set a variable"),
            ("variables-file", "Read variables from lines NAME=VALUE"),
            ("secret", "Set a variable whose value no output shows"),
            ("timeout", "Time for a whole response [default: 10s]"),
            ("insecure", ""),
            ("cacert", "Trust the certificates in this PEM file"),
            ("http2", "HTTP/2, agreed on in the TLS handshake"),
            ("proxy", "Go through an HTTP proxy, by CONNECT"),
            ("resolve", "The address of a host and port"),
        ],
        commands: &[],
        below: "",
    },
    Brief {
        command: "serve",
        flags: &[
            ("config", "Read settings from this TOML file"),
            ("print_config", "Print all settings with their sources"),
            ("listen", "Address and port [default: 127.0.0.1:8080]"),
            ("workers", "Worker threads [default: one per CPU]"),
            ("processes", "Worker processes; 0: within this one [default: 0]"),
            ("max_connections", "Most connections at a time [default: 100000]"),
            ("max_body", "Most bytes of a request's body [default: 1048576]"),
            ("idle_timeout", "Time without a request [default: 1m 15s]"),
            ("stop_timeout", "Time for requests in flight at the end [30s]"),
            ("tls_cert", "Serve TLS with this certificate chain (PEM)"),
            ("tls_key", "The key of the certificate (PEM)"),
            ("trusted_proxies", "Proxies whose forwarded fields are trusted"),
            ("access_log", "File of the access log; - for standard output"),
            ("log_level", "off, error, warn, info, debug or trace [info]"),
            ("database", "sqlite:FILE, mysql://... or postgres://..."),
            ("cache", "memory, or redis://... [default: memory]"),
        ],
        commands: &[],
        below: "\
Every setting stands in the file of --config, as max_head, in the environment,
as TORR_SERVE_MAX_HEAD, or is a flag, --max-head; the last is the strongest.",
    },
];

/// The grammar of the command line with [`ALL`], which is made once.
static GRAMMAR: LazyLock<Command> = LazyLock::new(|| {
    let all = || {
        Arg::new("help_all")
            .long("help-all")
            .action(ArgAction::SetTrue)
            .help_heading(None::<&str>)
            .help("Show all flags and commands")
    };
    let brief = |name: &str| BRIEFS.iter().any(|brief| brief.command == name);
    Cli::command().arg(all()).mut_subcommands(|command| match brief(command.get_name()) {
        true => command.arg(all()),
        false => command,
    })
});

/// Returns the grammar of the command line.
pub fn grammar() -> &'static Command {
    &GRAMMAR
}

/// Parses a command line. If help is requested, the error is that help: two screens of it, or everything.
pub fn parse(args: &[OsString]) -> Result<ArgMatches, Error> {
    let front = args.get(1).and_then(|word| word.to_str()).is_some_and(Front::is_called);
    let is_all = |word: &OsString| word == ALL;
    let before_dashes = args.iter().take_while(|word| *word != "--");
    if !front && before_dashes.clone().any(is_all) {
        let args = args.iter().map(|word| if is_all(word) { OsString::from("--help") } else { word.clone() });
        return grammar().clone().try_get_matches_from(args);
    }
    match grammar().clone().try_get_matches_from(args) {
        Err(error) if exit::is_help(&error) => brief().try_get_matches_from(args),
        parsed => parsed,
    }
}

/// Returns the command line that shows all flags of the command of these words, the first of which is the program's name.
pub fn of_words(words: &[OsString]) -> String {
    let (mut command, mut names) = (grammar(), vec!["torr"]);
    for word in words.iter().skip(1) {
        let Some(one) = command.find_subcommand(word) else { break };
        names.push(one.get_name());
        command = one;
    }
    let has_brief = command.get_arguments().any(|arg| arg.get_id() == "help_all");
    names.push(if has_brief { ALL } else { "--help" });
    names.join(" ")
}

/// Returns the grammar with the help of two screens.
fn brief() -> Command {
    let shortened = |command: Command| match BRIEFS.iter().find(|brief| brief.command == command.get_name()) {
        Some(brief) => shorten(command, brief),
        None => command,
    };
    let command = grammar().clone().mut_subcommands(shortened);
    match BRIEFS.iter().find(|brief| brief.command.is_empty()) {
        Some(brief) => shorten(command, brief),
        None => command,
    }
}

impl Brief {
    /// Returns the meaning of a flag that is shown, and its position among those.
    fn line(&self, id: &str) -> Option<(usize, &'static str)> {
        if self.command.is_empty() {
            let at = SETTINGS.iter().position(|setting| setting.name == id)?;
            return Some((at, SETTINGS[at].brief?));
        }
        let at = self.flags.iter().position(|(shown, _)| *shown == id)?;
        let line = Some(self.flags[at].1).filter(|line| !line.is_empty());
        Some((at, line.or_else(|| find(id)?.brief)?))
    }
}

fn shorten(command: Command, brief: &Brief) -> Command {
    let command = command.mut_args(|arg| {
        let id = arg.get_id().as_str().to_owned();
        match brief.line(&id) {
            Some((at, line)) => {
                let arg = arg.help(line).help_heading(None::<&str>).display_order(at);
                let takes_values = arg.get_action().takes_values();
                if takes_values { arg.hide_default_value(true).hide_possible_values(true) } else { arg }
            }
            None if arg.is_positional() || OWN.contains(&id.as_str()) => arg,
            None => arg.hide(true),
        }
    });
    let named: Vec<_> = command.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    let is_shown = |name: &str| brief.commands.iter().find(|(shown, _)| *shown == name);
    let others: Vec<_> = named.iter().filter(|name| is_shown(name).is_none() && *name != "help").cloned().collect();
    let command = command.mut_subcommands(|command| match is_shown(command.get_name()) {
        Some((_, about)) => command.about(*about),
        None => command.hide(true),
    });
    let more = match others.is_empty() {
        true => format!("{ALL} shows all flags."),
        false => format!(
            "More commands: {}.\n{ALL} shows everything, 'torr help COMMAND' a command's flags.",
            others.join(", ")
        ),
    };
    let existing = command.get_after_help().map(StyledStr::to_string).unwrap_or_default();
    let below = if brief.below.is_empty() { existing.as_str() } else { brief.below };
    let below = if below.is_empty() { more } else { format!("{more}\n\n{below}") };
    command.after_help(below)
}
