//! What each database has to offer to a login: views that are sampled, and a last look.

use super::observed::Observed;

/// A connection with a login. Errors are the database's words.
pub(super) trait View: Sized {
    /// Connects, and reads the counts that exist before the load.
    async fn connect(url: &str) -> Result<Self, String>;

    /// Looks at the sessions.
    async fn sample(&mut self, observed: &mut Observed) -> Result<(), String>;

    /// Reads the counts again, and has the statements that took most explained.
    async fn end(&mut self, observed: &mut Observed) -> Result<(), String>;
}
