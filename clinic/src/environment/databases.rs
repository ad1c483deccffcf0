//! Databases that belong to one subject.

use super::Environment;
use torr_test_support::control_group::ControlGroup;
pub use torr_test_support::databases::Make;
use torr_test_support::databases::Server;
use torr_test_support::error::Error;

/// The address of a database.
pub struct Database {
    pub url: String,
    pub port: u16,
}

impl Environment {
    /// Starts an empty database.
    ///
    /// # Panics
    /// If the database does not start.
    pub fn database(&mut self, make: Make) -> Database {
        let server = Server::start(make);
        let database = Database { url: server.url(server.any_database()), port: server.port };
        self.hold(server);
        database
    }

    /// Starts an empty database under a quota of `percent` of one CPU.
    ///
    /// # Errors
    /// If the quota cannot be set.
    pub fn starved_database(&mut self, make: Make, percent: u32) -> Result<Database, Error> {
        let group = ControlGroup::with_quota(percent)?;
        let server = Server::start(make);
        // The processes that the database starts for its clients inherit the group.
        group.admit(server.pid())?;
        let database = Database { url: server.url(server.any_database()), port: server.port };
        self.hold(group);
        self.hold(server);
        Ok(database)
    }
}
