//! The options that are read and have no effect here, as a whole or in part.

use super::servers;
use crate::options::{Options, Warning};

/// Returns a warning for each option that is set and has no effect, as a whole or in part.
pub(super) fn warnings(options: &Options) -> Vec<Warning> {
    let suites = servers::unsupported_suites(options);
    let warning = || Warning(format!("tlsCipherSuites: not supported and not offered: {}", suites.join(", ")));
    (!suites.is_empty()).then(warning).into_iter().collect()
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
    }
}
