// Package chat turns a conversation into token ids through the model's own chat template, and an answer's text into
// reasoning and content.
//
// # What may become a control token
//
// A template renders a conversation to one flat string in which its own control tokens (<|im_end|> and the like) stand
// beside text of users, tools and files. That text must never become a control token, even if it spells one, wholly or
// across the border to its neighbour. So before rendering, the characters of untrusted strings with which a control token
// could begin or end are replaced by marks: private-use characters that occur nowhere in the input or the template. The
// renderer lets a mark pass for its character in every comparison and search, so a template does not notice, and every
// operation that moves text carries it along. In the rendered prompt the marks say which characters are untrusted; they are
// turned back, and a control token must lie wholly between them. A string that could be the middle of a control token (the
// role in '<|' + role + '|>') has its first character marked as well; the usual roles are exempt.
//
// Untrusted are: contents, reasoning, names, ids, tool calls, tool definitions, template arguments and roles that are not
// the usual ones. Trusted are the template and the model's special tokens.
//
// # Exact ids
//
// A message of the assistant may carry the ids that were sampled for it. Where its text stands unchanged in the rendering,
// these ids are used instead of an encoding of the text, so that the cache of the earlier turn fits. Where the template
// changed the text, such as by leaving out old reasoning, the text is encoded.
package chat
