//! `torr serve`: the demo application, or the files of a folder, on a server.

use crate::config::{Config, Flags, ServeConfig};
use crate::exit::CliError;
use crate::service::{self, EMBEDDED, Source};
use crate::sink::Sink;
use clap::Args;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use torr_data::{Cache, DataError, ErrorKind};
use torr_report::human::plural;
use torr_report::live::FillProgress;
use torr_serve::{App, Files, ServeError, Server, StandardError, worker_number};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// The names of a setting in the file, the environment and flags.
const NAMES: &str = "\
A setting can be given in three places: max_head in the file of --config, TORR_SERVE_MAX_HEAD in the environment, and \
--max-head. A flag has priority over the environment, and the environment over the file.";

/// `torr serve`.
#[derive(Debug, Args)]
#[command(after_help = NAMES)]
pub struct ServeArgs {
    /// Read settings from this TOML file; or set the environment variable TORR_SERVE_CONFIG
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Print all settings as TOML, with the source of each value, and exit
    #[arg(long)]
    pub print_config: bool,
    #[command(flatten)]
    pub flags: Flags,
}

/// Serves until a signal stops it.
pub fn run(args: &ServeArgs) -> Result<ExitCode, CliError> {
    let config = Config::gather(args.config.as_deref(), &args.flags)?;
    if args.print_config {
        Sink::open(Path::new("-"))?.put(&config.toml()).map_err(CliError::Failed)?;
        return Ok(ExitCode::SUCCESS);
    }
    trace(&config.chosen.log_level);
    let origin = config.origin_of_listen();
    let app = application(&config)?;
    let (listen, mut settings) = (config.chosen.listen, config.chosen.settings);
    // The only tasks that the demo application spawns serve connections to databases, and have nothing to finish.
    settings.task_stop_timeout = Duration::ZERO;
    let (processes, workers) = (settings.processes, settings.workers);
    if let Some(number) = worker_number().filter(|_| processes == 0) {
        return Err(CliError::Usage(format!(
            "worker process {number} has read processes = 0, unlike its supervisor: restart to change processes, and \
             use a file instead of a pipe for --config"
        )));
    }
    let scheme = if settings.tls.is_some() { "https" } else { "http" };
    let failed = |error: ServeError| match error {
        ServeError::Address(_) => CliError::Usage(format!("{error} ({origin})")),
        ServeError::Settings(what) => CliError::Usage(what),
        ServeError::Tls(error) => CliError::Usage(error.to_string()),
        ServeError::Log { .. } | ServeError::PidFile(_) => CliError::Usage(error.to_string()),
        error => CliError::Failed(error.to_string()),
    };
    let server = Server::new(app).settings(settings).bind(&listen).map_err(failed)?;
    let threads = plural(workers as u64, "worker");
    let with = match processes {
        0 => threads,
        1 => format!("1 process of {threads}"),
        _ => format!("{} of {threads} each", plural(processes as u64, "process")),
    };
    let unix = server.unix_path().map(|path| format!("unix:{}", path.display()));
    let address = unix.unwrap_or_else(|| server.address().to_string());
    let line = format!("torr: serving on {scheme}://{address} with {with}\n");
    let tell = move || StandardError.write_all(line.as_bytes()).unwrap_or_default();
    // A reader of the address may send a signal at once.
    let ended = server.watch_signals().map_err(failed)?.on_ready(tell).run_until_signal();
    // A worker process that ended by itself has printed the reason.
    if let Err(ServeError::Worker { status, .. }) = &ended
        && let Some(code) = status.code().and_then(|code| u8::try_from(code).ok()).filter(|code| *code > 0)
    {
        return Ok(ExitCode::from(code));
    }
    ended.map_err(failed).map(|()| ExitCode::SUCCESS)
}

/// Returns the files of a folder, or the demo application with its database and cache.
fn application(config: &Config) -> Result<App, CliError> {
    let chosen = &config.chosen;
    if let Some(root) = &chosen.root {
        if let Some(key) = config.of_demo() {
            return Err(CliError::Usage(format!("root serves files, without the demo application: drop {key}")));
        }
        let files = Files::new(root)
            .map_err(|error| CliError::Usage(format!("cannot serve the files below {}: {error}", root.display())))?;
        return Ok(App::new().files("/", files));
    }
    let source = Arc::new(source(chosen)?);
    let cache = chosen.cache.as_str();
    let options = &chosen.cache_options;
    let cache = match Cache::open(cache, options) {
        Err(error) if may_be_away(&error) => Cache::open_lazy(cache, options),
        opened => opened,
    };
    let cache = cache.map_err(|error| unusable("cache", &error))?;
    Ok(service::app(&source, &cache, chosen.router))
}

/// Opens the database, with a progress bar while its tables are filled.
fn source(chosen: &ServeConfig) -> Result<Source, CliError> {
    let options = chosen.db_options.clone();
    let url = chosen.database.as_deref();
    // A supervisor makes the tables for its worker processes, but for those in memory, of which each process has its own.
    let supervises = chosen.settings.processes > 0 && worker_number().is_none();
    let Some(url) = url.filter(|url| !supervises || *url != EMBEDDED) else { return Ok(Source::embedded(options)) };
    let mut filling = FillProgress::default();
    let mode = chosen.db_mode;
    let opened = Source::open(url, options.clone(), mode, |step| filling.at(step.table, step.done, step.of));
    filling.clear();
    let source = match opened {
        Err(error) if may_be_away(&error) => Source::open_lazy(url, options, mode),
        opened => opened,
    };
    source.map_err(|error| unusable("database", &error))
}

/// A worker process that is started while the database or the cache is away serves all else: its supervisor has seen
/// both.
fn may_be_away(error: &DataError) -> bool {
    worker_number().is_some() && error.is_temporary()
}

fn unusable(what: &str, error: &DataError) -> CliError {
    let line = format!("cannot use the {what}: {error}");
    match error.kind() {
        ErrorKind::BadUrl | ErrorKind::NotBuiltIn | ErrorKind::Denied | ErrorKind::MissingDatabase => {
            CliError::Usage(line)
        }
        ErrorKind::Refused | ErrorKind::TimedOut | ErrorKind::Lost => CliError::Unreachable(line),
        _ => CliError::Failed(line),
    }
}

/// Logs events of this level and above on standard error. At the levels `info` and `warn` libraries log only errors:
/// their information, such as a database's notices, is not the server's, and a client can bring about some of their
/// warnings without end.
fn trace(level: &str) {
    // The setting allows no other words than the levels'.
    let Ok(level) = level.parse::<LevelFilter>() else { return };
    let libraries = if level <= LevelFilter::INFO { level.min(LevelFilter::ERROR) } else { level };
    let filter = Targets::new().with_default(libraries).with_target("torr", level).with_target("torr_serve", level);
    let lines = tracing_subscriber::fmt::layer().with_writer(|| StandardError).with_target(false);
    tracing_subscriber::registry().with(lines.with_filter(filter)).init();
}
