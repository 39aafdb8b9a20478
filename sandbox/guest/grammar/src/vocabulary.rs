//! A vocabulary whose encoder is the host's.

use anyhow::{bail, ensure, Result};
use toktrie::{TokRxInfo, TokTrie, TokenId, TokenizerEnv};

#[link(wasm_import_module = "pooled")]
extern "C" {
    /// Encodes `len` bytes at `text` and writes at most `max` ids to `out`; returns how many there are, or -1 when the
    /// host cannot encode them.
    fn encode(text: *const u8, len: usize, out: *mut u32, max: usize) -> i32;
}

/// Token bytes for the masks, and the host's encoder for the text that a grammar forces.
pub struct Vocabulary {
    trie: TokTrie,
    canonical: bool,
}

/// Set in a token's length when it is a control token.
const SPECIAL: u32 = 1 << 31;

impl Vocabulary {
    /// Reads a vocabulary from little-endian 32-bit numbers and bytes: number of tokens; number of tokens that end a
    /// generation, and these; 1 if the host can encode; then for each token its length ([`SPECIAL`] added for a control
    /// token) and its bytes.
    pub fn parse(bytes: &[u8]) -> Result<Vocabulary> {
        let mut r = Reader(bytes);
        let size = r.number()?;
        let n_ends = r.number()? as usize;
        ensure!(n_ends > 0 && n_ends <= bytes.len() / 4, "a vocabulary needs a token that ends a generation");
        let ends = (0..n_ends).map(|_| r.number()).collect::<Result<Vec<_>>>()?;
        ensure!(ends.iter().all(|&e| e < size), "a token that ends a generation is not in the vocabulary");
        let canonical = r.number()? != 0;
        ensure!(size as usize <= bytes.len() / 4, "the vocabulary is cut short");
        let mut words = Vec::with_capacity(size as usize);
        for _ in 0..size {
            let head = r.number()?;
            let text = r.take((head & !SPECIAL) as usize)?;
            let mut word = Vec::with_capacity(text.len() + 1);
            if head & SPECIAL != 0 {
                word.push(TokTrie::SPECIAL_TOKEN_MARKER);
            }
            word.extend_from_slice(text);
            words.push(word);
        }
        let info = TokRxInfo::new(size, ends[0]);
        let trie = TokTrie::from(&info, &words).with_eos_tokens(&ends);
        Ok(Vocabulary { trie, canonical })
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> Result<&'a [u8]> {
        if n > self.0.len() {
            bail!("the vocabulary is cut short");
        }
        let (head, rest) = self.0.split_at(n);
        self.0 = rest;
        Ok(head)
    }

    fn number(&mut self) -> Result<u32> {
        let b = self.take(4)?;
        Ok(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    }
}

impl TokenizerEnv for Vocabulary {
    fn tok_trie(&self) -> &TokTrie {
        &self.trie
    }

    fn tokenize_bytes(&self, s: &[u8]) -> Vec<TokenId> {
        // No encoder gives more than one token a byte.
        let mut ids = vec![0u32; s.len()];
        let n = if self.canonical {
            unsafe { encode(s.as_ptr(), s.len(), ids.as_mut_ptr(), ids.len()) }
        } else {
            -1
        };
        match usize::try_from(n) {
            Ok(n) if n <= ids.len() && self.trie.decode(&ids[..n]) == s => {
                ids.truncate(n);
                ids
            }
            _ => self.trie.greedy_tokenize(s),
        }
    }

    fn tokenize_is_canonical(&self) -> bool {
        self.canonical
    }
}
