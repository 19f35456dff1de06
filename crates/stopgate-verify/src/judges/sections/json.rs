//! JSON that keeps the order and the spelling of what it does not change.

use serde::de::IgnoredAny;

/// A value: objects by their members, everything else as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum JsonText {
    Object(Vec<(String, JsonText)>),
    Raw(String),
}

impl JsonText {
    /// Reads a text; an empty one is an empty object.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() {
            return Ok(Self::Object(Vec::new()));
        }
        serde_json::from_str::<IgnoredAny>(text).map_err(|error| error.to_string())?;
        let mut reader = Reader { text, at: 0 };
        Ok(reader.value())
    }

    /// The last member of this name: readers take the last one, too.
    pub(super) fn get(&self, name: &str) -> Option<&Self> {
        let Self::Object(members) = self else { return None };
        members.iter().rev().find(|(own, _)| own == name).map(|(_, value)| value)
    }

    /// The member of this name, made where it is missing.
    pub(super) fn object_mut(&mut self, name: &str) -> Option<&mut Self> {
        let Self::Object(members) = self else { return None };
        if !members.iter().any(|(own, _)| own == name) {
            members.push((name.into(), Self::Object(Vec::new())));
        }
        let found = members.iter_mut().rev().find(|(own, _)| own == name);
        found.map(|(_, value)| value).filter(|value| matches!(value, Self::Object(_)))
    }

    /// Takes out every member of this name.
    pub(super) fn remove(&mut self, name: &str) {
        if let Self::Object(members) = self {
            members.retain(|(own, _)| own != name);
        }
    }

    /// Sets a member, where the old one was.
    pub(super) fn set(&mut self, name: &str, value: Self) {
        let Self::Object(members) = self else { return };
        let at = members.iter().position(|(own, _)| own == name).unwrap_or(members.len());
        members.retain(|(own, _)| own != name);
        members.insert(at.min(members.len()), (name.into(), value));
    }

    /// The names of its members.
    pub(super) fn names(&self) -> Vec<&str> {
        match self {
            Self::Object(members) => members.iter().map(|(name, _)| name.as_str()).collect(),
            Self::Raw(_) => Vec::new(),
        }
    }

    /// The value in one form, whatever its layout.
    pub(super) fn canonical(&self) -> String {
        match self {
            Self::Object(members) => {
                let mut names: Vec<&str> = self.names();
                names.sort_unstable();
                names.dedup();
                let one = |name: &&str| {
                    let value = self.get(name).map(Self::canonical).unwrap_or_default();
                    format!("{}:{value}", quoted(name))
                };
                let texts: Vec<String> = names.iter().map(one).collect();
                debug_assert!(texts.len() <= members.len(), "each name once");
                format!("{{{}}}", texts.join(","))
            }
            Self::Raw(text) => serde_json::from_str::<serde_json::Value>(text)
                .map_or_else(|_| text.clone(), |value| value.to_string()),
        }
    }

    /// The value as people lay it out.
    pub(super) fn render(&self) -> String {
        let mut text = String::new();
        self.write(&mut text, 0);
        text.push('\n');
        text
    }

    fn write(&self, text: &mut String, depth: usize) {
        match self {
            Self::Raw(raw) => text.push_str(raw),
            Self::Object(members) if members.is_empty() => text.push_str("{}"),
            Self::Object(members) => {
                text.push('{');
                let joints = std::iter::once("\n").chain(std::iter::repeat(",\n"));
                for ((name, value), joint) in members.iter().zip(joints) {
                    text.push_str(joint);
                    text.push_str(&"  ".repeat(depth + 1));
                    text.push_str(&quoted(name));
                    text.push_str(": ");
                    value.write(text, depth + 1);
                }
                text.push('\n');
                text.push_str(&"  ".repeat(depth));
                text.push('}');
            }
        }
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::String(text.into()).to_string()
}

/// Reads a text that is known to be JSON.
struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or_default()
    }

    fn space(&mut self) {
        while matches!(self.peek(), b' ' | b'\t' | b'\n' | b'\r') {
            self.at += 1;
        }
    }

    fn value(&mut self) -> JsonText {
        self.space();
        if self.peek() == b'{' {
            return self.object();
        }
        let from = self.at;
        self.skip();
        JsonText::Raw(self.text[from..self.at].into())
    }

    fn object(&mut self) -> JsonText {
        self.at += 1;
        let mut members = Vec::new();
        loop {
            self.space();
            match self.peek() {
                b'"' => {
                    let from = self.at;
                    self.string();
                    let name = serde_json::from_str(&self.text[from..self.at]).unwrap_or_default();
                    self.space();
                    self.at += 1;
                    members.push((name, self.value()));
                }
                b',' => self.at += 1,
                _ => {
                    self.at = (self.at + 1).min(self.text.len());
                    return JsonText::Object(members);
                }
            }
        }
    }

    fn string(&mut self) {
        self.at += 1;
        while self.at < self.text.len() && self.peek() != b'"' {
            self.at += if self.peek() == b'\\' { 2 } else { 1 };
        }
        self.at = (self.at + 1).min(self.text.len());
    }

    /// Goes to the end of a value that is not an object.
    fn skip(&mut self) {
        match self.peek() {
            b'"' => return self.string(),
            b'[' => {}
            _ => {
                let rest = &self.text[self.at..];
                let end = rest.find([',', ' ', '\n', '\r', '\t', ']', '}']);
                self.at += end.unwrap_or(rest.len());
                return;
            }
        }
        let mut depth = 0_usize;
        while self.at < self.text.len() {
            match self.peek() {
                b'"' => {
                    self.string();
                    continue;
                }
                b'[' | b'{' => depth += 1,
                b']' | b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return;
            }
        }
    }
}
