// Package toolcall reads tool calls out of what a model writes, and writes the grammars that hold a model to them.
//
// # Formats
//
// A model knows one way of writing a call, and its chat template shows which. Detect looks for it:
//
//	QwenXML      <tool_call>\n<function=NAME>\n<parameter=KEY>\nvalue\n</parameter>\n</function>\n</tool_call>
//	HermesJSON   <tool_call>\n{"name": NAME, "arguments": {…}}\n</tool_call>
//	LlamaJSON    {"name": NAME, "parameters": {…}}, as the whole answer or after <|python_tag|>
//	MistralJSON  [TOOL_CALLS][{"name": NAME, "arguments": {…}}, …]
//	MistralArgs  [TOOL_CALLS]NAME[ARGS]{…}, with an optional [CALL_ID]ID before [ARGS]
//
// # Parsing
//
// A Parser takes an answer in pieces of any size and returns events. It decides byte by byte, so the pieces do not matter.
// Text is shown as it comes; only what may still become the start of a call, and white space before it, is held back.
// Nothing is lost: the texts of the Text events and the Raw of the Call, Unfinished and Malformed events, in order, are the
// input.
//
// # Repairs
//
// Small models miss the format narrowly and often in the same ways. What can have been meant in one way only is read that
// way, and the event names each repair. What can be read in two ways is not guessed: it becomes Malformed, with a reason
// that is written for the model. A call without its markers (bare JSON, or JSON in a code fence) counts only if it names a
// declared tool, and in the middle of an answer only if no text follows it.
//
// This is the one place where calls are mended, arguments included: the schema says which names, types and absent values can
// have been meant. Whatever stands behind a Parser judges arguments as they are. Options.NoRepair switches every repair off.
//
// # Values of Qwen XML
//
// A value is text. It ends at </parameter>; in a value that began on a line of its own a </parameter> in the middle of a
// line belongs to the value unless the next tag of the format follows it. One newline on each side is not part of the
// value. The tool's JSON schema says whether the text is a string, or a number, a boolean, null, an array or an object.
package toolcall
