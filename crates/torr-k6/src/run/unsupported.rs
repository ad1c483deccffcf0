//! The options that are read and have no effect here, as a whole or in part.

use super::servers;
use crate::metrics::split_name;
use crate::options::{Options, Warning};

/// Returns a warning for each option that is set and has no effect, as a whole or in part.
pub(super) fn warnings(options: &Options) -> Vec<Warning> {
    let suites = servers::unsupported_suites(options);
    let warning = || Warning(format!("tlsCipherSuites: not supported and not offered: {}", suites.join(", ")));
    let selecting = options.thresholds.iter().flatten().filter_map(|(name, _)| numbered(name));
    (!suites.is_empty()).then(warning).into_iter().chain(selecting).collect()
}

/// Returns a warning for the name of a sub-metric that selects virtual users or iterations by their numbers.
fn numbered(name: &str) -> Option<Warning> {
    let tags = split_name(name).ok()?.1?.tags;
    let (tag, _) = tags.into_iter().find(|(tag, _)| ["vu", "iter"].contains(&tag.as_str()))?;
    Some(Warning(format!("thresholds.{name}: '{tag}' is metadata and no tag, so that no sample matches")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_effect_is_named() {
        let suites = ["TLS_RSA_WITH_RC4_128_SHA", "TLS_AES_128_GCM_SHA256", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"];
        let tls_cipher_suites = Some(suites.map(str::to_owned).to_vec());
        let found = warnings(&Options { tls_cipher_suites, ..Options::default() });
        let expected = "tlsCipherSuites: not supported and not offered: TLS_RSA_WITH_RC4_128_SHA";
        assert_eq!(found, [Warning(expected.to_owned())]);
        assert!(warnings(&Options { rps: Some(1), ..Options::default() }).is_empty());
        let thresholds = ["checks{scenario:a}", "checks{scenario:a,vu:1}"].map(|name| (name.to_owned(), Vec::new()));
        let found = warnings(&Options { thresholds: Some(thresholds.into()), ..Options::default() });
        let expected = "thresholds.checks{scenario:a,vu:1}: 'vu' is metadata and no tag, so that no sample matches";
        assert_eq!(found, [Warning(expected.to_owned())]);
    }
}
