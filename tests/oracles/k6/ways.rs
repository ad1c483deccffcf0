//! The ways in which scripts are started beside the usual one.

/// A way to start a script.
#[derive(Debug, Default, Clone, Copy)]
pub struct Way {
    /// Flags before the script.
    pub flags: &'static [&'static str],
    /// Variables of the environment.
    pub variables: &'static [(&'static str, &'static str)],
    /// Whether the script comes from standard input.
    pub is_from_input: bool,
    /// The targets of requests that an interruption follows each, in their order.
    pub interrupted_at: &'static [&'static str],
}

/// The usual way.
const USUAL: Way = Way { flags: &[], variables: &[], is_from_input: false, interrupted_at: &[] };

/// A script with a fault of its own.
const fn faulty(flags: &'static [&'static str]) -> (&'static str, &'static str, Way) {
    ("lifecycle_typed.ts", flags[1], Way { flags, ..USUAL })
}

/// Scripts, each with the name of a way and the way.
const WAYS: [(&str, &str, Way); 24] = [
    ("plain.js", "standard input", Way { is_from_input: true, ..USUAL }),
    ("csrf.js", "cookies that stay", Way { variables: &[("K6_NO_COOKIES_RESET", "true")], ..USUAL }),
    // Where options come from.
    ("precedence.js", "file", Way { flags: &["-c", "data/config.json"], ..USUAL }),
    (
        "precedence.js",
        "variables",
        Way { variables: &[("K6_VUS", "2"), ("K6_ITERATIONS", "2"), ("K6_TAGS", "from:env,b:2")], ..USUAL },
    ),
    ("precedence.js", "variables of -e", Way { flags: &["-e", "K6_VUS=3", "-e", "K6_ITERATIONS=3"], ..USUAL }),
    (
        "precedence.js",
        "flags over variables",
        Way {
            flags: &["--tag", "from=flag", "--max-redirects", "2"],
            variables: &[("K6_USER_AGENT", "env"), ("K6_SUMMARY_TREND_STATS", "min,max"), ("K6_MAX_REDIRECTS", "5")],
            ..USUAL
        },
    ),
    ("precedence.js", "duration", Way { flags: &["--duration", "1s"], ..USUAL }),
    (
        "precedence.js",
        "all layers",
        Way { flags: &["-u", "2", "-i", "3", "-c", "data/config.json"], variables: &[("K6_ITERATIONS", "7")], ..USUAL },
    ),
    ("precedence.js", "users", Way { flags: &["-u", "2"], ..USUAL }),
    ("precedence.js", "no number of the script", Way { flags: &["-e", "BUYERS=ten"], ..USUAL }),
    ("precedence.js", "more users than iterations", Way { flags: &["-e", "BUYERS=9"], ..USUAL }),
    ("precedence.js", "two loads", Way { flags: &["-i", "2", "-s", "1s:1"], ..USUAL }),
    ("precedence.js", "no unit", Way { flags: &["-d", "5"], ..USUAL }),
    ("precedence.js", "no number of a variable", Way { variables: &[("K6_VUS", "ten")], ..USUAL }),
    ("precedence.js", "no number of a flag", Way { flags: &["-u", "ten"], ..USUAL }),
    ("precedence.js", "no file", Way { flags: &["-c", "none.json"], ..USUAL }),
    ("precedence.js", "no configuration", Way { flags: &["-c", "data/note.txt"], ..USUAL }),
    // What fails in the life of a script.
    faulty(&["-e", "FAULT=top"]),
    faulty(&["-e", "FAULT=one user"]),
    faulty(&["-e", "FAULT=setup"]),
    faulty(&["-e", "FAULT=iteration"]),
    faulty(&["-e", "FAULT=teardown"]),
    (
        "lifecycle_typed.ts",
        "interrupted",
        Way { flags: &["-e", "FAULT=stuck"], interrupted_at: &["/text?part=iteration"], ..USUAL },
    ),
    (
        "lifecycle_typed.ts",
        "interrupted twice",
        Way {
            flags: &["-e", "FAULT=stuck", "-e", "HANGS=1"],
            interrupted_at: &["/text?part=iteration", "/text?part=teardown"],
            ..USUAL
        },
    ),
];

/// Returns the ways to start a script, each with the name of the run.
pub fn of(script: &str) -> Vec<(String, Way)> {
    let others =
        WAYS.iter().filter(|(of, ..)| *of == script).map(|(_, name, way)| (format!("{script} ({name})"), *way));
    std::iter::once((script.to_owned(), USUAL)).chain(others).collect()
}

/// Returns the names of the scripts that are started in other ways, too.
pub fn scripts() -> impl Iterator<Item = &'static str> {
    WAYS.iter().map(|(script, ..)| *script)
}
