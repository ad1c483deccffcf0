//! The configuration: environment variables, with the contest's values as defaults.

use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;

/// Where the servers listen, and where their data is.
#[derive(Debug)]
pub struct Config {
    /// The address of all ports (`BIND`).
    pub address: IpAddr,
    /// HTTP/1.1 (`HTTP_PORT`); 0 takes a free port, here and below.
    pub http: u16,
    /// HTTP/1.1 over TLS (`HTTPS_PORT`).
    pub https: u16,
    /// HTTP/2 without TLS (`H2C_PORT`).
    pub h2c: u16,
    /// HTTP/2 over TLS (`H2_PORT`).
    pub h2: u16,
    /// The items of `/json` (`DATASET`).
    pub dataset: PathBuf,
    /// The folder of `/static` (`STATIC_DIR`).
    pub files: PathBuf,
    /// The certificate of both TLS ports (`TLS_CERT`).
    pub certificate: PathBuf,
    /// Its key (`TLS_KEY`).
    pub key: PathBuf,
    /// The database (`DATABASE_URL`), which most profiles go without.
    pub database: Option<String>,
    /// The most connections to the database (`DATABASE_MAX_CONN`).
    pub connections: usize,
}

impl Config {
    /// Reads the configuration.
    ///
    /// # Errors
    /// In words, for a value that cannot be used.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let text = |name: &str, default: &str| variable(name).unwrap_or_else(|| default.to_owned());
        let port = |name, default| parse(name, &text(name, default), "give a port from 0 to 65535");
        Ok(Self {
            address: parse("BIND", &text("BIND", "0.0.0.0"), "give an IP address")?,
            http: port("HTTP_PORT", "8080")?,
            https: port("HTTPS_PORT", "8081")?,
            h2c: port("H2C_PORT", "8082")?,
            h2: port("H2_PORT", "8443")?,
            dataset: text("DATASET", "/data/dataset.json").into(),
            files: text("STATIC_DIR", "/data/static").into(),
            certificate: text("TLS_CERT", "/certs/server.crt").into(),
            key: text("TLS_KEY", "/certs/server.key").into(),
            database: variable("DATABASE_URL").filter(|url| !url.is_empty()),
            connections: parse("DATABASE_MAX_CONN", &text("DATABASE_MAX_CONN", "256"), "give a number")?,
        })
    }
}

fn parse<T: FromStr>(name: &str, text: &str, advice: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{name}={text} cannot be used: {advice}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_the_contests() {
        let config = Config::read(|_| None).expect("no value is wrong");
        assert_eq!((config.http, config.https, config.h2c, config.h2), (8080, 8081, 8082, 8443));
        assert_eq!((config.database, config.connections), (None, 256));
        assert!(config.address.is_unspecified());
    }

    #[test]
    fn a_wrong_value_is_named_with_what_to_do() {
        let wrong = |name: &'static str| Config::read(move |read| (read == name).then(|| "x".to_owned())).unwrap_err();
        assert_eq!(wrong("H2_PORT"), "H2_PORT=x cannot be used: give a port from 0 to 65535");
        assert_eq!(wrong("BIND"), "BIND=x cannot be used: give an IP address");
        assert_eq!(wrong("DATABASE_MAX_CONN"), "DATABASE_MAX_CONN=x cannot be used: give a number");
    }
}
