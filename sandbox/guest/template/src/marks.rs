//! Text that is marked as untrusted, character by character.
//!
//! The host may replace characters of untrusted strings by marked ones (private-use characters), so that it can tell in
//! the rendered prompt what came from where. A template must not notice: here a marked character equals its plain one
//! in every comparison and search, and is carried along by everything that moves text.

use std::borrow::Cow;
use std::cell::RefCell;

thread_local! {
    /// Pairs of a plain character and its mark; empty in almost every rendering.
    static MARKS: RefCell<Vec<(char, char)>> = const { RefCell::new(Vec::new()) };
}

/// Sets the marks of this rendering.
pub fn set(pairs: Vec<(char, char)>) {
    MARKS.set(pairs);
}

/// The character that a mark stands for; any other character is itself.
pub fn plain(c: char) -> char {
    MARKS.with_borrow(|m| m.iter().find(|(_, mark)| *mark == c).map_or(c, |(plain, _)| *plain))
}

/// The mark of a plain character, if it has one.
fn mark(c: char) -> Option<char> {
    MARKS.with_borrow(|m| m.iter().find(|(plain, _)| *plain == c).map(|(_, mark)| *mark))
}

/// Changes the case of a character; a mark stays a mark. The host marks both cases of a letter or neither.
pub fn change_case(c: char, upper: bool) -> Vec<char> {
    let change = |c: char| if upper { c.to_uppercase().collect::<Vec<_>>() } else { c.to_lowercase().collect() };
    match plain(c) {
        same if same == c => change(c),
        plain => change(plain).into_iter().map(|c| mark(c).unwrap_or(c)).collect(),
    }
}

/// `to_uppercase` and `to_lowercase` of text that may be marked.
pub fn change_text(s: &str, upper: bool) -> String {
    match unmark(s) {
        Cow::Owned(_) => s.chars().flat_map(|c| change_case(c, upper)).collect(),
        Cow::Borrowed(s) if upper => s.to_uppercase(),
        Cow::Borrowed(s) => s.to_lowercase(),
    }
}

/// Whether `c` is a mark.
pub fn is_mark(c: char) -> bool {
    plain(c) != c
}

/// The text with every mark replaced by its plain character.
pub fn unmark(s: &str) -> Cow<'_, str> {
    if s.is_ascii() || MARKS.with_borrow(|m| m.is_empty()) || !s.chars().any(is_mark) {
        return Cow::Borrowed(s);
    }
    Cow::Owned(s.chars().map(plain).collect())
}

/// Whether `s` contains `part`.
pub fn contains(s: &str, part: &str) -> bool {
    unmark(s).contains(&*unmark(part))
}

/// `s` after `prefix`, if it starts with it.
pub fn strip_prefix<'a>(s: &'a str, prefix: &str) -> Option<&'a str> {
    let mut rest = s.chars();
    for want in prefix.chars() {
        if rest.next().map(plain) != Some(plain(want)) {
            return None;
        }
    }
    Some(rest.as_str())
}

/// `s` before `suffix`, if it ends with it.
pub fn strip_suffix<'a>(s: &'a str, suffix: &str) -> Option<&'a str> {
    let mut rest = s.chars();
    for want in suffix.chars().rev() {
        if rest.next_back().map(plain) != Some(plain(want)) {
            return None;
        }
    }
    Some(rest.as_str())
}

/// The byte ranges of the first `most` occurrences of `part` in `s`, which do not overlap.
pub fn find(s: &str, part: &str, most: usize) -> Vec<(usize, usize)> {
    let (text, part) = (unmark(s), unmark(part));
    let found = text.match_indices(&*part).take(most).map(|(i, m)| (i, i + m.len())).collect();
    translate(s, &text, found)
}

/// The byte ranges of the last `most` occurrences of `part` in `s`, in ascending order.
pub fn rfind(s: &str, part: &str, most: usize) -> Vec<(usize, usize)> {
    let (text, part) = (unmark(s), unmark(part));
    let mut found: Vec<_> = text.rmatch_indices(&*part).take(most).map(|(i, m)| (i, i + m.len())).collect();
    found.reverse();
    translate(s, &text, found)
}

/// Turns ascending byte ranges of the unmarked text into those of `s`.
fn translate(s: &str, text: &Cow<'_, str>, ranges: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    if matches!(text, Cow::Borrowed(_)) {
        return ranges;
    }
    let mut chars = s.char_indices();
    let (mut at, mut original) = (0, 0);
    let mut advance = |to: usize| {
        while at < to {
            let Some((i, c)) = chars.next() else { break };
            at += plain(c).len_utf8();
            original = i + c.len_utf8();
        }
        original
    };
    ranges.into_iter().map(|(from, to)| (advance(from), advance(to))).collect()
}

/// The pieces of `s` between ascending ranges.
pub fn between<'a>(s: &'a str, ranges: &[(usize, usize)]) -> Vec<&'a str> {
    let mut pieces = Vec::with_capacity(ranges.len() + 1);
    let mut start = 0;
    for &(from, to) in ranges {
        pieces.push(&s[start..from]);
        start = to;
    }
    pieces.push(&s[start..]);
    pieces
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn marks_are_their_characters() {
        set(vec![('<', '\u{f003c}'), ('>', '\u{f003e}')]);
        let s = "a\u{f003c}b>c<b\u{f003e}d";
        assert_eq!(unmark(s), "a<b>c<b>d");
        assert!(contains(s, "<b>"));
        assert_eq!(between(s, &find(s, "<b>", 9)), ["a", "c", "d"]);
        assert_eq!(between(s, &rfind(s, "<b>", 1)), ["a\u{f003c}b>c", "d"]);
        assert_eq!(strip_prefix(s, "a<b"), Some(">c<b\u{f003e}d"));
        assert_eq!(strip_suffix(s, "b>d"), Some("a\u{f003c}b>c<"));
        assert_eq!(find("ab", "", 9), [(0, 0), (1, 1), (2, 2)]);
    }
}
