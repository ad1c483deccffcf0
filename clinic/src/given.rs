//! The verdicts of other tools, of people and of models: one as a program writes it, and a file of many.

use crate::finding::Finding;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;
use torr_gauge::{Confidence, Factor, Gain};
use torr_test_support::error::Error;

/// The version of [`GivenVerdicts`].
const SCHEMA: &str = "torr.clinic.verdicts/1";

/// The verdicts on some cases.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GivenVerdicts {
    /// [`SCHEMA`].
    schema: String,
    /// The judged one: a program with its version, a model, a person.
    pub by: String,
    /// The verdicts, each with its case.
    pub verdicts: Vec<OfCase>,
}

/// A verdict on a case.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct OfCase {
    /// The id of the case.
    pub case: String,
    /// The verdict.
    #[serde(flatten)]
    pub verdict: GivenVerdict,
}

/// A verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GivenVerdict {
    /// The factor that limits the service under the load; `unknown` if the judged one does not know it.
    pub factor: Factor,
    /// How sure the judged one is.
    pub confidence: Confidence,
    /// The factor by which throughput rises if the advice is followed; `None` without a promise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gain: Option<Interval>,
    /// How long the diagnosis took, in seconds; `None` if it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// The reasons and the advice in words, which nothing judges.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
}

/// A promised interval of factors of throughput.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interval {
    /// The least gain; `None` if it is open.
    #[serde(default)]
    pub low: Option<f64>,
    /// The highest gain; `None` if it is open.
    #[serde(default)]
    pub high: Option<f64>,
}

impl GivenVerdicts {
    /// Reads a file.
    ///
    /// # Errors
    /// If the file is not of the schema.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = fs::read_to_string(path).map_err(Error::at(format!("cannot read {}", path.display())))?;
        Self::parse(&text).map_err(|error| Error::Usage(format!("{}: {error}", path.display())))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let verdicts: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if verdicts.schema != SCHEMA {
            return Err(format!("the schema is '{}', expected '{SCHEMA}'", verdicts.schema));
        }
        for OfCase { case, verdict } in &verdicts.verdicts {
            verdict.check().map_err(|why| format!("case '{case}': {why}"))?;
        }
        Ok(verdicts)
    }
}

impl GivenVerdict {
    /// Reads what a program has written.
    ///
    /// # Errors
    /// If that is no verdict.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let verdict: Self = serde_json::from_str(text).map_err(Error::at("not a verdict"))?;
        verdict.check().map_err(Error::Usage)?;
        Ok(verdict)
    }

    /// Checks what the types leave open.
    fn check(&self) -> Result<(), String> {
        let Interval { low, high } = self.gain.unwrap_or(Interval { low: None, high: None });
        if [low, high].into_iter().flatten().any(|factor| factor <= 0.0) {
            return Err("a factor of 'gain' must be more than 0".into());
        }
        if low.zip(high).is_some_and(|(low, high)| low > high) {
            return Err("'low' of 'gain' must be at most 'high'".into());
        }
        match self.seconds.is_some_and(|seconds| seconds < 0.0) {
            true => Err("'seconds' must be 0 or more".into()),
            false => Ok(()),
        }
    }

    /// Returns the verdict as a finding that can be judged. `took` is how long the program ran, in seconds.
    pub fn finding(self, took: f64) -> Finding {
        let trail = serde_json::to_value(&self).expect("a verdict is plain data");
        let gain = self.gain.map(|Interval { low, high }| Gain { low, high, reason: None, summary: String::new() });
        Finding {
            factor: self.factor,
            confidence: self.confidence,
            seconds: self.seconds.unwrap_or(took),
            summary: self.text,
            gain,
            trail,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;
    use std::collections::BTreeSet;

    const VERDICTS: &str = r#"{
        "schema": "torr.clinic.verdicts/1",
        "by": "a person",
        "verdicts": [
            {"case": "8f3a12", "factor": "lock", "confidence": "certain", "gain": {"low": 2, "high": 4}, "seconds": 31.5,
             "text": "one request at a time"},
            {"case": "0077aa", "factor": "unknown", "confidence": "unknown"}
        ]
    }"#;

    #[test]
    fn a_file_of_verdicts_is_read() {
        let verdicts = GivenVerdicts::parse(VERDICTS).expect("it is of the schema");
        assert_eq!((verdicts.by.as_str(), verdicts.verdicts.len()), ("a person", 2));
        let finding = verdicts.verdicts[0].verdict.clone().finding(0.0);
        assert_eq!((finding.factor, finding.confidence, finding.seconds), (Factor::Lock, Confidence::Certain, 31.5));
        assert_eq!(finding.gain.map(|gain| (gain.low, gain.high)), Some((Some(2.0), Some(4.0))));
        assert_eq!(verdicts.verdicts[1].verdict.gain, None);
        assert!(GivenVerdicts::parse(&VERDICTS.replace("verdicts/1", "verdicts/9")).is_err());
        assert!(GivenVerdicts::parse(&VERDICTS.replace("\"lock\"", "\"the lock\"")).is_err());
    }

    #[test]
    fn a_verdict_without_a_duration_took_as_long_as_its_program() {
        let verdict =
            GivenVerdict::parse("{\"factor\": \"workers\", \"confidence\": \"likely\"}\n").expect("it is one");
        assert_eq!((verdict.factor, verdict.clone().finding(9.0).seconds), (Factor::Workers, 9.0));
        assert!(GivenVerdict::parse("no idea").is_err() && GivenVerdict::parse("").is_err());
    }

    #[test]
    fn numbers_beyond_their_bounds_are_refused() {
        for (field, why) in [
            (r#""gain": {"low": 0}"#, "a factor of 'gain' must be more than 0"),
            (r#""gain": {"high": -1}"#, "a factor of 'gain' must be more than 0"),
            (r#""gain": {"low": 3, "high": 2}"#, "'low' of 'gain' must be at most 'high'"),
            (r#""seconds": -1"#, "'seconds' must be 0 or more"),
        ] {
            let verdict = format!(r#""factor": "lock", "confidence": "likely", {field}"#);
            let error = GivenVerdict::parse(&format!("{{{verdict}}}")).expect_err(field);
            assert_eq!(error.to_string(), why);
            let file = format!(r#"{{"schema": "{SCHEMA}", "by": "b", "verdicts": [{{"case": "8f3a12", {verdict}}}]}}"#);
            assert_eq!(GivenVerdicts::parse(&file).err(), Some(format!("case '8f3a12': {why}")));
        }
    }

    /// The schema for others says what this module reads.
    #[test]
    fn the_schema_names_each_field_and_each_factor() {
        let schema: Value = serde_json::from_str(include_str!("../verdicts.schema.json")).expect("it is JSON");
        let names = |at: &str| -> BTreeSet<String> {
            let properties = schema.pointer(at).and_then(Value::as_object);
            properties.expect("it has properties").keys().cloned().collect()
        };
        let of = |text: &str| -> BTreeSet<String> {
            let value: Value = serde_json::from_str(text).expect("it is JSON");
            value.as_object().expect("it is an object").keys().cloned().collect()
        };
        let verdicts: Value = serde_json::from_str(VERDICTS).expect("it is JSON");
        assert_eq!(names("/properties"), of(VERDICTS));
        assert_eq!(names("/$defs/verdict/properties"), of(&verdicts["verdicts"][0].to_string()));
        let factors = schema.pointer("/$defs/verdict/properties/factor/enum").and_then(Value::as_array);
        for factor in factors.expect("it is a list") {
            serde_json::from_value::<Factor>(factor.clone()).expect("Torr has the factor");
        }
        let listed: BTreeSet<_> = factors.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
        let planted = crate::subjects::all().into_iter().flat_map(|subject| subject.label.factors);
        for factor in planted {
            assert!(listed.contains(&factor.to_string()), "{factor} is missing");
        }
    }
}
