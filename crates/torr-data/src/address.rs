//! The URL of a database.

use crate::error::{DataError, ErrorKind};
use std::fmt;

/// The supported databases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DatabaseKind {
    /// SQLite, embedded.
    Sqlite,
    /// MySQL and MariaDB.
    MySql,
    /// PostgreSQL.
    Postgres,
}

impl DatabaseKind {
    /// Returns the kind of database that a URL names.
    ///
    /// # Errors
    /// If the URL names no supported database.
    pub fn of(url: &str) -> Result<Self, DataError> {
        Address::parse(url).map(|address| match address {
            Address::Memory | Address::File(_) => Self::Sqlite,
            Address::Server(kind, _) => kind,
        })
    }
}

impl fmt::Display for DatabaseKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sqlite => "SQLite",
            Self::MySql => "MySQL or MariaDB",
            Self::Postgres => "PostgreSQL",
        })
    }
}

/// Returns a server's name for messages, with its address, unless a password that was not percent-encoded may have been taken for
/// a part of the address.
#[cfg(feature = "sockets")]
pub(crate) fn server(name: &str, url: &str, address: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = rest.find(['/', '?', '#']).map_or("", |at| &rest[at..]);
    if path.contains('@') { name.to_owned() } else { format!("{name} at {address}") }
}

/// A parsed URL.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Address<'u> {
    /// SQLite in memory.
    Memory,
    /// SQLite in a file.
    File(&'u str),
    /// The whole URL, for a driver to read.
    Server(DatabaseKind, &'u str),
}

impl<'u> Address<'u> {
    pub(crate) fn parse(url: &'u str) -> Result<Self, DataError> {
        let bad = |what: &str| {
            Err(DataError::new(
                ErrorKind::BadUrl,
                format_args!(
                    "{what}: use sqlite::memory:, sqlite:FILE, mysql://USER@HOST/NAME or postgres://USER@HOST/NAME"
                ),
            ))
        };
        match url.split_once(':') {
            Some(("sqlite", ":memory:")) => Ok(Self::Memory),
            Some(("sqlite", file)) => match file.strip_prefix("//").unwrap_or(file) {
                "" => bad("missing file name in the database's URL"),
                // SQLite itself would read such a name as a URI, which may mean memory and other things that Torr does not support.
                file if file.starts_with("file:") || file.starts_with(':') => bad("SQLite URIs are not supported"),
                file => Ok(Self::File(file)),
            },
            Some(("mysql" | "mariadb", rest)) if rest.starts_with("//") => Ok(Self::Server(DatabaseKind::MySql, url)),
            Some(("postgres" | "postgresql", rest)) if rest.starts_with("//") => {
                Ok(Self::Server(DatabaseKind::Postgres, url))
            }
            // The error does not quote the URL, which may hold a password.
            _ => bad("unknown database in the URL"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_parsed() {
        assert_eq!(Address::parse("sqlite::memory:"), Ok(Address::Memory));
        assert_eq!(
            ["sqlite::memory:", "mariadb://h/d"].map(DatabaseKind::of),
            [Ok(DatabaseKind::Sqlite), Ok(DatabaseKind::MySql)]
        );
        assert_eq!(Address::parse("sqlite:a b.db"), Ok(Address::File("a b.db")));
        assert_eq!(Address::parse("sqlite:///tmp/x.db"), Ok(Address::File("/tmp/x.db")));
        assert_eq!(Address::parse("mysql://u@h/d"), Ok(Address::Server(DatabaseKind::MySql, "mysql://u@h/d")));
        assert_eq!(Address::parse("postgresql://h/d"), Ok(Address::Server(DatabaseKind::Postgres, "postgresql://h/d")));
    }

    #[test]
    fn other_urls_are_refused_without_being_quoted() {
        for url in
            ["", "oracle://u:secret@h/d", "sqlite:", "sqlite:file:x?mode=memory", "sqlite::", "mysql:h", "secret"]
        {
            let error = Address::parse(url).expect_err(url);
            assert_eq!(error.kind(), ErrorKind::BadUrl, "{url}");
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }
}
