//! The values of a context of which some are missing.

use std::sync::Arc;

use minijinja::Value;
use minijinja::value::Object;

use crate::missing::MissingFacts;

/// The values of a context; a look at one that nobody wrote down is noted.
#[derive(Debug)]
pub(super) struct WatchedValues {
    values: Value,
    missing: MissingFacts,
}

impl WatchedValues {
    /// `values`, watched where something is missing.
    pub(super) fn over(values: Value, missing: &MissingFacts) -> Value {
        if missing.is_empty() {
            return values;
        }
        Value::from_object(Self { values, missing: missing.clone() })
    }
}

impl Object for WatchedValues {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let name = key.as_str()?;
        self.missing.look(name);
        self.values.get_attr(name).ok().filter(|value| !value.is_undefined())
    }
}
