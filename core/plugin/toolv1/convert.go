package toolv1

import "github.com/pooled/pooled/core/tool"

// encodeInfo says what a set is, in a version of the contract.
func encodeInfo(info tool.Info, version int) *InfoResponse {
	w := &InfoResponse{Name: info.Name, Contract: int32(min(info.Contract, version))}
	for _, t := range info.Tools {
		e := &Tool{
			Name: t.Name, Description: t.Description, Parameters: t.Parameters, Class: string(t.Class), Previews: t.Previews,
		}
		if version >= Version2 {
			r := t.Roles
			e.Does, e.Reports = string(t.Does), t.Reports
			e.Roles = &Roles{Path: r.Path, Content: r.Content, Old: r.Old, New: r.New, Brief: r.Brief}
		}
		w.Tools = append(w.Tools, e)
	}
	if version >= Version2 {
		w.Prompt = info.Prompt
	}
	return w
}

// decodeInfo is the inverse of encodeInfo. What it returns is not checked.
func decodeInfo(w *InfoResponse, version int) tool.Info {
	info := tool.Info{Name: w.GetName(), Contract: int(w.GetContract())}
	for _, t := range w.GetTools() {
		s := tool.Spec{
			Name: t.GetName(), Description: t.GetDescription(), Parameters: t.GetParameters(),
			Class: tool.Class(t.GetClass()), Previews: t.GetPreviews(),
		}
		if r := t.GetRoles(); version >= Version2 {
			s.Does, s.Reports = tool.Act(t.GetDoes()), t.GetReports()
			s.Roles = tool.Roles{Path: r.GetPath(), Content: r.GetContent(), Old: r.GetOld(), New: r.GetNew(), Brief: r.GetBrief()}
		}
		info.Tools = append(info.Tools, s)
	}
	if version >= Version2 {
		info.Prompt = w.GetPrompt()
	}
	return info
}

// encodeHealth says how a page is; nil where nobody looked.
func encodeHealth(h *tool.Health) *Health {
	if h == nil {
		return nil
	}
	return &Health{Page: h.Page, Problems: h.Problems, Url: h.URL}
}

// decodeHealth is the inverse of encodeHealth. What it returns is not checked.
func decodeHealth(w *Health) *tool.Health {
	if w == nil {
		return nil
	}
	return &tool.Health{Page: w.GetPage(), Problems: w.GetProblems(), URL: w.GetUrl()}
}
