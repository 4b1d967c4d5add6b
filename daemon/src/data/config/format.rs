//! How values are written in the file, and which values are allowed.

use std::ops::{Bound, RangeBounds};
use std::time::Duration;

use toml::Value;

use super::key::{self, Field, KeyError, KeyValue, Section};
use super::units::{self, BYTES, MILLISECONDS};

/// The file format of one type of value.
pub(super) struct Format<T> {
    /// The form that a value must have, for error messages. Empty if `range` describes it.
    form: &'static str,
    /// The unit and the allowed values. Empty if `form` describes them.
    range: String,
    is_required: bool,
    read: Read<T>,
    show: Show<T>,
}

type Read<T> = Box<dyn Fn(&Value) -> Result<T, KeyError>>;

/// Returns the value as the file would have it; `None` for an absent value.
type Show<T> = Box<dyn Fn(&T) -> Option<Value>>;

impl<T: 'static> Format<T> {
    /// Creates a format whose error messages name the form, the range and the value.
    pub(super) fn new<V: Into<Value>>(
        form: &'static str,
        range: impl Into<String>,
        read: impl Fn(&Value) -> Option<T> + 'static,
        show: impl Fn(&T) -> V + 'static,
    ) -> Self {
        let range = range.into();
        let must = must_be(form, &range);
        let read = move |said: &Value| read(said).ok_or_else(|| KeyError::new(format!("{must}; it is {said}")));
        Self::with_mistakes(form, range, read, show)
    }

    /// Creates a format with its own error messages.
    pub(super) fn with_mistakes<V: Into<Value>>(
        form: &'static str,
        range: String,
        read: impl Fn(&Value) -> Result<T, KeyError> + 'static,
        show: impl Fn(&T) -> V + 'static,
    ) -> Self {
        let show = move |held: &T| Some(show(held).into());
        Self { form, range, is_required: false, read: Box::new(read), show: Box::new(show) }
    }

    /// Returns this format for a key that its section requires.
    pub(super) fn required(self) -> Self {
        Self { is_required: true, ..self }
    }

    /// Returns this format for a key that may be absent.
    pub(super) fn optional(self) -> Format<Option<T>> {
        let Self { form, range, read, show, .. } = self;
        Format {
            form,
            range,
            is_required: false,
            read: Box::new(move |said| read(said).map(Some)),
            show: Box::new(move |held| held.as_ref().and_then(&show)),
        }
    }

    /// Reads a value.
    pub(super) fn read(&self, said: &Value) -> Result<T, KeyError> {
        (self.read)(said)
    }

    /// Binds this format to the field that it reads and shows.
    pub(super) fn bind(self, field: &mut T) -> KeyValue<'_> {
        let Self { form, range, is_required, read, show } = self;
        let needed = is_required.then(|| must_be(form, &range));
        let shown = show(field);
        let read = move |said: &Value| read(said).map(|value| *field = value);
        KeyValue::Value(Field { range, needed, shown, read: Box::new(read) })
    }
}

fn must_be(form: &str, range: &str) -> String {
    match (form, range) {
        ("", range) => format!("must be {range}"),
        (form, "") => format!("must be {form}"),
        (form, range) => format!("must be {form} ({range})"),
    }
}

/// `true` or `false`.
pub(super) fn switch() -> Format<bool> {
    Format::new("true or false", "", Value::as_bool, |held| *held)
}

/// A whole number in this range. `unit` is shown in error messages.
pub(super) fn whole<T>(range: impl RangeBounds<i64> + 'static, unit: &str) -> Format<T>
where
    T: TryFrom<i64> + TryInto<i64> + Copy + 'static,
{
    let words = limits(unit, &range, |number| units::grouped(*number, ','));
    let read = move |said: &Value| said.as_integer().filter(|number| range.contains(number))?.try_into().ok();
    Format::new("a whole number", words, read, |held: &T| (*held).try_into().unwrap_or(i64::MAX))
}

/// A fraction in this range. `of` names the whole, such as "of the window".
pub(super) fn fraction(range: impl RangeBounds<f64> + 'static, of: &str) -> Format<f64> {
    let words = limits(of, &range, f64::to_string);
    #[expect(clippy::cast_precision_loss, reason = "no large number is in any range")]
    let number = |said: &Value| said.as_float().or_else(|| said.as_integer().map(|number| number as f64));
    Format::new("a fraction", words, move |said| number(said).filter(|number| range.contains(number)), |held| *held)
}

/// A number of bytes in this range, written with a unit.
pub(super) fn bytes<T>(range: impl RangeBounds<u64> + 'static) -> Format<T>
where
    T: TryFrom<u64> + TryInto<u64> + Copy + 'static,
{
    let words = limits("", &range, |bytes| BYTES.show(*bytes));
    let read = move |said: &Value| BYTES.read(said.as_str()?).filter(|bytes| range.contains(bytes))?.try_into().ok();
    let show = |held: &T| BYTES.show((*held).try_into().unwrap_or(u64::MAX));
    Format::new("a size like \"64MiB\" or \"2GiB\"", words, read, show)
}

/// A duration in this range, written with a unit.
pub(super) fn time(range: impl RangeBounds<Duration> + 'static) -> Format<Duration> {
    let show = |held: &Duration| MILLISECONDS.show(held.as_millis().try_into().unwrap_or(u64::MAX));
    let words = limits("", &range, show);
    let read = move |said: &Value| {
        MILLISECONDS.read(said.as_str()?).map(Duration::from_millis).filter(|duration| range.contains(duration))
    };
    Format::new("a duration like \"7d\", \"12h\", \"3m\", \"90s\" or \"300ms\"", words, read, show)
}

/// Describes a unit and a range in words.
fn limits<T>(unit: &str, range: &impl RangeBounds<T>, show: impl Fn(&T) -> String) -> String {
    let words = |bound: Bound<&T>, included: &str, excluded: &str| match bound {
        Bound::Included(limit) => format!("{included} {}", show(limit)),
        Bound::Excluded(limit) => format!("{excluded} {}", show(limit)),
        Bound::Unbounded => String::new(),
    };
    let (least, most) = (words(range.start_bound(), "at least", "above"), words(range.end_bound(), "at most", "below"));
    [unit, &least, &most].into_iter().filter(|words| !words.is_empty()).collect::<Vec<_>>().join(", ")
}

/// One of a few words.
pub(super) fn word<T: Copy + PartialEq>(words: &'static [(&'static str, T)]) -> Format<T> {
    let range = words.iter().map(|(word, _)| format!("\"{word}\"")).collect::<Vec<_>>().join(" or ");
    let read = |said: &Value| words.iter().find(|(word, _)| said.as_str() == Some(word)).map(|(_, value)| *value);
    Format::new("", range, read, |held| words.iter().find(|(_, value)| value == held).map_or("", |(word, _)| word))
}

/// Any text. `range` describes the expected text.
pub(super) fn text(range: &str) -> Format<String> {
    Format::new("", range, |said| said.as_str().map(str::to_owned), |held| held.as_str().to_owned())
}

/// An optional section: it exists only if the file has it. The value is its example in the template.
pub(super) struct Optional<T>(pub T);

impl<T: Section + Clone + Default + 'static> Optional<T> {
    /// Binds such a section to its field.
    pub(super) fn bind(self, field: &mut Option<T>) -> KeyValue<'_> {
        let held = field.clone().map(|section| Box::new(section) as Box<dyn Section>);
        let read = move |said: &Value| key::section_of(said).map(|section| *field = Some(section));
        KeyValue::Optional { held, example: Box::new(self.0), read: Box::new(read) }
    }
}

/// A table whose names the user chooses.
pub(super) struct Named<T> {
    /// Reads the whole table.
    pub read: fn(&Value) -> Result<T, KeyError>,
    /// The number of names between the key and a value.
    pub depth: usize,
    /// Example lines for the template.
    pub example: &'static str,
}

impl<T> Named<T> {
    /// Binds such a table to its field.
    pub(super) fn bind(self, field: &mut T) -> KeyValue<'_> {
        let Self { read, depth, example } = self;
        let read = move |said: &Value| read(said).map(|value| *field = value);
        KeyValue::Named { read: Box::new(read), depth, example }
    }
}
