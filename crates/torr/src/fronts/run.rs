//! The run of a front end: its plan, and the output that all front ends have.

use crate::exit::CliError;
use crate::flags::file_source::FileSource;
use crate::flags::transport;
use crate::press::ports;
use crate::script::{Script, ScriptSettings};
use crate::{interrupt, output};
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::time::Duration;
use torr_fronts::TlsArgs;
use torr_gauge::collector::{Measurement, Progress};
use torr_net::address;
use torr_net::tls::{Roots, TlsSettings, Versions};
use torr_press::request::{Body, Data, Options, Order};
use torr_press::{Arrivals, Inspection, Pace, Plan, ProtocolConfig, Requests, Schedule, Target};
use torr_report::fronts;
use torr_script::Printing;

/// The time-out of connecting to each of several addresses.
const TRIAL: Duration = Duration::from_secs(3);

/// The load of a front end.
#[derive(Debug)]
pub struct FrontLoad {
    pub target: Target,
    pub request: Requests,
    /// The address to connect from.
    pub source: Option<IpAddr>,
    pub connections: u64,
    pub threads: u64,
    pub duration: Option<Duration>,
    pub requests: Option<u64>,
    pub schedule: Option<Schedule>,
    pub keep_alive: bool,
    pub timeout: Duration,
    pub tls: TlsArgs,
    /// A proxy's host and port.
    pub proxy: Option<(String, u16)>,
    /// Name and password for the proxy, with a colon between them, where it is a tunnel.
    pub proxy_user: Option<String>,
    /// Whether to keep what only some programs show: the first response, and times from the connection on.
    pub detailed: bool,
    /// The script that says what is sent, with its arguments.
    pub script: Option<(PathBuf, Vec<String>)>,
}

impl FrontLoad {
    /// Returns a closed loop with keep-alive and without an end.
    pub fn new(target: Target, request: Requests, (connections, threads): (u64, u64), timeout: Duration) -> Self {
        Self {
            target,
            request,
            source: None,
            connections,
            threads,
            duration: None,
            requests: None,
            schedule: None,
            keep_alive: true,
            timeout,
            tls: TlsArgs::default(),
            proxy: None,
            proxy_user: None,
            detailed: false,
            script: None,
        }
    }

    /// Runs the load; `watch` is called about once a second.
    pub fn press(self, watch: impl FnMut(&Progress)) -> Result<Measurement, CliError> {
        let (plan, _) = self.plan()?;
        press(&plan, watch)
    }

    /// Returns the plan of the run, and the script that says what is sent, which has run so far.
    pub fn plan(self) -> Result<(Plan, Option<Script>), CliError> {
        let script = self.script.clone();
        let address = self.address()?;
        let tls = self.target.tls.then(|| TlsSettings {
            roots: if self.tls.verify { Roots::System } else { Roots::AcceptAny },
            versions: self.tls.versions.unwrap_or(Versions::Both),
            identity: self.tls.identity.map(|file| (file.clone().into(), file.into())),
            sends_name: !self.tls.no_sni,
            ..TlsSettings::new(&self.target.host)
        });
        let tls = tls.map(|settings| settings.load()).transpose().map_err(CliError::usage)?;
        let plan = Plan {
            sources: self.source.into_iter().collect(),
            protocol: ProtocolConfig { tls, http2: false },
            tunnel: (self.proxy.is_some() && self.target.tls)
                .then(|| transport::tunnel(&self.target, self.proxy_user.as_deref())),
            connections: usize::try_from(self.connections).unwrap_or(usize::MAX),
            threads: usize::try_from(self.threads).unwrap_or(usize::MAX),
            duration: self.duration,
            requests: self.requests,
            pace: self.schedule.map_or(Pace::Closed, |schedule| Pace::Open(schedule, Arrivals::Constant)),
            keep_alive: self.keep_alive,
            timeout: self.timeout,
            detailed: self.detailed,
            inspection: Inspection { keep_first: self.detailed, ..Inspection::default() },
            ..Plan::new(self.target, vec![address.into()], self.request)
        };
        let Some((path, arguments)) = script else { return Ok((plan, None)) };
        let (variables, secrets) = (Vec::new(), Vec::new());
        let printing = Printing::Stdout;
        let one_server = "this command line has one server; 'torr URL --script FILE' takes several";
        let find = Box::new(move |_: &str| Err(one_server.to_owned()));
        let files = &FileSource::Here;
        let settings = ScriptSettings {
            path: &path,
            files,
            arguments: &arguments,
            variables,
            secrets,
            feeder: None,
            feeder_order: Order::Sequence,
            printing,
            find,
        };
        let script = Script::load(&plan, settings)?;
        Ok((script.plan(plan), Some(script)))
    }

    /// Returns the first address that accepts a connection, as these programs choose it.
    fn address(&self) -> Result<SocketAddr, CliError> {
        let target = (self.target.host.clone(), self.target.port);
        let (host, port) = self.proxy.as_ref().unwrap_or(&target);
        let mut all = address::resolve(host, *port)
            .map_err(|_| CliError::Unreachable(format!("the name '{host}' does not resolve")))?;
        if let Some(source) = self.source {
            if !address::is_local(source) {
                return Err(CliError::Usage(format!("cannot connect from {source}: it is no address of this machine")));
            }
            all.retain(|to| to.is_ipv4() == source.is_ipv4());
        }
        let accepts = |address: &&SocketAddr| TcpStream::connect_timeout(address, TRIAL).is_ok();
        let chosen = if all.len() > 1 { all.iter().find(accepts).or(all.first()) } else { all.first() };
        let family = || CliError::Usage(format!("'{host}' has no address of the family of the one to connect from"));
        chosen.copied().ok_or_else(family)
    }
}

/// Runs a plan; `watch` is called about once a second.
pub fn press(plan: &Plan, watch: impl FnMut(&Progress)) -> Result<Measurement, CliError> {
    ports::warn(plan);
    crate::press::press(plan, &*interrupt::flag()?, watch)
}

/// Returns a request of these parts, unchanged.
pub fn request(
    target: &Target,
    method: &str,
    headers: Vec<String>,
    body: Option<&str>,
    keep_alive: bool,
) -> Result<Requests, CliError> {
    let options = Options {
        method: Some(method.to_owned()),
        headers,
        body: body.map(|body| Body::Data(vec![Data::Plain(body.as_bytes().to_vec())])),
        keep_alive,
        templates: false,
        ..Options::default()
    };
    Requests::new(&[target.clone().into()], &options).map_err(CliError::usage)
}

/// The line on standard error that every front end ends with: the verdict, and what the other program would have shown
/// otherwise.
pub fn tell_verdict(measured: &Measurement, notes: &[String]) {
    output::note(&fronts::verdict_line(measured, notes));
}

/// Opens a file that is to be written after the run, so that a mistake shows before it.
pub fn create_file(path: &str) -> Result<BufWriter<File>, CliError> {
    let file =
        File::create(path).map_err(|error| CliError::Failed(format!("cannot write '{path}': {}", plain(&error))))?;
    Ok(BufWriter::new(file))
}

/// Reads a file that is to be sent.
pub fn read_file(path: &str) -> Result<Vec<u8>, CliError> {
    std::fs::read(path).map_err(|error| CliError::Failed(format!("cannot read '{path}': {}", plain(&error))))
}

fn plain(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such file or folder".into(),
        _ => error.to_string(),
    }
}
