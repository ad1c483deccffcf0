//! Fewer points for drawing: neighbours become one column that keeps the least and the most of them.

/// The most columns of a plot; more than pixels of a plot on a phone, and enough for 1,280 of them.
const COLUMNS: usize = 360;

/// Neighbouring points of a series: where they begin, and the least and the most of their figures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Column {
    /// The middle of the points on the horizontal axis.
    pub x: f64,
    /// The least figure.
    pub least: f64,
    /// The most.
    pub most: f64,
}

/// Returns the columns of a series of points (x, figure), of which no extreme is lost.
pub fn columns(points: &[(f64, f64)]) -> Vec<Column> {
    let size = points.len().div_ceil(COLUMNS).max(1);
    let column = |points: &[(f64, f64)]| Column {
        x: (points[0].0 + points[points.len() - 1].0) / 2.0,
        least: points.iter().map(|point| point.1).fold(f64::INFINITY, f64::min),
        most: points.iter().map(|point| point.1).fold(f64::NEG_INFINITY, f64::max),
    };
    points.chunks(size).map(column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_peak_of_an_hour_is_kept() {
        let points: Vec<_> = (0..3600).map(|t| (f64::from(t), if t == 1234 { 99.0 } else { 1.0 })).collect();
        let columns = columns(&points);
        assert!(columns.len() <= COLUMNS);
        let peaks: Vec<_> = columns.iter().filter(|column| column.most == 99.0).collect();
        assert_eq!(peaks.len(), 1);
        assert!((peaks[0].x - 1234.0).abs() <= 10.0 && peaks[0].least == 1.0);
    }

    #[test]
    fn few_points_stay_as_they_are() {
        let found = columns(&[(1.0, 5.0), (2.0, 6.0)]);
        assert_eq!(found, [Column { x: 1.0, least: 5.0, most: 5.0 }, Column { x: 2.0, least: 6.0, most: 6.0 }]);
        assert!(columns(&[]).is_empty());
    }
}
