// Package folders is the one place that knows where the program keeps its things:
//
//	what            with POOLED_HOME       else
//	models          $POOLED_HOME/models    DATA/pooled/models
//	projects        $POOLED_HOME/projects  DATA/pooled/projects
//	plugins         $POOLED_HOME/plugins   CONFIG/pooled/plugins
//	compiled code   $POOLED_HOME/…         CACHE/pooled/{wasm,tools,sandbox}
//
// DATA is $XDG_DATA_HOME or ~/.local/share, ~/Library/Application Support on macOS and %LOCALAPPDATA% on Windows; CONFIG
// and CACHE are those of [os.UserConfigDir] and [os.UserCacheDir].
//
// Models used to lie in CACHE and projects in CONFIG. They are moved when they are first asked for, in one step; see
// [Place] for when they stay.
package folders

import (
	"os"
	"path/filepath"
	"runtime"

	"github.com/pooled/pooled/core/atomicfile"
)

// Home is the variable of the environment that names one folder for everything.
const Home = "POOLED_HOME"

// program is the program's own folder in those of the system.
const program = "pooled"

// Models returns the folder for models.
//
// Errors: [ErrNone].
func Models() (Place, error) { return place("models", os.UserCacheDir) }

// Projects returns the folder for projects and their sessions.
//
// Errors: [ErrNone].
func Projects() (Place, error) { return place("projects", os.UserConfigDir) }

// Plugins returns the folder for plugins; empty where there is none.
func Plugins() string { return in("plugins", os.UserConfigDir) }

// Compiled returns the folder for the compiled code of this process's guests; empty where there is none.
func Compiled() string { return in("wasm", os.UserCacheDir) }

// Tools returns the folder for the compiled code of tools; empty where there is none. It is not that of [Compiled]: what
// runs tools must not be able to give this process code.
func Tools() string { return in("tools", os.UserCacheDir) }

// Sandbox returns the folder for the compiled engine of scripts and pages; empty where there is none.
func Sandbox() string { return in("sandbox", os.UserCacheDir) }

// in returns a folder in POOLED_HOME, or in the program's own one in base.
func in(name string, base func() (string, error)) string {
	if home := os.Getenv(Home); home != "" {
		if abs, err := filepath.Abs(home); err == nil {
			home = abs
		}
		return filepath.Join(home, name)
	}
	dir, err := base()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, program, name)
}

func place(name string, before func() (string, error)) (Place, error) {
	dir := in(name, func() (string, error) { return dataDir(runtime.GOOS, os.Getenv) })
	if dir == "" {
		return Place{}, ErrNone
	}
	// With POOLED_HOME set, this is dir itself.
	return settle(name, in(name, before), dir, atomicfile.Rename), nil
}

// dataDir returns the user's folder for data. A relative path in the environment counts as none.
//
// Source: XDG Base Directory Specification 0.8.
func dataDir(system string, env func(string) string) (string, error) {
	var dir string
	switch system {
	case "windows":
		dir = env("LOCALAPPDATA")
	case "darwin", "ios":
		dir = below(env("HOME"), "Library", "Application Support")
	default:
		if dir = env("XDG_DATA_HOME"); !filepath.IsAbs(dir) {
			dir = below(env("HOME"), ".local", "share")
		}
	}
	if dir == "" {
		return "", ErrNone
	}
	return dir, nil
}

// below is a folder below the user's own, or empty where there is none.
func below(home string, names ...string) string {
	if home == "" {
		return ""
	}
	return filepath.Join(append([]string{home}, names...)...)
}
