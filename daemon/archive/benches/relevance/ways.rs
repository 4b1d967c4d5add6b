//! Ways of asking the same question.

use crate::sets::Set;

/// Endings that an English word may lose before it gets another one, the longest first.
const ENDINGS: [&str; 6] = ["ings", "ing", "ed", "es", "s", "e"];

/// How a question is asked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    AsWritten,
    /// One letter of the longest word is wrong.
    Slips,
    /// Every longer word has another ending.
    Forms,
}

impl Way {
    pub(crate) const ALL: [Self; 3] = [Self::AsWritten, Self::Slips, Self::Forms];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::AsWritten => "written",
            Self::Slips => "slips",
            Self::Forms => "forms",
        }
    }

    /// Whether this way works for a set. All but the written one are made for English.
    pub(crate) fn suits(self, set: &Set) -> bool {
        self == Self::AsWritten || ["friends", "airline"].contains(&set.name)
    }

    pub(crate) fn ask(self, question: &str) -> String {
        let words: Vec<&str> = question.split(' ').collect();
        match self {
            Self::AsWritten => question.to_owned(),
            Self::Slips => {
                let longest = (0..words.len()).max_by_key(|at| (letters(words[*at]), words.len() - at)).unwrap();
                let slipped = |(at, word): (usize, &&str)| if at == longest { slip(word) } else { (*word).to_owned() };
                words.iter().enumerate().map(slipped).collect::<Vec<_>>().join(" ")
            }
            Self::Forms => words.into_iter().map(form).collect::<Vec<_>>().join(" "),
        }
    }
}

fn letters(word: &str) -> usize {
    word.bytes().filter(u8::is_ascii_alphabetic).count()
}

/// Puts a typo into the middle of a word. The word decides which one.
fn slip(word: &str) -> String {
    let mut chars: Vec<char> = word.chars().collect();
    let middle = chars.len() / 2;
    match word.bytes().map(usize::from).sum::<usize>() % 4 {
        0 => drop(chars.remove(middle)),
        1 => chars.swap(middle - 1, middle),
        2 => chars.insert(middle, 'e'),
        _ => chars[middle] = if chars[middle] == 'x' { 'y' } else { 'x' },
    }
    chars.into_iter().collect()
}

/// Returns a lowercase word with another English ending: asked and asks, booking and booked.
fn form(word: &str) -> String {
    if word.len() < 5 || !word.bytes().all(|letter| letter.is_ascii_lowercase()) {
        return word.to_owned();
    }
    let ending = ENDINGS.into_iter().find(|ending| word.ends_with(ending) && word.len() - ending.len() >= 4);
    let stem = word.strip_suffix(ending.unwrap_or("")).unwrap_or(word);
    let new = match ending {
        Some("ing" | "ings" | "s" | "es") => "ed",
        Some("ed") => "ing",
        Some(_) => "ing",
        None => "s",
    };
    format!("{stem}{new}")
}
