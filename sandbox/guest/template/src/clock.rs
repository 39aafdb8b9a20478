//! The moment that `strftime_now` prints, and strftime itself (C locale).

use std::fmt::Write;

use crate::fail::{self, Error};

const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// A local date and time.
#[derive(Clone, Copy)]
pub struct Moment {
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    micro: i64,
}

impl Moment {
    /// Reads `YYYY-MM-DD[THH:MM[:SS[.ffffff]]]`; an offset at the end is ignored, for the time is local.
    pub fn parse(s: &str) -> Option<Moment> {
        let number = |from: usize, to: usize| s.get(from..to)?.parse::<u32>().ok().map(i64::from);
        let dash = |i: usize| s.as_bytes().get(i) == Some(&b'-');
        let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
        if !dash(4) || !dash(7) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
            return None;
        }
        let mut m = Moment { year, month, day, hour: 0, minute: 0, second: 0, micro: 0 };
        if s.len() > 10 {
            (m.hour, m.minute) = (number(11, 13)?, number(14, 16)?);
            m.second = if s.as_bytes().get(16) == Some(&b':') { number(17, 19)? } else { 0 };
            if s.as_bytes().get(19) == Some(&b'.') {
                let digits: String = s[20..].chars().take_while(char::is_ascii_digit).take(6).collect();
                m.micro = format!("{digits:0<6}").parse().ok()?;
            }
        }
        (m.hour < 24 && m.minute < 60 && m.second < 61).then_some(m)
    }

    /// Days since 1970-01-01.
    /// Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", days_from_civil.
    fn days(&self) -> i64 {
        let y = if self.month <= 2 { self.year - 1 } else { self.year };
        let era = y.div_euclid(400);
        let year_of_era = y.rem_euclid(400);
        let day_of_year = (153 * ((self.month + 9) % 12) + 2) / 5 + self.day - 1;
        era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
    }

    fn weekday(&self) -> i64 {
        (self.days() + 4).rem_euclid(7)
    }

    fn day_of_year(&self) -> i64 {
        self.days() - Moment { month: 1, day: 1, ..*self }.days() + 1
    }

    /// ISO 8601 year and week.
    fn iso_week(&self) -> (i64, i64) {
        let monday = (self.weekday() + 6) % 7;
        let thursday = self.days() - monday + 3;
        let mut year = self.year;
        let first = |year| Moment { year, month: 1, day: 1, ..*self }.days();
        if thursday < first(year) {
            year -= 1;
        } else if thursday >= first(year + 1) {
            year += 1;
        }
        (year, (thursday - first(year)) / 7 + 1)
    }

    /// Formats as C's strftime does in the C locale.
    pub fn format(&self, format: &str) -> Result<String, Error> {
        let mut out = String::new();
        self.write(&mut out, format)?;
        Ok(out)
    }

    fn write(&self, out: &mut String, format: &str) -> Result<(), Error> {
        let mut chars = format.chars();
        while let Some(c) = chars.next() {
            if c != '%' {
                out.push(c);
                continue;
            }
            let mut code = chars.next();
            let pad = match code {
                Some(flag @ ('-' | '_' | '0')) => {
                    code = chars.next();
                    Some(flag)
                }
                _ => None,
            };
            let Some(code) = code else {
                out.push('%');
                break;
            };
            self.field(out, code, pad)?;
        }
        Ok(())
    }

    fn field(&self, out: &mut String, code: char, pad: Option<char>) -> Result<(), Error> {
        let hour12 = (self.hour + 11) % 12 + 1;
        let (weekday, year_day) = (self.weekday(), self.day_of_year());
        let day_name = DAYS[weekday as usize];
        let month_name = MONTHS[(self.month - 1) as usize];
        let (width, fill, n) = match code {
            'Y' => (4, '0', self.year),
            'C' => (2, '0', self.year / 100),
            'y' => (2, '0', self.year % 100),
            'm' => (2, '0', self.month),
            'd' => (2, '0', self.day),
            'e' => (2, ' ', self.day),
            'H' => (2, '0', self.hour),
            'k' => (2, ' ', self.hour),
            'I' => (2, '0', hour12),
            'l' => (2, ' ', hour12),
            'M' => (2, '0', self.minute),
            'S' => (2, '0', self.second),
            'f' => (6, '0', self.micro),
            'j' => (3, '0', year_day),
            'w' => (1, '0', weekday),
            'u' => (1, '0', (weekday + 6) % 7 + 1),
            'U' => (2, '0', (year_day + 6 - weekday) / 7),
            'W' => (2, '0', (year_day + 6 - (weekday + 6) % 7) / 7),
            'V' => (2, '0', self.iso_week().1),
            'G' => (4, '0', self.iso_week().0),
            's' => (1, '0', self.days() * 86_400 + self.hour * 3600 + self.minute * 60 + self.second),
            _ => {
                match code {
                    'a' => out.push_str(&day_name[..3]),
                    'A' => out.push_str(day_name),
                    'b' | 'h' => out.push_str(&month_name[..3]),
                    'B' => out.push_str(month_name),
                    'p' => out.push_str(if self.hour < 12 { "AM" } else { "PM" }),
                    'P' => out.push_str(if self.hour < 12 { "am" } else { "pm" }),
                    'c' => self.write(out, "%a %b %e %H:%M:%S %Y")?,
                    'x' | 'D' => self.write(out, "%m/%d/%y")?,
                    'X' | 'T' => self.write(out, "%H:%M:%S")?,
                    'r' => self.write(out, "%I:%M:%S %p")?,
                    'R' => self.write(out, "%H:%M")?,
                    'F' => self.write(out, "%Y-%m-%d")?,
                    'z' | 'Z' => {}
                    'n' => out.push('\n'),
                    't' => out.push('\t'),
                    '%' => out.push('%'),
                    other => return Err(fail::runtime(format!("strftime_now cannot format %{other}"))),
                }
                return Ok(());
            }
        };
        let _ = match (pad, fill) {
            (Some('-'), _) => write!(out, "{n}"),
            (Some('_'), _) | (None, ' ') => write!(out, "{n:>width$}"),
            _ => write!(out, "{n:0>width$}"),
        };
        Ok(())
    }
}

#[cfg(test)]
mod test {
    use super::Moment;

    #[test]
    fn formats() {
        let m = Moment::parse("2025-07-29T13:05:09").unwrap();
        for (format, want) in [
            ("%d %b %Y", "29 Jul 2025"),
            ("%A, %B %-d, %I:%M %p", "Tuesday, July 29, 01:05 PM"),
            ("%j %U %W %V %G %u %w", "210 30 30 31 2025 2 2"),
            ("%c|%x|%X|%s", "Tue Jul 29 13:05:09 2025|07/29/25|13:05:09|1753794309"),
            ("100%% %e%", "100% 29%"),
        ] {
            assert_eq!(m.format(format).unwrap(), want);
        }
        assert_eq!(Moment::parse("2024-12-30").unwrap().format("%G-W%V").unwrap(), "2025-W01");
        assert!(Moment::parse("2025-13-01").is_none());
    }
}
