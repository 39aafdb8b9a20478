// Package grammar constrains what a model may say: it states what an engine of token masks does, and prepares JSON Schemas
// for it.
//
// A matcher follows an answer token by token. Before each step it says which tokens may come next; where only one text is
// possible it gives its tokens, which need not be sampled. sandbox/grammar implements it with llguidance.
//
// What an engine cannot honour is refused with the path of the keyword, never left out: an answer that a schema lets pass
// is valid. docs/json-schema.md lists what is enforced.
package grammar
