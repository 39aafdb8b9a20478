package assembly

import (
	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/core/tool"
	"github.com/pooled/pooled/plugins/models/dense"
	"github.com/pooled/pooled/plugins/models/qwen35"
	"github.com/pooled/pooled/plugins/tools/files"
	"github.com/pooled/pooled/plugins/tools/preview"
	"github.com/pooled/pooled/plugins/tools/runjs"
)

// builtins are the model families that come with the program. Nothing registers itself: this is the list.
var builtins = model.Families{dense.Family{}, qwen35.Family{}}

// builtinTools are the sets of tools that come with it.
var builtinTools = []tool.Set{files.Set{}, runjs.Set{}, preview.Set{}}
