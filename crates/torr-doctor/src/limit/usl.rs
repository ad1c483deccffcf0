//! The universal scalability law, fitted to throughput at several numbers of connections.
//!
//! `X(N) = lambda N / (1 + sigma (N - 1) + kappa N (N - 1))`: `lambda` is the throughput of one connection, `sigma` contention,
//! `kappa` coherency (N. Gunther, *Guerrilla Capacity Planning*, 2007).

use serde::Serialize;

/// The least number of points for three coefficients.
const FEWEST: usize = 4;
/// The largest root mean square of the relative error of a fit that is good.
const OFF: f64 = 0.1;
/// The iterations of refinement, more than needed.
const ROUNDS: usize = 30;
/// The largest ratio of a peak's connections to the last point's: a further peak is not reported.
const FORESIGHT: f64 = 2.0;

/// The fitted law.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Fit {
    /// Requests per second with one connection.
    pub lambda: f64,
    /// Contention, 0 or more.
    pub sigma: f64,
    /// Coherency, 0 or more, which makes throughput fall again.
    pub kappa: f64,
    /// The share of throughput's variance that the fit explains.
    pub r2: f64,
    /// The root mean square of the relative error.
    pub off: f64,
    /// Whether the fit is good. Otherwise its coefficients are meaningless.
    pub good: bool,
    /// The number of connections with the highest throughput, `sqrt((1 - sigma) / kappa)`, if it is in or near the measured range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak: Option<f64>,
}

impl Fit {
    /// Returns the throughput at a number of connections.
    pub fn at(&self, n: f64) -> f64 {
        self.lambda * n / (1.0 + self.sigma * (n - 1.0) + self.kappa * n * (n - 1.0))
    }

    /// Returns the peak by its formula. `None` if throughput does not fall.
    fn formula(&self) -> Option<f64> {
        (self.kappa > 0.0).then(|| ((1.0 - self.sigma).max(0.0) / self.kappa).sqrt().max(1.0))
    }
}

/// Fits the law to pairs of connections and throughput. `None` for too few pairs.
///
/// `N / X` is linear in multiples of the coefficients, so a first solution is that of non-negative least squares. It is refined to
/// the least squares of relative errors, since the noise of throughput is proportional to it.
pub fn fit(points: &[(f64, f64)]) -> Option<Fit> {
    let sound = |point: &&(f64, f64)| point.0 >= 1.0 && point.1 > 0.0;
    let points: Vec<_> = points.iter().filter(sound).copied().collect();
    if points.len() < FEWEST {
        return None;
    }
    let y: Vec<f64> = points.iter().map(|(n, x)| n / x).collect();
    let rows: Vec<[f64; 3]> = points.iter().map(|(n, _)| [1.0, n - 1.0, n * (n - 1.0)]).collect();
    let mut found = least_squares(&rows, &y, &y)?;
    for _ in 0..ROUNDS {
        // A Gauss-Newton step for the logarithms of N / X.
        let law: Vec<f64> = rows.iter().map(|row| dot(row, &found)).collect();
        let aim: Vec<f64> = law.iter().zip(&y).map(|(law, y)| law + law * (y / law).ln()).collect();
        let next = least_squares(&rows, &aim, &law)?;
        let moved = next.iter().zip(&found).any(|(a, b)| (a - b).abs() > 1e-12 * b.abs());
        found = next;
        if !moved {
            break;
        }
    }
    let [a, b, c] = found;
    Some(judged(
        Fit { lambda: 1.0 / a, sigma: b / a, kappa: c / a, r2: 0.0, off: 0.0, good: false, peak: None },
        &points,
    ))
}

/// Returns the fit with its quality and peak.
fn judged(fit: Fit, points: &[(f64, f64)]) -> Fit {
    let count = points.len() as f64;
    let mean = points.iter().map(|(_, x)| x).sum::<f64>() / count;
    let spread: f64 = points.iter().map(|(_, x)| (x - mean).powi(2)).sum();
    let left: f64 = points.iter().map(|&(n, x)| (x - fit.at(n)).powi(2)).sum();
    let off = (points.iter().map(|&(n, x)| (x / fit.at(n) - 1.0).powi(2)).sum::<f64>() / count).sqrt();
    // Where throughput hardly varies, there is no variance to explain, and only the error counts.
    let r2 = if spread > 0.0 { (1.0 - left / spread).clamp(-1.0, 1.0) } else { 1.0 };
    let most = points.iter().map(|(n, _)| *n).fold(1.0, f64::max);
    let good = off <= OFF;
    let peak = fit.formula().filter(|&peak| good && peak <= FORESIGHT * most);
    Fit { r2, off, good, peak, ..fit }
}

/// Returns the coefficients, the first positive and none negative, with the least sum of `((row . coefficients - y) / scale)^2`.
fn least_squares(rows: &[[f64; 3]], y: &[f64], scale: &[f64]) -> Option<[f64; 3]> {
    // All subsets of three coefficients can be tried.
    let tries = [[true, true, true], [true, true, false], [true, false, true], [true, false, false]];
    let solved = tries.iter().filter_map(|used| solve(rows, y, scale, used));
    let sound = solved.filter(|found| found[0] > 0.0 && found.iter().all(|c| *c >= 0.0 && c.is_finite()));
    let error = |found: &[f64; 3]| -> f64 {
        rows.iter().zip(y.iter().zip(scale)).map(|(row, (y, s))| ((dot(row, found) - y) / s).powi(2)).sum()
    };
    sound.min_by(|one, other| error(one).total_cmp(&error(other)))
}

/// Solves the normal equations by elimination, without bounds, with the unused coefficients at zero.
fn solve(rows: &[[f64; 3]], y: &[f64], scale: &[f64], used: &[bool; 3]) -> Option<[f64; 3]> {
    let columns: Vec<usize> = (0..3).filter(|&column| used[column]).collect();
    // Columns of similar magnitude lose the fewest digits.
    let size = |column: usize| rows.iter().zip(scale).map(|(row, s)| row[column] / s).fold(f64::MIN_POSITIVE, f64::max);
    let sizes = [size(0), size(1), size(2)];
    let entry = |row: &[f64; 3], s: f64, column: usize| row[column] / s / sizes[column];
    let of = columns.len();
    let mut matrix = vec![vec![0.0; of + 1]; of];
    for ((row, y), &s) in rows.iter().zip(y).zip(scale) {
        for (i, &column) in columns.iter().enumerate() {
            for (j, &other) in columns.iter().enumerate() {
                matrix[i][j] += entry(row, s, column) * entry(row, s, other);
            }
            matrix[i][of] += entry(row, s, column) * y / s;
        }
    }
    for pivot in 0..of {
        let best = (pivot..of).max_by(|&a, &b| matrix[a][pivot].abs().total_cmp(&matrix[b][pivot].abs()))?;
        matrix.swap(pivot, best);
        if matrix[pivot][pivot].abs() < 1e-14 {
            return None;
        }
        let head = matrix[pivot].clone();
        for (_, row) in matrix.iter_mut().enumerate().filter(|(at, _)| *at != pivot) {
            let factor = row[pivot] / head[pivot];
            row.iter_mut().zip(&head).for_each(|(mine, theirs)| *mine -= factor * theirs);
        }
    }
    let mut found = [0.0; 3];
    for (i, &column) in columns.iter().enumerate() {
        found[column] = matrix[i][of] / matrix[i][i] / sizes[column];
    }
    Some(found)
}

fn dot(row: &[f64; 3], coefficients: &[f64; 3]) -> f64 {
    row.iter().zip(coefficients).map(|(x, c)| x * c).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;

    const LADDER: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];

    fn law(lambda: f64, sigma: f64, kappa: f64) -> Fit {
        Fit { lambda, sigma, kappa, r2: 1.0, off: 0.0, good: true, peak: None }
    }

    fn points(of: &Fit, mut noise: impl FnMut() -> f64) -> Vec<(f64, f64)> {
        LADDER.iter().map(|&n| (n, of.at(n) * noise())).collect()
    }

    fn near(a: f64, b: f64, share: f64) -> bool {
        (a - b).abs() <= share * b.abs() + 1e-9
    }

    #[test]
    fn known_coefficients_are_found_again() {
        for (lambda, sigma, kappa) in [
            (1000.0, 0.02, 0.0005),
            (50.0, 0.3, 0.001),
            (9e4, 0.0, 1e-4),
            (700.0, 0.1, 0.0),
            (20.0, 0.0, 0.0),
            (5.0, 1.0, 0.0),
        ] {
            let truth = law(lambda, sigma, kappa);
            let found = fit(&points(&truth, || 1.0)).expect("there are points enough");
            assert!(near(found.lambda, lambda, 1e-6) && found.good, "{found:?} of {truth:?}");
            assert!(near(found.sigma, sigma, 1e-5) && near(found.kappa, kappa, 1e-5), "{found:?} of {truth:?}");
        }
    }

    #[test]
    fn noise_moves_them_little() {
        let truth = law(1000.0, 0.05, 0.0005);
        let peak = truth.formula().expect("it falls again");
        for seed in 0..200 {
            let mut random = Rng::with_seed(seed);
            let found = fit(&points(&truth, || 0.97 + 0.06 * random.f64())).expect("there are points enough");
            assert!(found.good && found.r2 > 0.97 && found.off < 0.03, "{seed}: {found:?}");
            assert!(near(found.lambda, truth.lambda, 0.08), "{seed}: {found:?}");
            assert!(found.peak.is_some_and(|n| near(n, peak, 0.2)), "{seed}: {found:?}, the peak is at {peak}");
            assert!(found.sigma >= 0.0 && found.kappa >= 0.0, "{seed}: {found:?}");
        }
    }

    #[test]
    fn what_grows_faster_than_straight_has_no_coefficient_below_zero() {
        let found = fit(&LADDER.map(|n| (n, 100.0 * n.powf(1.1)))).expect("there are points enough");
        assert!(found.sigma == 0.0 && found.kappa == 0.0 && found.peak.is_none() && !found.good, "{found:?}");
    }

    #[test]
    fn a_straight_line_and_a_level_one() {
        let straight = fit(&LADDER.map(|n| (n, 100.0 * n))).expect("there are points enough");
        assert!(straight.good && near(straight.lambda, 100.0, 1e-9) && straight.peak.is_none(), "{straight:?}");
        let level = fit(&LADDER.map(|n| (n, 500.0))).expect("there are points enough");
        assert!(level.good && near(level.sigma, 1.0, 1e-6) && level.peak.is_none_or(|n| n < 1.1), "{level:?}");
        let mut random = Rng::with_seed(1);
        let wavy = fit(&LADDER.map(|n| (n, 490.0 + 20.0 * random.f64()))).expect("there are points enough");
        assert!(wavy.good && near(wavy.at(16.0), 500.0, 0.05), "{wavy:?}");
    }

    #[test]
    fn what_falls_from_the_start_has_its_peak_there() {
        let found = fit(&LADDER.map(|n| (n, 500.0 / n.sqrt()))).expect("there are points enough");
        assert!(found.formula().is_none_or(|peak| peak < 2.0), "{found:?}");
        let steep = fit(&points(&law(100.0, 0.0, 1.0), || 1.0)).expect("there are points enough");
        assert!(steep.peak.is_some_and(|n| near(n, 1.0, 0.01)), "{steep:?}");
    }

    #[test]
    fn what_it_does_not_describe_is_not_good() {
        let jumps = LADDER.map(|n| {
            (
                n,
                if n < 8.0 {
                    100.0 * n
                } else if n < 64.0 {
                    300.0
                } else {
                    5000.0
                },
            )
        });
        let found = fit(&jumps).expect("there are points enough");
        assert!(!found.good && found.peak.is_none(), "{found:?}");
    }

    #[test]
    fn a_peak_far_beyond_the_measured_range_is_not_reported() {
        let truth = law(100.0, 0.0, 1e-8);
        let found = fit(&points(&truth, || 1.0)).expect("there are points enough");
        assert!(found.formula().is_some_and(|n| n > 9_000.0) && found.peak.is_none(), "{found:?}");
    }

    #[test]
    fn too_few_points_are_no_law() {
        for points in
            [&[][..], &[(1.0, 10.0), (2.0, 20.0), (4.0, 30.0)], &[(1.0, 0.0), (2.0, 0.0), (4.0, 0.0), (8.0, 1.0)]]
        {
            assert_eq!(fit(points), None);
        }
    }
}
