//! A settings file, read with the place of everything in it.
//!
//! What stands where our entries go must have the right kind, or the file is
//! refused; what is none of our business may be anything.

use jsonc_parser::ast::{Array, Comment, Object, ObjectProp, Value};
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, parse_to_ast};
use stopgate_json::{COMMENTED_JSON, JsonBracket};

use super::error::{SettingsError, TextPosition};
use super::exits::position;
use super::form::JsonForm;
use super::own::{Own, text, value};

/// The file.
pub(super) struct SettingsTree<'a> {
    pub(super) text: &'a str,
    pub(super) root: Object<'a>,
    form: JsonForm,
    comments: Vec<Range>,
}

/// A hook entry of ours and the way to it.
pub(super) struct EntrySpot<'t> {
    pub(super) event: &'t str,
    pub(super) own: Own,
    /// Whether its group is limited to some of the event's occasions.
    pub(super) matcher: Option<&'t str>,
    /// The entry itself.
    pub(super) hook: Range,
    /// From the inside out: in its group, its event's list, the events, the file.
    path: Vec<(JsonBracket, usize)>,
}

impl<'a> SettingsTree<'a> {
    /// Reads a file; nothing if it holds no value at all.
    pub(super) fn read(text: &'a str, form: JsonForm) -> Result<Option<Self>, SettingsError> {
        let collect =
            CollectOptions { comments: CommentCollectionStrategy::Separate, tokens: false };
        let parsed = parse_to_ast(text, &collect, &COMMENTED_JSON).map_err(|source| {
            let at = TextPosition { line: source.line_display(), column: source.column_display() };
            SettingsError::NotJson { at, source }
        })?;
        let comments = parsed.comments.unwrap_or_default();
        let comments = comments.values().flat_map(|list| list.iter()).map(Comment::range).collect();
        match parsed.value {
            None => Ok(None),
            Some(Value::Object(root)) => Ok(Some(Self { text, root, form, comments })),
            Some(other) => Err(wrong_kind(text, "the top level", &other, "an object")),
        }
    }

    /// The object `key` of the file.
    pub(super) fn object(&self, key: &str) -> Result<Option<&Object<'a>>, SettingsError> {
        let Some((_, member)) = self.member(&self.root, key, key)? else {
            return Ok(None);
        };
        let object = member.value.as_object();
        let wrong = || wrong_kind(self.text, key, &member.value, "an object");
        object.map(Some).ok_or_else(wrong)
    }

    /// The object with the events.
    pub(super) fn hooks(&self) -> Result<Option<&Object<'a>>, SettingsError> {
        self.form.wrapper.map_or(Ok(Some(&self.root)), |wrapper| self.object(wrapper))
    }

    /// The list of one event's groups or hooks.
    pub(super) fn groups(&self, event: &str) -> Result<Option<&Array<'a>>, SettingsError> {
        let Some(hooks) = self.hooks()? else {
            return Ok(None);
        };
        let path = match self.form.wrapper {
            Some(wrapper) => format!("{wrapper}.{event}"),
            None => event.into(),
        };
        let Some((_, member)) = self.member(hooks, event, &path)? else {
            return Ok(None);
        };
        let groups = member.value.as_array();
        let wrong = || wrong_kind(self.text, &path, &member.value, "a list");
        groups.map(Some).ok_or_else(wrong)
    }

    /// Whether nobody wrote a comment into the file.
    pub(super) const fn is_bare(&self) -> bool {
        self.comments.is_empty()
    }

    /// Every entry of ours, of any event.
    pub(super) fn spots(&self) -> Result<Vec<EntrySpot<'_>>, SettingsError> {
        let mut spots = Vec::new();
        let Some(hooks) = self.hooks()? else {
            return Ok(spots);
        };
        let wrapper = self.form.wrapper;
        let place = self
            .root
            .properties
            .iter()
            .position(|member| wrapper.is_some_and(|wrapper| is(member, wrapper)));
        let root = place.map(|place| (JsonBracket::from(&self.root), place));
        for (index, member) in hooks.properties.iter().enumerate() {
            let Some(list) = member.value.as_array() else { continue };
            let outer: Vec<_> =
                std::iter::once((JsonBracket::from(hooks), index)).chain(root.clone()).collect();
            let event = member.name.as_str();
            if !self.form.has_groups {
                spots.extend(self.spots_in(list, event, None, &outer));
                continue;
            }
            let groups = list.elements.iter().enumerate();
            for (at, group, inner) in groups.filter_map(|(at, group)| grouped(at, group)) {
                let matcher = value(group, "matcher").and_then(text);
                let outer: Vec<_> =
                    std::iter::once((JsonBracket::from(list), at)).chain(outer.clone()).collect();
                spots.extend(self.spots_in(inner, event, matcher, &outer));
            }
        }
        Ok(spots)
    }

    /// The entries of ours in one list of hooks.
    fn spots_in<'t>(
        &self,
        list: &'t Array<'_>,
        event: &'t str,
        matcher: Option<&'t str>,
        outer: &[(JsonBracket, usize)],
    ) -> Vec<EntrySpot<'t>> {
        let hooks = list.elements.iter().enumerate();
        let own = hooks
            .filter_map(|(at, hook)| Some((at, hook, Own::read(hook.as_object()?, self.form)?)));
        let spots = own.map(|(at, hook, own)| EntrySpot {
            event,
            own,
            matcher,
            hook: hook.range(),
            path: std::iter::once((JsonBracket::from(list), at))
                .chain(outer.iter().cloned())
                .collect(),
        });
        spots.collect()
    }

    /// The text without this entry, and without what it leaves empty.
    pub(super) fn without(&self, spot: &EntrySpot<'_>) -> String {
        let mut level = 0;
        while level + 1 < spot.path.len() {
            let (bracket, _) = &spot.path[level];
            let (outer, index) = &spot.path[level + 1];
            let holds_more = bracket.items.len() > 1
                || outer.items.get(*index).is_none_or(|item| self.is_annotated(*item, spot.hook));
            if holds_more {
                break;
            }
            level += 1;
        }
        let (bracket, index) = &spot.path[level];
        stopgate_json::remove(self.text, bracket, *index)
    }

    /// The text without one member of an object of the file, and without the
    /// object if it leaves that empty.
    pub(super) fn without_member(&self, object: &str, key: &str) -> Result<String, SettingsError> {
        let found = self.member(&self.root, object, object)?;
        let Some((outer, Some(inner))) = found.map(|(at, outer)| (at, outer.value.as_object()))
        else {
            return Ok(self.text.into());
        };
        let Some((index, member)) = self.member(inner, key, key)? else {
            return Ok(self.text.into());
        };
        if inner.properties.len() > 1 || self.is_annotated(inner.range, member.range) {
            return Ok(stopgate_json::remove(self.text, &JsonBracket::from(inner), index));
        }
        Ok(stopgate_json::remove(self.text, &JsonBracket::from(&self.root), outer))
    }

    /// The list `key` of an object of the file.
    pub(super) fn list(
        &self,
        object: &str,
        key: &str,
    ) -> Result<Option<&Array<'a>>, SettingsError> {
        let Some(inner) = self.object(object)? else { return Ok(None) };
        let path = format!("{object}.{key}");
        let Some((_, member)) = self.member(inner, key, &path)? else { return Ok(None) };
        let wrong = || wrong_kind(self.text, &path, &member.value, "a list");
        member.value.as_array().map(Some).ok_or_else(wrong)
    }

    /// The text without one word of a list in an object of the file, and without what it
    /// leaves empty.
    pub(super) fn without_word(
        &self,
        object: &str,
        key: &str,
        word: &str,
    ) -> Result<String, SettingsError> {
        let Some(list) = self.list(object, key)? else { return Ok(self.text.into()) };
        let Some(index) = position(list, word) else { return Ok(self.text.into()) };
        let bracket = JsonBracket::from(list);
        let item = bracket.items[index];
        if bracket.items.len() > 1 || self.is_annotated(list.range, item) {
            return Ok(stopgate_json::remove(self.text, &bracket, index));
        }
        self.without_member(object, key)
    }

    /// The text without one member of the file.
    pub(super) fn without_root_member(&self, key: &str) -> Result<String, SettingsError> {
        let found = self.member(&self.root, key, key)?;
        Ok(found.map_or_else(
            || self.text.into(),
            |(index, _)| stopgate_json::remove(self.text, &JsonBracket::from(&self.root), index),
        ))
    }

    /// Whether somebody wrote a comment in there, but not in the inner part.
    fn is_annotated(&self, outer: Range, inner: Range) -> bool {
        self.comments.iter().any(|comment| holds(outer, *comment) && !holds(inner, *comment))
    }

    fn member<'t>(
        &self,
        object: &'t Object<'a>,
        key: &str,
        path: &str,
    ) -> Result<Option<(usize, &'t ObjectProp<'a>)>, SettingsError> {
        let mut found = object.properties.iter().enumerate().filter(|(_, member)| is(member, key));
        let first = found.next();
        match found.next() {
            None => Ok(first),
            Some((_, second)) => Err(SettingsError::Twice {
                key: path.into(),
                at: TextPosition::of(self.text, second.range.start),
            }),
        }
    }
}

/// A group of hooks and its list.
fn grouped<'t, 'a>(
    at: usize,
    group: &'t Value<'a>,
) -> Option<(usize, &'t Object<'a>, &'t Array<'a>)> {
    let group = group.as_object()?;
    Some((at, group, value(group, "hooks").and_then(Value::as_array)?))
}

fn is(member: &ObjectProp<'_>, key: &str) -> bool {
    member.name.as_str() == key
}

fn holds(outer: Range, inner: Range) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

fn wrong_kind(text: &str, key: &str, value: &Value<'_>, wanted: &'static str) -> SettingsError {
    let at = TextPosition::of(text, value.range().start);
    SettingsError::WrongKind { key: key.into(), at, found: kind(value), wanted }
}

fn kind(value: &Value<'_>) -> &'static str {
    match value {
        Value::StringLit(_) => "a text",
        Value::NumberLit(_) => "a number",
        Value::BooleanLit(_) => "true or false",
        Value::Object(_) => "an object",
        Value::Array(_) => "a list",
        Value::NullKeyword(_) => "null",
    }
}
