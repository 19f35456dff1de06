//! Reading JSON that may hold anything anywhere.
//!
//! Every type here deserialises from every JSON value: one of the wrong kind
//! counts as missing. No tree is built, strings are borrowed where they can be,
//! and only broken JSON is an error.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A string, or nothing.
#[derive(Debug, Default)]
pub(crate) struct TextWire<'a>(pub(super) Option<Cow<'a, str>>);

impl<'a> TextWire<'a> {
    /// The text, unless it is empty.
    pub(crate) fn filled(self) -> Option<Cow<'a, str>> {
        self.0.filter(|text| !text.is_empty())
    }

    pub(crate) fn is(&self, text: &str) -> bool {
        self.0.as_deref() == Some(text)
    }
}

/// A boolean, or nothing.
#[derive(Debug, Default)]
pub(crate) struct FlagWire(pub(super) Option<bool>);

impl FlagWire {
    pub(crate) fn is_set(&self) -> bool {
        self.0 == Some(true)
    }
}

/// A whole number that is not negative, or nothing.
#[derive(Debug, Default)]
pub(crate) struct CountWire(pub(crate) Option<u64>);

/// An object, or nothing.
#[derive(Debug)]
pub(crate) struct ObjectWire<T>(pub(super) Option<T>);

impl<T> Default for ObjectWire<T> {
    fn default() -> Self {
        Self(None)
    }
}

/// A list; anything else is an empty one.
#[derive(Debug)]
pub(crate) struct ListWire<T>(pub(super) Vec<T>);

impl<T> Default for ListWire<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// What to make of each kind of JSON value. Kinds that a type doesn't name give its default.
pub(crate) trait Lenient<'de>: Default {
    fn text(_: Cow<'de, str>) -> Self {
        Self::default()
    }

    fn flag(_: FlagWire) -> Self {
        Self::default()
    }

    fn count(_: u64) -> Self {
        Self::default()
    }

    fn list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }

    fn object<A: MapAccess<'de>>(mut object: A) -> Result<Self, A::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }
}

/// Reads whatever stands there.
pub(crate) fn read<'de, T: Lenient<'de>, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    from.deserialize_any(Take(PhantomData))
}

impl<'de> Lenient<'de> for TextWire<'de> {
    fn text(text: Cow<'de, str>) -> Self {
        Self(Some(text))
    }
}

impl Lenient<'_> for FlagWire {
    fn flag(flag: FlagWire) -> Self {
        flag
    }
}

impl Lenient<'_> for CountWire {
    fn count(count: u64) -> Self {
        Self(Some(count))
    }
}

impl<'de, T: Deserialize<'de>> Lenient<'de> for ObjectWire<T> {
    fn object<A: MapAccess<'de>>(object: A) -> Result<Self, A::Error> {
        T::deserialize(MapAccessDeserializer::new(object)).map(|object| Self(Some(object)))
    }
}

impl<'de, T: Deserialize<'de>> Lenient<'de> for ListWire<T> {
    fn list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Self(items))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for TextWire<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        read::<TextWire<'de>, D>(from)
    }
}

impl<'de> Deserialize<'de> for FlagWire {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        read(from)
    }
}

impl<'de> Deserialize<'de> for CountWire {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        read(from)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for ObjectWire<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        read(from)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for ListWire<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        read(from)
    }
}

struct Take<T>(PhantomData<T>);

impl<'de, T: Lenient<'de>> Visitor<'de> for Take<T> {
    type Value = T;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("any JSON value")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<T, E> {
        Ok(T::text(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        Ok(T::text(Cow::Owned(text.into())))
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<T, E> {
        Ok(T::flag(FlagWire(Some(flag))))
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_u64<E: Error>(self, count: u64) -> Result<T, E> {
        Ok(T::count(count))
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_unit<E: Error>(self) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<T, A::Error> {
        T::list(list)
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<T, A::Error> {
        T::object(object)
    }
}
