//! The options that are read and have no effect here.

use super::error::Warning;
use super::options_type::Options;

/// Returns a warning for each option that is set and has no effect.
pub fn unsupported(options: &Options) -> Vec<Warning> {
    let set = [
        ("rps", options.rps.is_some_and(|rps| rps > 0)),
        ("dns", options.dns.is_some()),
        ("tlsAuth", options.tls_auth.as_ref().is_some_and(|all| !all.is_empty())),
        ("tlsCipherSuites", options.tls_cipher_suites.as_ref().is_some_and(|all| !all.is_empty())),
        ("localIPs", options.local_ips.as_ref().is_some_and(|addresses| !addresses.is_empty())),
    ];
    let set = set.into_iter().filter(|(_, is_set)| *is_set);
    set.map(|(name, _)| Warning(format!("the option {name} is not supported and has no effect"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_effect_is_named() {
        let options = Options { rps: Some(5), batch: Some(3), ..Options::default() };
        let warnings: Vec<_> = unsupported(&options).into_iter().map(|warning| warning.0).collect();
        assert_eq!(warnings, ["the option rps is not supported and has no effect"]);
        assert!(unsupported(&Options { rps: Some(0), ..Options::default() }).is_empty());
    }
}
