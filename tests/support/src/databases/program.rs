//! How a server of any make is used.

use super::folder::Folder;
use std::process::Command;

/// The program of a server.
pub(crate) trait Program: Sync {
    /// What its URLs begin with, up to the password.
    fn scheme_and_user(&self) -> &'static str;
    /// A database that each server has.
    fn any_database(&self) -> &'static str;
    /// Fills its folder before it runs for the first time.
    fn initialise(&self, folder: &Folder);
    /// Runs it on a port of the loopback address.
    fn command(&self, folder: &Folder, port: u16) -> Command;
    /// Whether it responds.
    fn responses(&self, folder: &Folder, port: u16) -> bool;

    /// The statements that it runs when it responds for the first time.
    fn welcome(&self, _folder: &Folder) {}

    /// Whether nothing is left of one that was killed.
    fn has_left(&self, _folder: &Folder) -> bool {
        true
    }
}
