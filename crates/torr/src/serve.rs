//! `torr serve`: the demo application on a server.

use crate::cli::ServeArgs;
use crate::exit::Stop;
use crate::service;
use std::process::ExitCode;
use torr_serve::{ServeError, Server, Settings};

/// Serves until SIGTERM or Ctrl-C.
pub fn run(args: &ServeArgs) -> Result<ExitCode, Stop> {
    let mut settings = Settings::default();
    settings.workers = args.workers.unwrap_or(settings.workers);
    settings.max_head = args.max_head;
    settings.max_headers = args.max_headers.into();
    settings.max_body = args.max_body;
    settings.max_connections = args.max_connections;
    let workers = settings.workers;
    let failed = |error: ServeError| match error {
        ServeError::Address(_) => {
            Stop::Usage(format!("'{}' is not an address to listen on, such as 127.0.0.1:8080", args.listen))
        }
        ServeError::Listen { .. } => Stop::Failed(error.to_string()),
        ServeError::System(_) | ServeError::Panicked => Stop::Failed(error.to_string()),
    };
    let server = Server::new(service::app()).settings(settings).bind(&args.listen).map_err(failed)?;
    // Who reads where it listens may end it at once.
    let server = server.watch_signals().map_err(failed)?;
    let plural = if workers == 1 { "" } else { "s" };
    anstream::eprintln!("torr: serving on http://{} with {workers} worker{plural}", server.address());
    server.run_until_signal().map_err(failed)?;
    Ok(ExitCode::SUCCESS)
}
