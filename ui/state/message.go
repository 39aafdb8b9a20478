package state

import (
	"github.com/pooled/pooled/ui/markdown"
)

// Status says how far a [Message] is.
type Status uint8

// The statuses.
const (
	// Waiting is an answer of which nothing has come yet.
	Waiting Status = iota
	// Streaming is an answer that grows.
	Streaming
	// Done is an answer that ended, for the reason in its Answer.
	Done
	// Failed is an answer that an error ended.
	Failed
)

// Message is one turn of the chat. It is changed by its [App] only.
type Message struct {
	// ID is the message's own: no other message of the window has it.
	ID int
	// User says who speaks; Text is what a user said.
	User bool
	Text string

	// Doc is an answer, and Reasoning what the model thought before it.
	Doc       markdown.Document
	Reasoning string
	// Unfolded shows the reasoning.
	Unfolded bool
	Status   Status
	Answer   Answer
	// Ahead counts the answers that come before this one, while it waits for the model.
	Ahead int
	// Read and ToRead count the tokens of the prompt.
	Read, ToRead int
}

// RowKind says what a [Row] is.
type RowKind uint8

// The kinds of rows.
const (
	RowUser RowKind = iota
	RowReasoning
	// RowWaiting stands where the answer will be.
	RowWaiting
	RowBlock
	// RowEnd carries the actions of a finished answer.
	RowEnd
)

// Row is an item of the list that the chat is drawn as. A message has several, so that a growing answer changes only
// the last of them.
type Row struct {
	Kind    RowKind
	Message *Message
	// Block is a [RowBlock]'s, and Index its number in the message.
	Block *markdown.Block
	Index int
}

// rows appends the rows of a message.
func (m *Message) rows(to []Row) []Row {
	if m.User {
		return append(to, Row{Kind: RowUser, Message: m})
	}
	if m.Reasoning != "" {
		to = append(to, Row{Kind: RowReasoning, Message: m})
	}
	for i, b := range m.Doc.Blocks() {
		to = append(to, Row{Kind: RowBlock, Message: m, Block: b, Index: i})
	}
	if m.Status == Waiting || m.Status == Streaming && m.Doc.Len() == 0 {
		return append(to, Row{Kind: RowWaiting, Message: m})
	}
	if m.Status == Streaming {
		return to
	}
	return append(to, Row{Kind: RowEnd, Message: m})
}
