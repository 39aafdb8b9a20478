// Package agent lets a model work on a project: it asks the model, runs the tools that it calls, and tells it what came of
// them, until the model has nothing more to call.
//
// # A turn
//
// [Agent.Run] takes what a person asks for and runs one turn of steps. A step is one answer of the model: the prompt is
// made by the model's own template, the answer is read as it comes, and the calls in it are approved, run and answered in
// order. The turn ends when an answer has no call, or for one of the other [transcript.Reason]s. Whatever ends it, the conversation
// stays level: every call has an answer, and the session on disk says the same as memory.
//
// # What the model reads
//
// The exact ids that were sampled are used again in the next prompt, so that only what is new is computed. Where the
// template would write a call in another way than the model did, what the model wrote goes in as text. When the prompt no
// longer fits, the conversation is compacted by fixed rules, gentle ones first; the system prompt and the tools in front
// never change, so that their part of the cache stays.
//
// # What guards it
//
// Calls that cannot be read are sent back with the reason. The same call with the same result is pointed out, and ends the
// turn when it comes again; so do too many steps, tokens or too much time. Text that repeats itself without end is cut.
//
// # Second tries
//
// Work that leaves an app with errors is taken back and tried again. Whatever comes of that, a turn ends with the try that
// had the fewest problems: its files, and what was said in it. A whole page that was printed is offered as the file it is.
//
// The package knows no backend, no sandbox and no terminal: the model, the tools and the grammar engine are handed in, and
// what happens goes out as events of package event.
package agent
