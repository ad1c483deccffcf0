//! The words for the limiting factor of a verdict.

use torr_gauge::{Confidence, Verdict};

/// The words for a factor, in three parts, since outputs emphasise its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named<'n> {
    /// The words before the name; all words where no factor is named.
    pub before: &'static str,
    /// The name of the factor, or of the one that an unknown factor most likely is.
    pub name: Option<&'n str>,
    /// The words behind the name.
    pub behind: String,
}

/// Returns the words for a factor, with the confidence and what that means; for an unknown one, with the best hypothesis. What a newer
/// version names stays as it is.
pub fn named<'n>(factor: &'n str, confidence: &str, best: Option<&'n str>) -> Named<'n> {
    let known = [Confidence::Certain, Confidence::Likely, Confidence::Unknown];
    let meaning = known.into_iter().find(|known| known.to_string() == confidence).map(meaning);
    let meaning = meaning.map_or_else(String::new, |meaning| format!(": {meaning}"));
    words(factor, confidence, best, "limiting factor ", &meaning)
}

/// Returns the words for the factor of a verdict, with the confidence and what that means.
pub fn factor(verdict: &Verdict) -> Named<'static> {
    named(verdict.factor.name(), &verdict.confidence.to_string(), best(verdict))
}

/// Returns the words for the factor of a verdict where a line has room for few.
pub fn brief_factor(verdict: &Verdict) -> Named<'static> {
    limited(verdict.factor.name(), &verdict.confidence.to_string(), best(verdict))
}

/// Returns the name of the best hypothesis of a verdict.
fn best(verdict: &Verdict) -> Option<&'static str> {
    verdict.hypotheses.first().map(|best| best.factor.name())
}

fn limited<'n>(factor: &'n str, confidence: &str, best: Option<&'n str>) -> Named<'n> {
    words(factor, confidence, best, "limited by ", "")
}

fn words<'n>(
    factor: &'n str,
    confidence: &str,
    best: Option<&'n str>,
    before: &'static str,
    meaning: &str,
) -> Named<'n> {
    let unnamed = |before| Named { before, name: None, behind: String::new() };
    match (factor, confidence) {
        // A rate that was kept is counted, not inferred: it needs no confidence.
        ("none", _) => unnamed("no limiting factor"),
        ("unknown", _) | (_, "unknown") if best.is_some() => {
            Named { name: best, ..unnamed("limiting factor unknown, most likely ") }
        }
        ("unknown", _) | (_, "unknown") => unnamed("limiting factor unknown"),
        _ => Named { before, name: Some(factor), behind: format!(" ({confidence}{meaning})") },
    }
}

/// Returns what the confidence of a verdict means.
fn meaning(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::Certain => "confirmed by experiments",
        Confidence::Likely => "not confirmed by experiments",
        Confidence::Unknown => "the evidence does not single out one factor",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use torr_gauge::Factor;

    #[test]
    fn a_factor_is_named_with_its_confidence() {
        let text = |Named { before, name, behind }: Named<'_>| format!("{before}{}{behind}", name.unwrap_or_default());
        for (factor, confidence, long, short) in [
            (
                Factor::ServerCpu,
                Confidence::Likely,
                "limiting factor server-cpu (likely: not confirmed by experiments)",
                "limited by server-cpu (likely)",
            ),
            (Factor::None, Confidence::Certain, "no limiting factor", "no limiting factor"),
            (Factor::Unknown, Confidence::Unknown, "limiting factor unknown", "limiting factor unknown"),
            (Factor::Lock, Confidence::Unknown, "limiting factor unknown", "limiting factor unknown"),
        ] {
            let (factor, confidence) = (factor.to_string(), confidence.to_string());
            assert_eq!(text(named(&factor, &confidence, None)), long);
            assert_eq!(text(limited(&factor, &confidence, None)), short);
        }
        assert_eq!(text(named("new", "sure", None)), "limiting factor new (sure)");
        let guessed = "limiting factor unknown, most likely lock";
        assert_eq!(text(named("unknown", "unknown", Some("lock"))), guessed);
        assert_eq!(text(limited("unknown", "unknown", Some("lock"))), guessed);
    }
}
