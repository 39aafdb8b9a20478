package main

import "strings"

// param is one parameter of a function.
type param struct{ name, typ string }

// parse splits a parameter list such as "dst, x *float32, a float32".
func parse(list string) []param {
	var params []param
	for _, field := range strings.Split(list, ",") {
		name, typ, _ := strings.Cut(strings.TrimSpace(field), " ")
		params = append(params, param{name, typ})
	}
	for i := len(params) - 2; i >= 0; i-- {
		if params[i].typ == "" {
			params[i].typ = params[i+1].typ
		}
	}
	return params
}
