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
// # Broken tags
//
// A tag that is nearly right, misnamed, cut short, repeated, or that a value may hold itself has one certain reading, or the
// call is Malformed; the value never has a broken tag at its end, and nothing of the call is thrown away.
//
// What stands around calls has one reading where the inside is whole: <Tool_Call>, <tool_calls> or [TOOL_CALL] at the start of a
// line and before a declared tool, and </tool_call > or </tools> behind a complete inside, are read as the markers (with attributes, which might say something, the
// call is Malformed); a second </function> is passed over, and so are braces too many behind JSON. What stands beside a nested
// call, and two names for one function, or none, are Malformed.
//
// Between the parameters of Qwen XML nothing but its tags and white space may stand: a start tag without its ">" or with
// more in it than a name is text that a parameter has lost, so the call is Malformed. So it is where </parameter> stands
// twice, for a value may end in that line.
//
// # Values of Qwen XML
//
// A value is text. It ends at </parameter>; in a value that began on a line of its own a </parameter> in the middle of a
// line belongs to the value unless the next tag of the format follows it. One line end on each side is not part of the
// value. The tool's JSON schema says whether the text is a string, or a number, a boolean, null, an array or an object.
//
// Where </parameter> is missing, the value ends at the start tag of another parameter that the tool declares and did not get,
// at </function> or where the call ends, without the white space before it; </KEY>, with the parameter's own name, counts as
// its end tag. That is certain only if the value holds nothing that looks like a tag of the format and does not end in an end
// tag that it did not open itself. A value that is closed may hold what looks like a tag, but not what may begin the next
// parameter: a start tag at the start of a line, or one of a parameter that is still missing.
package toolcall
