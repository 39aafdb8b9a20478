package wire

import (
	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/plugins/models/dense"
	"github.com/pooled/pooled/plugins/models/qwen35"
)

// builtins are the model families that come with the program. Nothing registers itself: this is the list.
var builtins = model.Families{dense.Family{}, qwen35.Family{}}
