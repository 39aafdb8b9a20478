package wasmtool

import (
	"encoding/json"
	"fmt"

	"github.com/pooled/pooled/core/tool"
)

// setForm is what a module says about itself.
type setForm struct {
	Name     string     `json:"name"`
	Contract int        `json:"contract"`
	Prompt   []string   `json:"prompt"`
	Tools    []toolForm `json:"tools"`
}

// toolForm declares a tool.
type toolForm struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Class       tool.Class      `json:"class"`
	Previews    bool            `json:"previews"`
	Does        tool.Act        `json:"does"`
	Roles       rolesForm       `json:"roles"`
	Reports     bool            `json:"reports"`
}

// rolesForm names arguments.
type rolesForm struct {
	Path    string   `json:"path"`
	Content string   `json:"content"`
	Old     string   `json:"old"`
	New     string   `json:"new"`
	Brief   []string `json:"brief"`
}

// healthForm is how a tool found a page.
type healthForm struct {
	Page     string   `json:"page"`
	Problems []string `json:"problems"`
	URL      string   `json:"url"`
}

// decode returns h for the contract; nil where the module did not look.
func (h *healthForm) decode() *tool.Health { return (*tool.Health)(h) }

// decodeInfo reads what a module says about itself.
func decodeInfo(answer []byte) (tool.Info, error) {
	var w setForm
	if err := json.Unmarshal(answer, &w); err != nil {
		return tool.Info{}, fmt.Errorf("its info is not as it must be: %w", err)
	}
	i := tool.Info{Name: w.Name, Contract: w.Contract, Prompt: w.Prompt}
	for _, t := range w.Tools {
		i.Tools = append(i.Tools, tool.Spec{
			Name: t.Name, Description: t.Description, Parameters: t.Parameters, Class: t.Class, Previews: t.Previews,
			Does: t.Does, Roles: tool.Roles(t.Roles), Reports: t.Reports,
		})
	}
	return i, i.Check()
}
