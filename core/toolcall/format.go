package toolcall

import "strings"

// Format is a way of writing calls.
type Format uint8

// The formats; see the package comment.
const (
	// None is a template that has no place for calls.
	None Format = iota
	// Unknown is a template that writes calls in a way that this package does not read.
	Unknown
	// QwenXML is what Qwen3-Coder, Qwen3.5 and nano write.
	QwenXML
	// HermesJSON is what Hermes, Qwen2.5, Qwen3 and QwQ write.
	HermesJSON
	// LlamaJSON is what Llama 3.1 to 3.3 write.
	LlamaJSON
	// MistralJSON is what Mistral Nemo and its contemporaries write.
	MistralJSON
	// MistralArgs is what Mistral Small 3.2 and later write.
	MistralArgs
)

var formatNames = [...]string{"none", "unknown", "qwen-xml", "hermes-json", "llama-json", "mistral-json", "mistral-args"}

func (f Format) String() string {
	if int(f) < len(formatNames) {
		return formatNames[f]
	}
	return "invalid"
}

// Known reports whether calls of the format can be read.
func (f Format) Known() bool { return f >= QwenXML && f <= MistralArgs }

// Markers of the formats.
const (
	callOpen   = "<tool_call>"
	callClose  = "</tool_call>"
	pythonTag  = "<|python_tag|>"
	mistralTag = "[TOOL_CALLS]"
	mistralID  = "[CALL_ID]"
	mistralArg = "[ARGS]"
)

// Markers returns the texts of a format that may be single tokens of a vocabulary.
func (f Format) Markers() []string {
	switch f {
	case QwenXML, HermesJSON:
		return []string{callOpen, callClose}
	case LlamaJSON:
		return []string{pythonTag}
	case MistralJSON:
		return []string{mistralTag}
	case MistralArgs:
		return []string{mistralTag, mistralID, mistralArg}
	}
	return nil
}

// Detect returns the format that a chat template (jinja) shows.
//
// It looks at the template's text: the markers that it writes around calls stand in it literally, whatever the code around
// them does.
func Detect(template string) Format {
	has := func(s string) bool { return strings.Contains(template, s) }
	arguments := has(`"arguments"`) || has(`\"arguments\"`) || has(`'arguments'`)
	switch {
	case has(mistralTag) && has(mistralArg):
		return MistralArgs
	case has(mistralTag):
		return MistralJSON
	case has(callOpen) && has("<function="):
		return QwenXML
	case has(callOpen) && arguments && !has("<arg_key>"):
		return HermesJSON
	case has(`{"name": "`) && has(`"parameters": `) && has("tool_calls"):
		return LlamaJSON
	case has("tool_calls") || has("tool_call>"):
		return Unknown
	}
	return None
}
