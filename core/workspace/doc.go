// Package workspace is a project folder that untrusted writers may change and nothing but that folder.
//
// # Paths
//
// A path is relative to the project, with slashes: "src/app.js". It is cleaned by its text, then every symbolic link on the
// way is followed by hand and must stay inside. All access goes through [os.Root], so that a folder or a link that is
// swapped between a check and its use leads to an error, never outside. (A hard link cannot be told from a file: what it
// holds can be read; writing replaces the name and leaves the other file alone.) Names beginning with ".pooled" and the
// folder ".git" do not exist for a caller, in whatever spelling a file system would take for them: a hook written there
// would run when the user runs git. A new name must be one that every system can hold, see [CheckName]; an existing one
// may be anything, and is shown by [Escape].
//
// FIFOs, sockets and devices are listed but never opened, and open calls do not block.
//
// # Changes
//
// Text keeps the line ends of the file: what an edit adds gets those of its place, and a file of "\r\n" stays one when it is
// written anew by what was shown "\n". An edit that would change nothing is an error.
//
// A change is prepared, shown ([Change.Diff]) and applied. The new content is written beside the file and renamed over
// it, so that a reader sees the old file or the new one. Before that, the old content and a record go to the journal:
//
//	STATE/lock            held while the journal or the project is changed
//	STATE/000001.json     one change: path, mode, sums of the content before and after
//	STATE/blobs/SHA256    content before a change
//
// STATE lies outside the project, so that the project stays as the user knows it, in git and in exports, and so that a
// page that is served from it cannot read the journal. It is made for one project folder; moving the project loses it.
//
// [Workspace.Undo] takes the newest change back. A record is written before its change and removed after its undoing,
// so a kill at any moment leaves a state from which opening the workspace again goes on: a file that holds what it held
// before its newest change was never changed.
package workspace
