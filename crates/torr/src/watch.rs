//! `torr watch`: runs on a server's machine and offers signals of a service to a doctor elsewhere.

mod context;
mod metrics;
mod origin;
mod places;
mod query;
mod watchers;

use crate::exit::CliError;
use clap::Args;
use context::{READERS, WatchContext, refusal};
use origin::Names;
use std::net::{SocketAddr, ToSocketAddrs};
use std::process::ExitCode;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use torr_doctor::locate::ServerSurvey;
use torr_serve::{App, Request, Response, Server, Settings};
use torr_signals::Reading;
use watchers::Watchers;

/// The variable that has the token.
const TOKEN: &str = "TORR_WATCH_TOKEN";
const EXAMPLES: &str = "\
Examples:
  torr watch                               for this machine, or an SSH tunnel
  torr watch --where                       also functions, locks and statements
  TORR_WATCH_TOKEN=... torr watch --listen 0.0.0.0:9300    for other machines
  curl 'http://127.0.0.1:9300/signals?port=8080'    signals, as JSON
  curl 'http://127.0.0.1:9300/metrics?port=8080'    the same for Prometheus";

/// `torr watch`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct WatchArgs {
    /// Listen on this address
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9300")]
    pub listen: String,
    /// Watch only services on this port; can be repeated [default: all]
    #[arg(long = "port", value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub ports: Vec<u16>,
    /// Require this token, as 'Authorization: Bearer TOKEN'; set TORR_WATCH_TOKEN instead to keep it out of the process
    /// list
    #[arg(long, value_name = "TOKEN")]
    pub token: Option<String>,
    /// Also offer the functions, locks and statements that a service spends its time on
    #[arg(long = "where")]
    pub places: bool,
    /// With --where: permit requests to the service's processes for their stacks, such as a JVM's thread dumps
    #[arg(long, requires = "places")]
    pub ask: bool,
}

/// Watches until a signal stops it.
pub fn run(args: &WatchArgs) -> Result<ExitCode, CliError> {
    let token = args.token.clone().or_else(|| std::env::var(TOKEN).ok()).filter(|token| !token.is_empty());
    let listen = &args.listen;
    let addresses: Vec<SocketAddr> = listen.to_socket_addrs().map(Iterator::collect).unwrap_or_default();
    let Some(address) = addresses.first() else {
        return Err(CliError::Usage(format!("--listen needs an address such as 127.0.0.1:9300, found '{listen}'")));
    };
    if token.is_none() && !address.ip().to_canonical().is_loopback() {
        let line =
            format!("'{listen}' is reachable from other machines: set {TOKEN} to a secret that clients must send");
        return Err(CliError::Usage(line));
    }
    let names = Names::new(listen);
    let readers = Arc::new(Semaphore::new(READERS));
    let survey = args.places.then(|| ServerSurvey { asking: args.ask, ..ServerSurvey::default() });
    let (surveys, ports) = (Arc::new(Semaphore::new(1)), args.ports.clone());
    let context = Arc::new(WatchContext { token, names, ports, watchers: Watchers::new(), readers, survey, surveys });
    let mut settings = Settings::default();
    settings.workers = 1;
    let failed = |error: torr_serve::ServeError| CliError::Failed(error.to_string());
    let server = Server::new(app(&context)).settings(settings).bind(address).map_err(failed)?;
    let address = server.address();
    let tell = move || anstream::eprintln!("torr: watching on http://{address} (GET /signals?port=PORT)");
    server.watch_signals().map_err(failed)?.on_ready(tell).run_until_signal().map_err(failed)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the application.
fn app(context: &Arc<WatchContext>) -> App {
    let (signals, metrics, places) = (context.clone(), context.clone(), context.clone());
    App::new()
        .get_async("/signals", move |request| {
            respond(&signals, request, |reading, _| match serde_json::to_string(reading) {
                Ok(text) => Response::json(text),
                Err(error) => refusal(500, &format!("cannot write the signals: {error}")),
            })
        })
        .get_async("/metrics", move |request| {
            respond(&metrics, request, |reading, target| {
                Response::ok("text/plain; version=0.0.4; charset=utf-8", metrics::text(reading, target))
            })
        })
        .get_async("/where", move |request| places::respond(&places, request))
}

/// Refuses a request at once, or reads the signals on a thread apart: a first request for a target scans all processes.
/// A client without the token takes no such thread.
fn respond<S>(context: &Arc<WatchContext>, request: &Request<'_>, show: S) -> impl Future<Output = Response> + use<S>
where
    S: Fn(&Reading, &str) -> Response + Send + 'static,
{
    let (admitted, context) = (context.admit(request), Arc::clone(context));
    async move {
        let target = match admitted {
            Ok(target) => target,
            Err(refusal) => return *refusal,
        };
        let permit = Arc::clone(&context.readers).acquire_owned().await;
        let read = move || {
            let _permit = permit;
            context.read(target, show)
        };
        spawn_blocking(read).await.unwrap_or_else(|_| refusal(500, "cannot read the signals"))
    }
}
