//! The database of a group: a private one, on the load's CPU, and ended with the group.

use std::path::Path;

use rustix::fs::statfs;
use rustix::thread::{sched_getaffinity, sched_setaffinity};
use torr_test_support::databases::{Outside, Server};

use super::scenario::Group;
use super::world::World;
use crate::child::LOAD_CPU;
use crate::cpu;
use torr_test_support::error::Error;

/// What the kernel says of a file system that is memory.
const TMPFS: i64 = 0x0102_1994;

/// A database that is up, and empty at first.
pub struct Database {
    url: String,
    /// SQLite has none.
    server: Option<Server>,
    /// Others than the service can look into it.
    shared: bool,
}

impl Database {
    /// Starts one; `folder` is for SQLite's file.
    pub fn start(group: Group, folder: &Path) -> Result<Self, Error> {
        let Some(make) = group.make() else {
            let memory = group == Group::SqliteMemory;
            if !memory && statfs(folder)?.f_type as i64 == TMPFS {
                return Err(Error::failed("temporary files are in memory here: set TMPDIR to a folder on a disk"));
            }
            let file = folder.join("bench.db");
            let url = if memory { "sqlite::memory:".into() } else { format!("sqlite:{}", file.display()) };
            return Ok(Database { url, server: None, shared: !memory });
        };
        let everywhere = sched_getaffinity(None)?;
        cpu::pin(LOAD_CPU)?; // what is started inherits it
        let server = Server::start(make);
        sched_setaffinity(None, &everywhere)?;
        Ok(Database { url: server.new_database(), server: Some(server), shared: true })
    }

    /// Its URL, as `torr serve` takes it.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// CPU seconds used so far by its server, if it has one.
    pub fn cpu_used(&self) -> Option<f64> {
        self.server.as_ref().map(|server| cpu::used(server.pid()))
    }

    /// Sees whether these rows are in it, of several with one id any; in memory no other process can.
    pub fn check_written(&self, worlds: &[World]) -> Result<(), Error> {
        if !self.shared {
            return Ok(());
        }
        let mut outside = Outside::new(&self.url);
        for world in worlds {
            let written =
                worlds.iter().filter(|other| other.id == world.id).map(|other| other.random_number.to_string());
            let (id, written) = (world.id, written.collect::<Vec<_>>().join(", "));
            // A count has the same type in all databases.
            let sql = format!("SELECT COUNT(*) FROM world WHERE id = {id} AND randomnumber IN ({written})");
            if outside.number(&sql) != 1 {
                return Err(Error::failed(format!(
                    "it says that it wrote {written} into row {id}, but that is not there"
                )));
            }
        }
        Ok(())
    }
}
