// Package answer reads what a model writes, while it is written: what it thinks, what it says, and which tools it calls.
//
// There is one reader for every conversation. A chat is one without tools, in which nothing is taken for a call.
package answer
