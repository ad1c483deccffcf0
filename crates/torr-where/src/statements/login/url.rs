//! The login of a database, whose password is never shown.

use crate::statements::database::Database;
use std::fmt;
use thiserror::Error;

/// The most bytes of a URL.
const LONGEST: usize = 4096;

/// Why a text is no login. The text is not quoted: it may hold a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum LoginError {
    /// The scheme is not one of a database that is read.
    #[error("unknown database in the URL: use postgres://USER@HOST/NAME, mysql://USER@HOST/NAME or redis://HOST")]
    Scheme,
    /// The driver cannot read the URL.
    #[error("cannot parse the database's URL: percent-encode the user and the password")]
    Url,
    /// The URL asks for an encrypted connection.
    #[error("TLS is not supported for a database's login: use a connection on the database's machine")]
    Tls,
}

/// A login of a database.
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    database: Database,
    url: String,
}

impl Login {
    /// Reads a URL such as `postgres://user:password@host:5432/name`. A driver's name behind the scheme is ignored.
    ///
    /// # Errors
    /// If the URL is not one of a database that is read.
    pub fn parse(url: &str) -> Result<Self, LoginError> {
        let (scheme, rest) = url.split_once("://").filter(|_| url.len() <= LONGEST).ok_or(LoginError::Scheme)?;
        let scheme = scheme.split('+').next().unwrap_or(scheme);
        let (database, scheme) = match scheme {
            "postgres" | "postgresql" => (Database::Postgres, "postgres"),
            "mysql" | "mariadb" => (Database::MySql, "mysql"),
            "redis" | "valkey" => (Database::Redis, "redis"),
            "rediss" => return Err(LoginError::Tls),
            _ => return Err(LoginError::Scheme),
        };
        let url = format!("{scheme}://{rest}");
        let is_read = match database {
            Database::Postgres => url.parse::<tokio_postgres::Config>().is_ok(),
            Database::MySql => mysql_async::Opts::from_url(&url).is_ok(),
            Database::Redis => ::redis::Client::open(url.as_str()).is_ok(),
        };
        if is_read { Ok(Self { database, url }) } else { Err(LoginError::Url) }
    }

    /// Returns the database.
    pub fn database(&self) -> Database {
        self.database
    }

    /// Returns the port of the database's server.
    pub fn port(&self) -> u16 {
        let rest = self.url.split_once("://").map_or("", |(_, rest)| rest);
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        host.rsplit_once(':').and_then(|(_, port)| port.parse().ok()).unwrap_or(match self.database {
            Database::Postgres => 5432,
            Database::MySql => 3306,
            Database::Redis => 6379,
        })
    }

    /// Returns the URL with its password, for a driver.
    pub(super) fn secret_url(&self) -> &str {
        &self.url
    }
}

impl fmt::Display for Login {
    /// Writes the scheme, and what follows the last `@` before the name of the database: the host.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, rest) = self.url.split_once("://").unwrap_or_default();
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        match authority.rsplit_once('@') {
            // What stands behind a slash may still be a password that was not percent-encoded.
            _ if rest[authority.len()..].contains('@') => write!(f, "{scheme}://***"),
            Some((_, host)) => write!(f, "{scheme}://***@{host}"),
            None => write!(f, "{scheme}://{authority}"),
        }
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Login({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_read() {
        for (url, port) in [("mysql://me:1@db:4000/a:1", 4000), ("postgres://[::1]:6000/x", 6000), ("redis://a", 6379)]
        {
            assert_eq!(Login::parse(url).expect(url).port(), port, "{url}");
        }
    }

    #[test]
    fn passwords_are_masked() {
        for (url, shown) in [
            ("postgresql+psycopg2://me:secret@db:5432/shop?connect_timeout=3", "postgres://***@db:5432"),
            ("mysql://me:secret@127.0.0.1/shop", "mysql://***@127.0.0.1"),
            ("redis://:secret@cache:6379/2", "redis://***@cache:6379"),
            ("redis://cache", "redis://cache"),
        ] {
            let login = Login::parse(url).expect(url);
            assert_eq!(login.to_string(), shown);
            assert!([5432, 3306, 6379].contains(&login.port()), "{login}");
            assert!(!format!("{login:?}").contains("secret"));
        }
        for url in ["", "oracle://me:secret@db", "secret", "rediss://:secret@cache", "mysql://me:secret@:x/"] {
            let error = Login::parse(url).expect_err(url);
            assert!(!format!("{error} {error:?}").contains("secret"), "{error}");
        }
    }
}
