package agent

import "errors"

var (
	// ErrBusy is returned when a turn is asked for while another runs.
	ErrBusy = errors.New("the agent is still at work")
	// ErrContext says that not even a compacted conversation fits the model's context.
	ErrContext = errors.New("the conversation does not fit the model's context, even shortened; start a new session or use a larger context")
	// ErrNoCalls says that the model's template shows no way of calling tools that is known.
	ErrNoCalls = errors.New("this model's chat template has no tool calls that are understood, so it cannot work on a project; use a model made for tools, such as qwen2.5-coder")
	// ErrUnknown is wrapped when there is no tool of a name.
	ErrUnknown = errors.New("there is no such thing")
)
