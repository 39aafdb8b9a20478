// Package core holds nothing itself: its subpackages are the contracts and the orchestration of Pooled. Its tests walk
// the import graph and the doc comments of the whole module.
package core
