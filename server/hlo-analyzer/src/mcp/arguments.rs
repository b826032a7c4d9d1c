//! Arguments of a call, checked against the parameters of its tool.

use serde_json::{Map, Value};

use super::tools::{Kind, Tool};
use crate::api::{ApiError, ErrorKind};

/// The arguments of one call. Each has the type that the table of tools states.
pub(super) struct Arguments(Map<String, Value>);

pub(super) fn invalid(message: impl Into<String>) -> ApiError {
    ApiError::new(ErrorKind::InvalidParams, message)
}

impl Arguments {
    /// # Errors
    /// An argument is unknown or missing, or has another type; the message says what the tool takes.
    pub(super) fn checked(tool: &Tool, given: Map<String, Value>) -> Result<Arguments, ApiError> {
        let name = tool.name;
        for (key, value) in &given {
            let Some(parameter) = tool.parameters().find(|parameter| parameter.name == key) else {
                let known: Vec<&str> = tool.parameters().map(|parameter| parameter.name).collect();
                return Err(invalid(format!(
                    "{name} has no argument \"{key}\"; it has {}",
                    known.join(", ")
                )));
            };
            let fits = match parameter.kind {
                Kind::Text => value.is_string(),
                Kind::Number => value.as_u64().is_some(),
                Kind::Flag => value.is_boolean(),
                Kind::One(words) => value.as_str().is_some_and(|word| words.contains(&word)),
            };
            if !fits && !value.is_null() {
                let wanted = parameter.kind.in_words();
                return Err(invalid(format!("\"{key}\" of {name} is {wanted}, not {value}")));
            }
        }
        let is_missing = |name: &str| given.get(name).is_none_or(Value::is_null);
        if let Some(missing) = tool.parameters().find(|one| one.is_required && is_missing(one.name)) {
            return Err(invalid(format!("{name} needs \"{}\": {}", missing.name, missing.about)));
        }
        Ok(Arguments(given))
    }

    /// A text; `None` if it is not given or blank.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str().map(str::trim).filter(|text| !text.is_empty())
    }

    /// A text that the table requires.
    ///
    /// # Errors
    /// It is blank.
    pub(super) fn required(&self, name: &str) -> Result<&str, ApiError> {
        self.text(name).ok_or_else(|| invalid(format!("\"{name}\" is blank")))
    }

    pub(super) fn number(&self, name: &str) -> Option<usize> {
        usize::try_from(self.0.get(name)?.as_u64()?).ok()
    }

    pub(super) fn flag(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    /// The name of an instruction without `%`.
    ///
    /// # Errors
    /// It is blank.
    pub(super) fn instruction(&self) -> Result<String, ApiError> {
        Ok(self.required("instruction")?.trim_start_matches('%').to_owned())
    }

    /// Some of the arguments, as parameters of a request of `query`.
    pub(super) fn only(&self, names: &[&str]) -> Value {
        let given = names.iter().filter_map(|name| Some(((*name).to_owned(), self.0.get(*name)?.clone())));
        Value::Object(given.filter(|(_, value)| !value.is_null()).collect())
    }

    /// All of them but where the page starts and how long it is.
    pub(super) fn without_page(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_str(), value))
            .filter(|(name, value)| !matches!(*name, "limit" | "cursor") && !value.is_null())
    }
}
