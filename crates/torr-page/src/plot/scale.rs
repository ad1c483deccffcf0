//! Scales: from a figure to a share of an axis, and the ticks of the axis.

/// The scale of an axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scale {
    /// From the first number to the second, evenly.
    Linear(f64, f64),
    /// From the first number to the second, by their logarithms. Both are above 0.
    Log(f64, f64),
}

impl Scale {
    /// Returns a linear scale from 0 to a round number at or above `most`.
    pub fn from_zero(most: f64) -> Self {
        let most = if most > 0.0 { most } else { 1.0 };
        let step = round_step(most, 4.0);
        Self::Linear(0.0, (most / step).ceil() * step)
    }

    /// Returns a scale for times: by logarithms where the largest is more than twenty times the smallest.
    pub fn of_times(least: f64, most: f64) -> Self {
        if least > 0.0 && most > least * 20.0 {
            Self::Log(10f64.powf(least.log10().floor()), most * 1.15)
        } else {
            Self::from_zero(most)
        }
    }

    /// Returns where a figure lies on the axis: 0 at its beginning, 1 at its end.
    pub fn share(self, figure: f64) -> f64 {
        let share = match self {
            Self::Linear(from, to) => (figure - from) / (to - from),
            Self::Log(from, to) => (figure.max(from) / from).ln() / (to / from).ln(),
        };
        if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Returns the figures at which the axis has a tick; none where a logarithmic scale begins at 0 or has no end.
    pub fn ticks(self) -> Vec<f64> {
        match self {
            Self::Linear(from, to) => {
                let step = round_step(to - from, 4.0);
                let first = (from / step).ceil() as i64;
                let last = (to / step + 1e-9).floor() as i64;
                (first..=last).map(|tick| tick as f64 * step).collect()
            }
            Self::Log(from, to) if !(from > 0.0 && to.is_finite()) => Vec::new(),
            Self::Log(from, to) => {
                let decades = from.log10().floor() as i32..=to.log10().floor() as i32;
                // Few decades have ticks between them.
                let steps: &[f64] = if to / from < 150.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
                let ticks = decades.flat_map(|decade| steps.iter().map(move |step| step * 10f64.powi(decade)));
                ticks.filter(|tick| (from * 0.999..=to * 1.001).contains(tick)).collect()
            }
        }
    }
}

/// Returns 1, 2, 2.5 or 5 times a power of ten, so that `span` has about `count` steps.
fn round_step(span: f64, count: f64) -> f64 {
    let rough = (span / count).max(f64::MIN_POSITIVE);
    let decade = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0].into_iter().find(|step| step * decade >= rough * 0.999);
    step.unwrap_or(10.0) * decade
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_within_the_axis() {
        assert_eq!(Scale::from_zero(37.0).ticks(), [0.0, 10.0, 20.0, 30.0, 40.0]);
        assert_eq!(Scale::from_zero(0.0).ticks(), [0.0, 0.25, 0.5, 0.75, 1.0]);
        assert_eq!(Scale::of_times(17.0, 39_039.0).ticks(), [10.0, 100.0, 1000.0, 10_000.0]);
        assert_eq!(Scale::Log(100.0, 1500.0).ticks(), [100.0, 200.0, 500.0, 1000.0]);
        assert_eq!(Scale::of_times(90.0, 110.0), Scale::Linear(0.0, 150.0));
        for (from, to) in [(0.0, 10.0), (1.0, f64::INFINITY), (f64::NAN, 1.0)] {
            assert!(Scale::Log(from, to).ticks().is_empty(), "{from} to {to} have no decades");
        }
    }

    #[test]
    fn shares_stay_within_the_plot() {
        let scale = Scale::Log(10.0, 1000.0);
        assert_eq!([scale.share(1.0), scale.share(10.0), scale.share(1e9)], [0.0, 0.0, 1.0]);
        assert!((scale.share(100.0) - 0.5).abs() < 1e-12);
        assert_eq!(Scale::Linear(0.0, 0.0).share(0.0), 0.0);
    }
}
