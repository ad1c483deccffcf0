//! The URLs of servers.

/// Of all of them; of the user torr, where there are users.
pub const PASSWORD: &str = "a password of no use";

/// Returns the URL of a database, which begins with the scheme and the user of its server.
pub(crate) fn url(scheme_and_user: &str, port: u16, password: &str, database: &str) -> String {
    format!("{scheme_and_user}:{}@127.0.0.1:{port}/{database}", password.replace(' ', "%20"))
}
