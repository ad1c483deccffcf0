//! `--dashboard`: the address at which browsers see a run, and its protection.

use crate::certificate::OwnCertificate;
use crate::exit::CliError;
use crate::output;
use crate::random;
use clap::Args;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use torr_live::{Dashboard, DashboardSettings, Load};
use torr_press::Plan;

/// The flags of a dashboard.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct DashboardArgs {
    /// Show the run as a page in browsers, with buttons that pause, steer and end it [default ADDR: a free port of 127.0.0.1].
    /// Beyond loopback it has TLS and a token, which is in the URL that is printed
    #[arg(
        long,
        value_name = "ADDR",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "127.0.0.1:0",
        value_parser = address
    )]
    pub dashboard: Option<SocketAddr>,
    /// The certificate of the dashboard, as PEM [default beyond loopback: one that is made for the run]
    #[arg(long, value_name = "FILE", requires_all = ["dashboard", "dashboard_key"])]
    pub dashboard_cert: Option<PathBuf>,
    /// The key of the dashboard's certificate, as PEM
    #[arg(long, value_name = "FILE", requires_all = ["dashboard", "dashboard_cert"])]
    pub dashboard_key: Option<PathBuf>,
}

/// Returns whether a text is the address of a dashboard.
pub fn is_address(text: &str) -> bool {
    address(text).is_ok()
}

impl DashboardArgs {
    /// Serves the dashboard of a plan, which has a steering, if there is to be one. Prints its URL, and returns both.
    ///
    /// # Errors
    /// If the address cannot be listened on, or the certificate cannot be read or made.
    pub fn start(&self, plan: &Plan) -> Result<Option<(Dashboard, String)>, CliError> {
        let (Some(address), Some(steering)) = (self.dashboard, &plan.steering) else { return Ok(None) };
        let is_open = !address.ip().is_loopback();
        let given = self.dashboard_cert.clone().zip(self.dashboard_key.clone());
        let own = (is_open && given.is_none()).then(|| own_certificate(address.ip())).transpose()?;
        let settings = DashboardSettings {
            address,
            token: is_open.then(random::name),
            tls: given.or_else(|| own.as_ref().map(OwnCertificate::files)),
        };
        let dashboard = Dashboard::start(settings, Load::of(plan), steering.clone());
        let dashboard = dashboard.map_err(|error| CliError::Usage(format!("--dashboard: {error}")))?;
        // No browser can open an address that stands for all of a machine.
        let any = format!("//{}:", SocketAddr::new(address.ip(), 0).to_string().trim_end_matches(":0"));
        let url = match address.ip().is_unspecified() {
            true => dashboard.url().replacen(&any, &format!("//{}:", hostname()), 1),
            false => dashboard.url().to_owned(),
        };
        output::note(&format!("dashboard: {url}"));
        if let Some(own) = own {
            output::note(&format!("its certificate was made for this run, SHA-256 {}", own.fingerprint));
        }
        Ok(Some((dashboard, url)))
    }
}

fn own_certificate(address: IpAddr) -> Result<OwnCertificate, CliError> {
    let names = [address.to_string(), hostname(), "localhost".to_owned()];
    OwnCertificate::make(names).map_err(|error| CliError::Failed(format!("no certificate for the dashboard: {error}")))
}

fn hostname() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    Some(name.trim()).filter(|name| !name.is_empty()).unwrap_or("localhost").to_owned()
}

/// Parses an address, or the port of one on loopback.
fn address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = text.trim_start_matches(':').parse::<u16>() {
        return Ok(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port));
    }
    text.parse().map_err(|_| "an address with a port, such as 127.0.0.1:8089, or a port alone".into())
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn a_port_alone_is_one_of_loopback() {
        for (text, parsed) in [("8089", "127.0.0.1:8089"), (":8089", "127.0.0.1:8089"), ("[::]:1", "[::]:1")] {
            assert_eq!(address(text).map(|address| address.to_string()).as_deref(), Ok(parsed));
        }
        for text in ["", "localhost", "127.0.0.1", "70000", "a:1"] {
            assert!(address(text).is_err(), "{text}");
        }
    }
}
