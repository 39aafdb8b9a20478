//! Prepares template text for minijinja's parser without moving a line.

use std::borrow::Cow;

/// Turns `{% generation %}` … `{% endgeneration %}` into `{% with %}` … `{% endwith %}` padded to the same length.
///
/// transformers adds that block to mark what the assistant said; it prints its body and opens a scope, as `with` does.
pub fn prepare(source: &str) -> Cow<'_, str> {
    if !source.contains("generation") {
        return Cow::Borrowed(source);
    }
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(open) = rest.find('{') {
        out.push_str(&rest[..open]);
        rest = &rest[open..];
        let taken = match rest.as_bytes().get(1) {
            Some(b'#') => rest.find("#}").map_or(rest.len(), |end| end + 2),
            Some(b'{') => tag_end(rest, "}}"),
            Some(b'%') => {
                let end = tag_end(rest, "%}");
                let tag = &rest[..end];
                match tag_name(tag) {
                    "generation" => out.push_str(&tag.replacen("generation", "with      ", 1)),
                    "endgeneration" => out.push_str(&tag.replacen("endgeneration", "endwith      ", 1)),
                    "raw" => {
                        let end = end + raw_end(&rest[end..]);
                        out.push_str(&rest[..end]);
                        rest = &rest[end..];
                        continue;
                    }
                    _ => out.push_str(tag),
                }
                rest = &rest[end..];
                continue;
            }
            _ => 1,
        };
        out.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The length of the tag at the start of `s`, skipping string literals.
fn tag_end(s: &str, close: &str) -> usize {
    let bytes = s.as_bytes();
    let mut i = 2;
    while i < bytes.len() {
        match bytes[i] {
            quote @ (b'"' | b'\'') => {
                i += 1;
                while i < bytes.len() && bytes[i] != quote {
                    i += if bytes[i] == b'\\' { 2 } else { 1 };
                }
                i += 1;
            }
            _ if bytes[i..].starts_with(close.as_bytes()) => return i + close.len(),
            _ => i += 1,
        }
    }
    s.len()
}

fn tag_name(tag: &str) -> &str {
    let inner = tag[2..].trim_start_matches(['-', '+']).trim_start();
    let end = inner.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(inner.len());
    &inner[..end]
}

/// Where the `endraw` tag starts.
fn raw_end(s: &str) -> usize {
    let mut from = 0;
    while let Some(i) = s[from..].find("{%") {
        if tag_name(&s[from + i..]) == "endraw" {
            return from + i;
        }
        from += i + 2;
    }
    s.len()
}

#[cfg(test)]
mod test {
    use super::prepare;

    #[test]
    fn generation_blocks_become_with_blocks() {
        for (have, want) in [
            ("{%- generation -%}x{% endgeneration %}", "{%- with       -%}x{% endwith       %}"),
            ("{# {% generation %} #}", "{# {% generation %} #}"),
            ("{{ '{% generation %}' }}", "{{ '{% generation %}' }}"),
            ("{% raw %}{% generation %}{% endraw %}", "{% raw %}{% generation %}{% endraw %}"),
            ("{% if generation %}{% endif %}", "{% if generation %}{% endif %}"),
            ("generation {", "generation {"),
            ("{% generation", "{% with      "),
        ] {
            assert_eq!(prepare(have), want);
        }
    }
}
