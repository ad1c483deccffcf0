//! The lines of `--help`, which shows a part of each command on one screen.

use torr_load::{SETTINGS, find};

/// The usage of the program.
pub const USAGE: &str = "\
torr TARGET [FLAGS]       TARGET: a URL, a.hurl, a.lua, a.js, plan.toml
       torr COMMAND [FLAGS]";

/// One example for each need.
pub const EXAMPLES: &str = "\
Examples:
  torr http://localhost:8080/            load it for 10 s, name what limits it
  torr URL -r 5000 --fail-if 'p99>50ms'  fail a build if responses are slow
  torr URL -H 'X: y' --data @order.json  send a POST with a header field
  torr checkout.hurl -c 50 -d 5m         run the sessions of 50 virtual users
  torr limit URL --slo 'p99<50ms'        find the highest rate within a goal
  torr doctor URL                        find what limits it, by experiments";

/// The commands that have a line in the help of the program: their own where that fits, or this one.
pub const COMMANDS: &[(&str, Option<&str>)] = &[
    ("serve", None),
    ("doctor", Some("Find the one factor that limits a service, by experiments")),
    ("limit", Some("Find the highest rate that a service sustains")),
    ("compare", None),
    ("report", Some("Write one HTML page of results")),
    ("demo", Some("Load the demo application and diagnose it")),
    ("once", None),
];

/// A command of which `--help` shows a part.
pub struct Brief {
    /// The command's name.
    pub command: &'static str,
    /// The flags that are shown, each with its meaning within one line; a setting of a load without one has that of its
    /// row.
    pub flags: &'static [(&'static str, &'static str)],
}

impl Brief {
    /// Returns the meaning of a flag that is shown, and its position among those.
    pub fn line(&self, id: &str) -> Option<(usize, &'static str)> {
        let at = self.flags.iter().position(|(shown, _)| *shown == id)?;
        let line = Some(self.flags[at].1).filter(|line| !line.is_empty());
        Some((at, line.or_else(|| find(id)?.brief)?))
    }
}

/// Returns the meaning of a setting that the help of the program shows, and its position among the settings.
pub fn line_of_setting(id: &str) -> Option<(usize, &'static str)> {
    let at = SETTINGS.iter().position(|setting| setting.name == id)?;
    Some((at, SETTINGS[at].brief?))
}

/// The commands whose whole help does not fit a screen.
pub const BRIEFS: &[Brief] = &[
    Brief {
        command: "limit",
        flags: &[
            ("url", "A URL, or a.hurl, script.lua, script.js, plan.toml"),
            ("slo", "Meet these objectives"),
            ("budget", "Finish within this time"),
            ("max_rate", "Limit the request rate"),
            ("max_connections", "Limit the connections"),
            ("arrivals", "Spread requests randomly, evenly, or as a log"),
            ("threads", "Use this many threads"),
            ("no_keepalive", "Open a connection for each request"),
            ("i_own_this", "Allow a target outside private networks"),
            ("json", "Write the result as JSON"),
            ("report", "Write a report as one HTML page"),
            ("dashboard", "Show the progress in browsers"),
            ("quiet", "Do not show the progress line"),
            ("header", ""),
            ("request", ""),
            ("data", ""),
            ("insecure", ""),
        ],
    },
    Brief {
        command: "doctor",
        flags: &[
            ("url", "A URL, or a.hurl, script.lua, script.js, plan.toml"),
            ("connections", "Diagnose at N connections"),
            ("budget", "Finish within this time"),
            ("max_rate", "Limit the request rate"),
            ("max_connections", "Limit the connections"),
            ("no_keepalive", "Open a connection for each request"),
            ("i_own_this", "Allow a target outside private networks"),
            ("watch", "Address of 'torr watch' on the server's machine"),
            ("watch_token", "Send this token to 'torr watch'"),
            ("json", "Write the diagnosis as JSON"),
            ("report", "Write a report as one HTML page"),
            ("dashboard", "Show the progress in browsers"),
            ("quiet", "Do not show progress"),
            ("header", ""),
            ("request", ""),
            ("data", ""),
            ("insecure", ""),
            ("sweep", "Compare numbers of workers and recommend one"),
            ("command", "Start the server of --sweep with this command"),
            ("via", "Measure what this proxy in front of URL costs"),
            ("tls", "Measure what TLS costs"),
            ("paths", "Compare these paths of the server"),
        ],
    },
    Brief {
        command: "compare",
        flags: &[
            ("versions", "A and B: URLs, or results of --json"),
            ("a", "Start A with this command; or its results"),
            ("b", "Start B with this command; or its results"),
            ("served_at", "Load this URL; '{port}' is a free port"),
            ("budget", "Finish within this time"),
            ("fail_if", "Exit with code 1 if 'cpu>+2%,throughput<-3%'"),
            ("difference", "Smallest relative difference to report"),
            ("rate", "Use this rate"),
            ("max_rate", "Limit the request rate"),
            ("connections", "Keep this many connections open"),
            ("no_keepalive", "Open a connection for each request"),
            ("i_own_this", "Allow targets outside private networks"),
            ("json", "Write the comparison as JSON"),
            ("report", "Write a report as one HTML page"),
            ("markdown", "Write Markdown, for a pull request"),
            ("summary", "Append Markdown, as to $GITHUB_STEP_SUMMARY"),
            ("junit", "Write the rules as JUnit XML"),
            ("quiet", "Do not show progress"),
            ("header", ""),
            ("insecure", ""),
        ],
    },
    Brief {
        command: "once",
        flags: &[
            ("target", "A URL, or a.hurl, script.lua, script.js, plan.toml"),
            ("script", "Generate the requests to URL with this Lua script"),
            ("variable", "Set a variable"),
            ("variables-file", "Read variables from this file, one NAME=VALUE per line"),
            ("secret", "Set a variable whose value is hidden in all output"),
            ("timeout", "Fail a request that takes longer"),
            ("header", ""),
            ("request", ""),
            ("data", ""),
            ("insecure", ""),
            ("cacert", "Trust the certificates in this PEM file"),
            ("http2", "Use HTTP/2, negotiated in the TLS handshake (ALPN)"),
            ("proxy", "Connect through this HTTP proxy with CONNECT"),
        ],
    },
    Brief {
        command: "replay",
        flags: &[
            ("logs", "Access logs, also compressed; '-' is standard input"),
            ("target", "Send the requests to this service"),
            ("speed", "Let the log's time pass this many times faster"),
            ("from", "Begin at this time of the log, such as 10:00"),
            ("to", "End before this time of the log"),
            ("pattern", "Read lines of this log_format of nginx"),
            ("methods", "Send requests with these methods"),
            ("hosts", "Send requests for this host as well; '*' is any"),
            ("connections", "Open at most N connections [default: 100]"),
            ("duration", "End after this long [default: with the log]"),
            ("header", ""),
            ("insecure", ""),
            ("json", ""),
            ("report", ""),
            ("fail-if", ""),
        ],
    },
    Brief {
        command: "serve",
        flags: &[
            ("config", "Read settings from this TOML file"),
            ("print_config", "Print all settings with their sources"),
            ("listen", "Listen on this address"),
            ("workers", "Use N worker threads"),
            ("processes", "Start worker processes; 0 for none"),
            ("max_connections", "Limit the connections"),
            ("max_body", "Limit a request's body"),
            ("idle_timeout", "Limit the idle time"),
            ("stop_timeout", "Limit a graceful stop"),
            ("tls_cert", "Serve TLS with this certificate chain (PEM)"),
            ("tls_key", "Read the key of the certificate (PEM)"),
            ("trusted_proxies", "Trust these proxies' fields"),
            ("access_log", "Write an access log; - for standard output"),
            ("log_level", "Log error, warn, info, debug, trace"),
            ("database", "Use sqlite:FILE, mysql://... or postgres://..."),
            ("cache", "Use memory, or redis://..."),
        ],
    },
];
