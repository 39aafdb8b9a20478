// Package export makes one file of a project: an archive, or a page that needs no other file.
package export
