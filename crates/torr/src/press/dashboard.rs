//! `--dashboard`: the address at which browsers see a run, and its protection.

use crate::certificate::OwnCertificate;
use crate::exit::CliError;
use crate::output::{note, note_own_url};
use crate::random;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use torr_gauge::machine::host_name;
use torr_live::{Dashboard, DashboardSettings, Load};
use torr_load::OutputPart;
use torr_press::Plan;
use torr_serve::ServeError;

/// Serves the dashboard of a load by a plan, which has a steering, if there is to be one. Prints its URL, and returns both.
///
/// # Errors
/// If the address cannot be listened on, or the certificate cannot be read or made.
pub fn start(output: &OutputPart, plan: &Plan, load: &Load) -> Result<Option<(Dashboard, String)>, CliError> {
    let (Some(address), Some(steering)) = (output.dashboard.as_deref().copied(), &plan.steering) else {
        return Ok(None);
    };
    let given = output.dashboard_cert.clone().zip(output.dashboard_key.clone());
    let start = |settings| Dashboard::start(settings, load.clone(), steering.clone());
    open(address, given, start, Dashboard::url).map(Some)
}

/// Serves a dashboard at an address, with a certificate and its key if they are given. Prints its URL, and returns both.
///
/// # Errors
/// As with [`start`].
pub fn open<D>(
    address: SocketAddr,
    given: Option<(PathBuf, PathBuf)>,
    start: impl FnOnce(DashboardSettings) -> Result<D, ServeError>,
    url: fn(&D) -> &str,
) -> Result<(D, String), CliError> {
    let is_open = !address.ip().is_loopback();
    let own = (is_open && given.is_none()).then(|| own_certificate(address.ip())).transpose()?;
    let settings = DashboardSettings {
        address,
        token: is_open.then(random::name),
        tls: given.or_else(|| own.as_ref().map(OwnCertificate::files)),
    };
    let dashboard = start(settings).map_err(|error| CliError::Usage(format!("--dashboard: {error}")))?;
    let url = url(&dashboard).to_owned();
    // No browser can open an address that stands for all of a machine.
    let any = format!("//{}:", SocketAddr::new(address.ip(), 0).to_string().trim_end_matches(":0"));
    let url = match address.ip().is_unspecified() {
        true => url.replacen(&any, &format!("//{}:", hostname()), 1),
        false => url,
    };
    note_own_url("dashboard", &url);
    if let Some(own) = own {
        note(&format!("its certificate was made for this run, SHA-256 {}", own.fingerprint));
    }
    Ok((dashboard, url))
}

fn own_certificate(address: IpAddr) -> Result<OwnCertificate, CliError> {
    let names = [address.to_string(), hostname(), "localhost".to_owned()];
    OwnCertificate::make(names)
        .map_err(|error| CliError::Failed(format!("cannot make a certificate for the dashboard: {error}")))
}

fn hostname() -> String {
    host_name().unwrap_or_else(|| "localhost".to_owned())
}
