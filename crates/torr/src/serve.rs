//! `torr serve`: the demo application on a server.

use crate::cli::ServeArgs;
use crate::config::Config;
use crate::exit::Stop;
use crate::output::Sink;
use crate::service;
use std::path::Path;
use std::process::ExitCode;
use torr_serve::{ServeError, Server};

/// Serves until SIGTERM or Ctrl-C.
pub fn run(args: &ServeArgs) -> Result<ExitCode, Stop> {
    let config = Config::gather(args.config.as_deref(), &args.flags)?;
    if args.print_config {
        Sink::open(Path::new("-"))?.put(&config.toml()).map_err(Stop::Failed)?;
        return Ok(ExitCode::SUCCESS);
    }
    let origin = config.origin_of_listen();
    let (listen, settings) = (config.chosen.listen, config.chosen.settings);
    let (workers, scheme) = (settings.workers, if settings.tls.is_some() { "https" } else { "http" });
    let failed = |error: ServeError| match error {
        ServeError::Address(_) => {
            Stop::Usage(format!("'{listen}' ({origin}) is not an address to listen on, such as 127.0.0.1:8080"))
        }
        ServeError::Tls(error) => Stop::Usage(error.to_string()),
        ServeError::Log { .. } => Stop::Usage(error.to_string()),
        ServeError::Listen { .. } => Stop::Failed(error.to_string()),
        ServeError::System(_) | ServeError::Panicked => Stop::Failed(error.to_string()),
    };
    let server = Server::new(service::app()).settings(settings).bind(&listen).map_err(failed)?;
    // Who reads where it listens may end it at once.
    let server = server.watch_signals().map_err(failed)?;
    let plural = if workers == 1 { "" } else { "s" };
    anstream::eprintln!("torr: serving on {scheme}://{} with {workers} worker{plural}", server.address());
    server.run_until_signal().map_err(failed)?;
    Ok(ExitCode::SUCCESS)
}
