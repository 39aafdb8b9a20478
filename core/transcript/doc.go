// Package transcript is what was said between a person, a model and its tools: the messages, how they go into a prompt, and
// the sessions and projects that keep them on disk.
//
// Every conversation holds its history as [Message]s, with or without tools. [Session] keeps one on disk, a line of JSON
// for each thing that came about; [Store] is the folder of all projects. A session that was written by an earlier version
// can be read: its first line carries the version of its form.
package transcript
