package cpu_test

import (
	"testing"

	"github.com/pooled/pooled/core/engine/enginetest"
	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/gpu/cpu"
	"github.com/pooled/pooled/plugins/models/dense"
	"github.com/pooled/pooled/plugins/models/qwen35"
)

func BenchmarkModel(b *testing.B) {
	be := cpu.New(2)
	defer be.Close()
	enginetest.Bench(b, be, []model.Family{dense.Family{}, qwen35.Family{}})
}
