//! Shops in several languages, each of whose pages has a fault at a known location. The environment of the program sets sizes.

use super::Environment;
use super::databases::{Database, Make};
use crate::location::Source;
use std::fs;
use torr_test_support::error::Error;

/// The sources of the shops.
pub const C: Source = Source { file: "shop.c", text: include_str!("../../where/shop.c") };
pub const RUST: Source = Source { file: "shop.rs", text: include_str!("../../where/shop.rs") };
pub const GO: Source = Source { file: "shop.go", text: include_str!("../../where/shop.go") };
pub const JAVA: Source = Source { file: "Shop.java", text: include_str!("../../where/Shop.java") };
pub const NODE: Source = Source { file: "shop.js", text: include_str!("../../where/shop.js") };
pub const PYTHON: Source = Source { file: "shop.py", text: include_str!("../../where/shop.py") };
pub const PROFILE: Source = Source { file: "profile.py", text: include_str!("../../where/profile.py") };
pub const POSTGRES: Source =
    Source { file: "postgres_shop.go", text: include_str!("../../where/statements/postgres_shop.go") };
pub const MARIADB: Source =
    Source { file: "mariadb_shop.go", text: include_str!("../../where/statements/mariadb_shop.go") };
pub const REDIS: Source = Source { file: "redis_shop.go", text: include_str!("../../where/statements/redis_shop.go") };

/// The parts of the shop with databases that have no fault.
const CLIENTS: [Source; 4] = [
    Source { file: "main.go", text: include_str!("../../where/statements/main.go") },
    Source { file: "postgres.go", text: include_str!("../../where/statements/postgres.go") },
    Source { file: "mariadb.go", text: include_str!("../../where/statements/mariadb.go") },
    Source { file: "redis.go", text: include_str!("../../where/statements/redis.go") },
];
/// The options of a linker that drops symbols and debug information.
const STRIP: &str = "-s -w";

/// A shop, by its language and how it is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shop {
    C,
    /// Without symbols.
    StrippedC,
    Rust,
    Go,
    /// Without debug information and the table of symbols.
    StrippedGo,
    Java,
    Node,
    Python,
    /// The asyncio server of profiles.
    Profile,
}

impl Environment {
    /// Starts a shop with these variables in its environment, and returns the URL of a page.
    pub fn shop(&mut self, shop: Shop, page: &str, variables: &[(&str, &str)]) -> Result<String, Error> {
        let optimised = ["-O2", "-g", "-pthread", "-o", "shop", "shop.c"];
        let (program, first): (&str, &[&str]) = match shop {
            Shop::C | Shop::StrippedC => {
                self.write("http.h", include_str!("../../where/http.h"))?;
                let strip: &[&str] = if shop == Shop::StrippedC { &["-s"] } else { &[] };
                self.build(&[C], "cc", &[strip, &optimised].concat())?;
                ("./shop", &[])
            }
            Shop::Rust => {
                self.build(&[RUST], "rustc", &["--edition", "2021", "-O", "-g", "-o", "shop", "shop.rs"])?;
                ("./shop", &[])
            }
            Shop::Go => {
                self.build(&[GO], "go", &["build", "-o", "shop", "shop.go"])?;
                ("./shop", &[])
            }
            Shop::StrippedGo => {
                self.build(&[GO], "go", &["build", "-ldflags", STRIP, "-o", "shop", "shop.go"])?;
                ("./shop", &[])
            }
            Shop::Java => {
                self.build(&[JAVA], "javac", &["-g", "Shop.java"])?;
                ("java", &["-Dsun.net.httpserver.nodelay=true", "-cp", ".", "Shop"])
            }
            Shop::Node => ("node", &["shop.js"]),
            Shop::Python => ("python3", &["shop.py"]),
            Shop::Profile => ("python3", &["profile.py"]),
        };
        for source in [NODE, PYTHON, PROFILE].iter().filter(|source| first == [source.file]) {
            self.write(source.file, &source.unmarked())?;
        }
        self.open(program, first, &[], page, variables)
    }

    /// Starts the shop with databases before a new database, and returns the URL of a page.
    pub fn shop_before(&mut self, make: Make, page: &str, variables: &[(&str, &str)]) -> Result<String, Error> {
        let database = self.database(make);
        self.shop_with(&database, page, variables)
    }

    /// Starts the shop with databases before a PostgreSQL, to which it connects over a Unix socket.
    pub fn shop_before_unix(&mut self, page: &str, variables: &[(&str, &str)]) -> Result<String, Error> {
        let mut database = self.database(Make::Postgres);
        // The kernel's list has the path of each socket that is bound.
        let name = format!("/.s.PGSQL.{}", database.port);
        let sockets = fs::read_to_string("/proc/net/unix").map_err(Error::at("/proc/net/unix"))?;
        let paths = sockets.lines().filter_map(|line| line.split_whitespace().last());
        let folder = paths.filter_map(|path| path.strip_suffix(&name)).next();
        let folder = folder.ok_or_else(|| Error::failed("PostgreSQL has no Unix socket"))?;
        database.url += &format!("?host={folder}");
        self.shop_with(&database, page, variables)
    }

    /// Starts the shop with databases before a database.
    fn shop_with(&mut self, database: &Database, page: &str, variables: &[(&str, &str)]) -> Result<String, Error> {
        let sources = [&CLIENTS[..], &[POSTGRES, MARIADB, REDIS]].concat();
        let files: Vec<_> = sources.iter().map(|source| source.file).collect();
        self.build(&sources, "go", &[&["build", "-o", "shop"], &files[..]].concat())?;
        self.open("./shop", &[], &[&database.url], page, variables)
    }

    /// Writes sources without their marks, and compiles them.
    fn build(&self, sources: &[Source], compiler: &str, arguments: &[&str]) -> Result<(), Error> {
        for source in sources {
            self.write(source.file, &source.unmarked())?;
        }
        self.compile(compiler, arguments)
    }

    /// Starts a shop, waits for its first page, and returns the URL of another.
    fn open(
        &mut self,
        program: &str,
        first: &[&str],
        last: &[&str],
        page: &str,
        variables: &[(&str, &str)],
    ) -> Result<String, Error> {
        let listen = self.address()?;
        let (host, port, url) = (listen.ip().to_string(), listen.port().to_string(), format!("http://{listen}/"));
        self.serve(program, &[first, &[&host, &port], last].concat(), variables, &url)?;
        Ok(url + page)
    }
}
