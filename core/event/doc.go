// Package event is what happens while a model answers, in the one form that every consumer gets: the terminal, the window, a
// script that reads lines, and whatever comes to ask over a wire.
//
// A chat and a turn of Code say the same things. A chat has no steps and no calls; its answers are Reading, Reasoning and
// Text, with Queued before them where others are served first.
//
// # Delivery
//
// Most events must be delivered: whoever leaves one out shows something that is not so. Some are [Lossy]: they only show that
// something moves, and a consumer that falls behind may drop any of them. The type of an event says which of the two it is.
//
// # As lines
//
// [Marshal] writes an event as a JSON object on one line. Its first member is "type", the name that [Event.Type] returns; the
// others are the members of the event's type. The first line is a [Session], whose member "version" is [Version]. New types
// and new members may come without a new version, so a reader skips those that it does not know; a type or a member that goes
// or changes its meaning makes a new version.
package event
