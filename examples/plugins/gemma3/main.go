// Command gemma3 is a Pooled plugin that adds the model family gemma3, by nothing but the public contract.
package main

import "github.com/pooled/pooled/core/plugin/serve"

func main() { serve.Family(Family{}) }
