//! The operations of an open connection to a database server.

use crate::Access;
use crate::error::DataError;
use crate::model::{Fortune, Item, World};

/// An open connection, made for the driver or for the model.
pub(crate) trait Connection: Send + Sized + 'static {
    /// The settings needed to connect.
    type Config: Send + Sync + 'static;

    /// Opens a connection for an access method.
    fn connect(config: &Self::Config, access: Access) -> impl Future<Output = Result<Self, DataError>> + Send;
    /// Returns whether the connection is known to have ended.
    fn is_closed(&self) -> bool;
    /// Makes a round trip to the server.
    fn ping(&mut self) -> impl Future<Output = Result<(), DataError>> + Send;

    /// Reads a row of `world`.
    async fn world(&self, access: Access, id: i32) -> Result<Option<World>, DataError>;
    /// Reads a row of `item`.
    async fn item(&self, access: Access, id: i32) -> Result<Option<Item>, DataError>;
    /// Reads all rows of `fortune`.
    async fn fortunes(&self, access: Access) -> Result<Vec<Fortune>, DataError>;
    /// Writes all of the rows or none. They are sorted by id without duplicates.
    async fn write(&self, access: Access, rows: &[World]) -> Result<(), DataError>;
}
