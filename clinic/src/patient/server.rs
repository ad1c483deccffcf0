//! The kinds of servers.

/// The kind of a server.
#[derive(Clone, Copy)]
pub enum Server {
    /// So many event loops.
    Loops(usize),
    /// One, with so many threads that work for it.
    Pool(usize),
    /// So many threads that serve a connection each until it ends, or one for each connection.
    Threads(Option<usize>),
}

impl Server {
    /// For the command line.
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
