//! A load as JSON: the settings in their order, each with its value. Every value is read as that of a flag is.

use crate::given::Given;
use crate::load::Load;
use crate::setting::Kind;
use crate::settings::find;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The version of a load as JSON. One that a receiver does not know is refused.
const SCHEMA: &str = "torr.load/1";

/// A load as JSON.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Message {
    schema: String,
    /// Names and values; a switch has none.
    settings: Vec<(String, Option<String>)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    arguments: Vec<String>,
}

impl Serialize for Load {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let settings = self.given().into_iter().map(|given| (given.id, given.value)).collect();
        Message { schema: SCHEMA.into(), settings, arguments: self.arguments.clone() }.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Load {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let Message { schema, settings, arguments } = Message::deserialize(from)?;
        if schema != SCHEMA {
            return Err(D::Error::custom(format!("expected a load of schema {SCHEMA}, found another one")));
        }
        let given = settings.into_iter().map(|(name, value)| read(&name, value).map_err(D::Error::custom));
        let mut load = Self::of(&given.collect::<Result<Vec<_>, _>>()?).map_err(D::Error::custom)?;
        load.arguments = arguments;
        Ok(load)
    }
}

/// Returns a setting with a value of its kind.
fn read(name: &str, value: Option<String>) -> Result<Given, String> {
    let setting = find(name).ok_or("unknown setting in a load")?;
    match (setting.kind == Kind::Switch, &value) {
        (true, Some(_)) => Err(format!("'{}' must not have a value", setting.name)),
        (false, None) => Err(format!("missing value of '{}'", setting.name)),
        _ => Ok(Given::of(setting, value)),
    }
}
