//! The format of shares.

/// Formats a share of 0 to 1 as a percentage with two digits where it is small, but at most `decimals` decimals (2 at most).
pub fn percent(share: f64, decimals: usize) -> String {
    let wanted = match share.abs() * 100.0 {
        0.0 => return "0%".into(),
        percent if percent < 0.095 => 2,
        percent if percent < 9.95 => 1,
        _ => 0,
    };
    format!("{:.*}%", wanted.min(decimals), share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_have_a_limit() {
        let shares = [0.0, -0.0, 0.0005, 0.004, -0.031, 0.0994, 0.0996, 0.48, 1.0, 2.0];
        for (decimals, expected) in [
            (0, ["0%", "0%", "0%", "0%", "-3%", "10%", "10%", "48%", "100%", "200%"]),
            (1, ["0%", "0%", "0.1%", "0.4%", "-3.1%", "9.9%", "10%", "48%", "100%", "200%"]),
            (2, ["0%", "0%", "0.05%", "0.4%", "-3.1%", "9.9%", "10%", "48%", "100%", "200%"]),
        ] {
            assert_eq!(shares.map(|share| percent(share, decimals)), expected, "{decimals}");
        }
    }
}
