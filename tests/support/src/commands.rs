//! The commands of Torr, for tests of their help.

/// The program itself, whose name is empty here, and every command with help of its own.
pub const COMMANDS: [&str; 36] = [
    "",
    "serve",
    "doctor",
    "limit",
    "compare",
    "history",
    "lab",
    "lab list",
    "lab show",
    "lab run",
    "lab table",
    "lab new-subject",
    "report",
    "demo",
    "fleet",
    "fleet agent",
    "fleet run",
    "fleet list",
    "fleet stop",
    "watch",
    "check",
    "once",
    "replay",
    "import",
    "import curl",
    "import har",
    "import openapi",
    "import postman",
    "import apipost",
    "import jmeter",
    "plan-schema",
    "install-links",
    "completions",
    "man",
    "mcp",
    "help",
];

/// The commands with the command lines and the help of other load generators.
pub const FRONTS: [&str; 6] = ["ab", "wrk", "wrk2", "httpress", "press", "k6"];
