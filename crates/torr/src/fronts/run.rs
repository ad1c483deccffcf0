//! From what a front end asks for to a measured run, and what every front end says of it.

use crate::exit::Stop;
use crate::interrupt;
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::Duration;
use torr_gauge::collector::{Measured, Progress};
use torr_net::address;
use torr_press::{Arrivals, Plan, PlanError, Request, Schedule, Target};
use torr_report::fronts;

/// How long each of several addresses is given to accept a connection.
const TRIAL: Duration = Duration::from_secs(3);

/// What to press and how, as all front ends can say it.
#[derive(Debug)]
pub struct Asked {
    pub target: Target,
    pub request: Request,
    /// The address to connect from.
    pub source: Option<IpAddr>,
    pub connections: u64,
    pub threads: u64,
    pub duration: Option<Duration>,
    pub requests: Option<u64>,
    pub schedule: Option<Schedule>,
    pub keep_alive: bool,
    pub timeout: Duration,
}

impl Asked {
    /// Presses, and tells the progress about once a second.
    pub fn press(self, watch: impl FnMut(&Progress)) -> Result<Measured, Stop> {
        let address = self.address()?;
        let plan = Plan {
            target: self.target,
            addresses: vec![address],
            sources: self.source.into_iter().collect(),
            request: self.request,
            connections: usize::try_from(self.connections).unwrap_or(usize::MAX),
            threads: usize::try_from(self.threads).unwrap_or(usize::MAX),
            duration: self.duration,
            requests: self.requests,
            schedule: self.schedule.map(|schedule| (schedule, Arrivals::Constant)),
            keep_alive: self.keep_alive,
            timeout: self.timeout,
        };
        crate::press::press(&plan, &*interrupt::flag()?, watch)
    }

    /// Of several addresses the first that accepts a connection, as these programs choose it.
    fn address(&self) -> Result<SocketAddr, Stop> {
        let (host, port) = (&self.target.host, self.target.port);
        let mut all = address::resolve(host, port)
            .map_err(|_| Stop::Unreachable(format!("the name '{host}' does not resolve")))?;
        if let Some(source) = self.source {
            if !address::is_local(source) {
                return Err(Stop::Usage(format!("cannot connect from {source}: it is no address of this machine")));
            }
            all.retain(|to| to.is_ipv4() == source.is_ipv4());
        }
        let accepts = |address: &&SocketAddr| TcpStream::connect_timeout(address, TRIAL).is_ok();
        let chosen = if all.len() > 1 { all.iter().find(accepts).or(all.first()) } else { all.first() };
        let family = || Stop::Usage(format!("'{host}' has no address of the family of the one to connect from"));
        chosen.copied().ok_or_else(family)
    }
}

/// What is wrong with a URL, a header or a method, to the user.
pub fn mistake(error: PlanError) -> Stop {
    Stop::Usage(error.to_string())
}

/// A request whose bytes a front end has made itself.
pub fn raw_request(target: &Target, method: &str, bytes: Vec<u8>) -> Result<Request, PlanError> {
    // What else the engine knows of a request follows from its method.
    let mut request = Request::new(target, method, &[], None, true)?;
    request.bytes = bytes;
    Ok(request)
}

/// Authority and path of a URL, as they stand in a request.
pub fn authority_and_path(target: &Target) -> (String, String) {
    let uri: http::Uri = target.url.parse().unwrap_or_default();
    let authority = uri.authority().map_or_else(String::new, ToString::to_string);
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    (authority, if path.starts_with('/') { path.to_owned() } else { format!("/{path}") })
}

/// The line on standard error that every front end ends with: the verdict, and what the other program would have shown
/// otherwise.
pub fn tell_verdict(measured: &Measured, notes: &[String]) {
    anstream::eprintln!("torr: {}", fronts::verdict_line(measured, notes));
}

/// Opens a file that is to be written after the run, so that a mistake shows before it.
pub fn create_file(path: &str) -> Result<BufWriter<File>, Stop> {
    let file = File::create(path).map_err(|error| Stop::Failed(format!("cannot write '{path}': {}", plain(&error))))?;
    Ok(BufWriter::new(file))
}

/// Reads a file that is to be sent.
pub fn read_file(path: &str) -> Result<Vec<u8>, Stop> {
    std::fs::read(path).map_err(|error| Stop::Failed(format!("cannot read '{path}': {}", plain(&error))))
}

fn plain(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such file or folder".into(),
        _ => error.to_string(),
    }
}
