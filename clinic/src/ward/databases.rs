//! Private databases of subjects.

use super::Bed;
use super::quota::Group;
use crate::error::Error;
pub use torr_test_support::databases::Make;
use torr_test_support::databases::Server;

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

    /// The same with so many percent of a CPU for all that is asked of it.
    ///
    /// # Errors
    /// If there can be no such quota.
    pub fn starved_database(&mut self, make: Make, percent: u32) -> Result<Database, Error> {
        let group = Group::new(percent)?;
        let server = Server::start(make);
        // What it starts from now on, for its clients, is in the group as well.
        group.admit(server.pid())?;
        let database = Database { url: server.url(server.any_database()), port: server.port };
        self.hold(group);
        self.hold(server);
        Ok(database)
    }
}
