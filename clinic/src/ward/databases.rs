//! Private databases of subjects.

use super::Bed;
pub use torr_test_databases::Make;
use torr_test_databases::Server;

/// Where a database is.
pub struct Database {
    pub url: String,
    pub port: u16,
}

impl Bed {
    /// A new one with nothing in it. One that does not start is a panic.
    pub fn database(&mut self, make: Make) -> Database {
        let server = Server::start(make);
        let database = Database { url: server.url(server.any_database()), port: server.port };
        self.hold(server);
        database
    }
}
