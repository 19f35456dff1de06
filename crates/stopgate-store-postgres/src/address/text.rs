//! The two ways to write an address, as one list of settings.

use std::fmt::Write as _;

/// Names and values, in the order they were written; the last of a name counts.
#[derive(Debug, Default)]
pub(super) struct AddressSettings(Vec<(String, String)>);

impl AddressSettings {
    /// The value of `name`.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The value of `name`, which is then no longer there.
    pub(super) fn take(&mut self, name: &str) -> Option<String> {
        let found = self.get(name).map(String::from);
        self.0.retain(|(key, _)| key != name);
        found
    }

    /// All that is there, as `key='value'` text.
    pub(super) fn render(&self) -> String {
        let mut text = String::new();
        for (key, value) in &self.0 {
            let value = value.replace('\\', "\\\\").replace('\'', "\\'");
            let _ = write!(text, "{key}='{value}' ");
        }
        text
    }

    fn put(&mut self, key: &str, value: String) {
        self.0.push((key.into(), value));
    }
}

/// Reads either form. What is wrong is said without quoting the text: it may hold a password.
pub(super) fn settings(address: &str) -> Result<AddressSettings, String> {
    let url = ["postgres://", "postgresql://"].iter().find_map(|s| address.strip_prefix(s));
    match url {
        Some(rest) => from_url(rest),
        None => from_pairs(address),
    }
}

fn from_url(rest: &str) -> Result<AddressSettings, String> {
    let mut settings = AddressSettings::default();
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
    let (user, hosts) = authority.rsplit_once('@').unwrap_or(("", authority));
    let (user, password) = user.split_once(':').unwrap_or((user, ""));
    for (key, value) in [("user", user), ("password", password), ("dbname", database)] {
        if !value.is_empty() {
            settings.put(key, decode(value)?);
        }
    }
    if !hosts.is_empty() {
        let (hosts, ports) = split_hosts(hosts)?;
        settings.put("host", hosts);
        settings.put("port", ports);
    }
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').ok_or("an option after ? has no value")?;
        settings.put(&decode(key)?, decode(value)?);
    }
    Ok(settings)
}

/// `a:1,[::1]:2,c` as `a,::1,c` and `1,2,`.
fn split_hosts(text: &str) -> Result<(String, String), String> {
    let (mut hosts, mut ports) = (Vec::new(), Vec::new());
    for place in text.split(',') {
        let (host, port) = match place.strip_prefix('[') {
            Some(rest) => {
                let (host, port) = rest.split_once(']').ok_or("a [ in the host has no ]")?;
                (host, port.strip_prefix(':').unwrap_or(port))
            }
            None => place.split_once(':').unwrap_or((place, "")),
        };
        hosts.push(decode(host)?);
        ports.push(port);
    }
    Ok((hosts.join(","), ports.join(",")))
}

fn decode(text: &str) -> Result<String, String> {
    let wrong = || "a % is not followed by two hexadecimal digits of a character".to_string();
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| byte.and_then(|b| char::from(b).to_digit(16));
        let (high, low) = (digit(rest.next()), digit(rest.next()));
        let value = high.zip(low).and_then(|(high, low)| u8::try_from(high * 16 + low).ok());
        bytes.push(value.ok_or_else(wrong)?);
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}

fn from_pairs(text: &str) -> Result<AddressSettings, String> {
    let mut settings = AddressSettings::default();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (key, after) = rest.split_once('=').ok_or(
            "it is neither postgres://user@host/database nor key=value pairs with host, user, dbname",
        )?;
        let (value, after) = value(after.trim_start())?;
        settings.put(key.trim(), value);
        rest = after.trim_start();
    }
    if settings.0.is_empty() {
        return Err("it is empty".into());
    }
    Ok(settings)
}

/// A bare or quoted value, and what follows it.
fn value(text: &str) -> Result<(String, &str), String> {
    let quoted = text.strip_prefix('\'');
    let body = quoted.unwrap_or(text);
    let mut value = String::new();
    let mut characters = body.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => value.extend(characters.next().map(|(_, escaped)| escaped)),
            '\'' if quoted.is_some() => return Ok((value, &body[at + 1..])),
            white if quoted.is_none() && white.is_whitespace() => return Ok((value, &body[at..])),
            plain => value.push(plain),
        }
    }
    if quoted.is_some() {
        return Err("a ' is not closed".into());
    }
    Ok((value, ""))
}
