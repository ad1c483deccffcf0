//! The kinds of servers.

/// The concurrency model of a server.
#[derive(Clone, Copy)]
pub enum Server {
    /// Event loops.
    Loops(usize),
    /// One event loop with worker threads.
    Pool(usize),
    /// Threads that serve one connection each until that ends: a fixed number, or one for each connection.
    Threads(Option<usize>),
}

impl Server {
    /// Parses a value of the command line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (kind, value) = text.split_once('=').unwrap_or((text, ""));
        let number = || value.parse::<usize>().map_err(|error| format!("{value:?}: {error}"));
        Ok(match kind {
            "loop" => Self::Loops(1),
            "loops" => Self::Loops(number()?),
            "pool" => Self::Pool(number()?),
            "threads" if value.is_empty() => Self::Threads(None),
            "threads" => Self::Threads(Some(number()?)),
            _ => return Err(format!("there is no server {kind:?}")),
        })
    }
}
