// Command pooled is the hub and the command line of Pooled.
package main

import (
	"context"
	"os"

	"github.com/pooled/pooled/cmd/internal/console"
	"github.com/pooled/pooled/cmd/pooled/internal/cli"
)

func main() {
	os.Exit(cli.Main(context.Background(), console.Standard(), os.Args[1:]))
}
