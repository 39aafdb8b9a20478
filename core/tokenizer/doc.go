// Package tokenizer turns text into token ids and back, from the vocabulary that a GGUF file carries.
//
// Two models are built in: byte-level BPE (tokenizer.ggml.model "gpt2": ranked merges over bytes, after a splitting rule
// named by tokenizer.ggml.pre) and SentencePiece BPE ("llama": score-ranked merges over runes, with byte fallback). Text
// passes through four stages:
//
//	text → partition by special tokens → normalise (NFC where trained so) → split into pre-tokens → merge
//
// Which text may become a control token is the caller's decision and holds absolutely: control tokens are not in the
// tables that merging uses, so text outside a trusted [Part] (or outside [Options].ParseSpecial) cannot produce one, however
// it is spelled or cut. User-defined tokens, such as <think> in Qwen 3 or runs of newlines in Gemma, are ordinary words that
// were added by hand, and match everywhere.
//
// Bytes that are not UTF-8 become U+FFFD, one a byte, before byte-level BPE; SentencePiece keeps them by byte fallback.
//
// Encoding takes O(n log n) in the worst case and is linear on ordinary text. A vocabulary is untrusted input: [New]
// checks it whole, and what it accepts cannot make the other methods panic.
package tokenizer
