package main

// doc wraps a page's body.
func doc(body string) string {
	return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>Page</title>\n</head>\n<body>\n" + body + "\n</body>\n</html>\n"
}

// page is the solution that is one page.
func onePage(body string) map[string]string { return map[string]string{"index.html": doc(body)} }

// tasks are the thirty of the evaluation. What a check needs, the task says.
func tasks() []task {
	return append(append(append(fileTasks(), runTasks()...), pageTasks()...), mendTasks()...)
}

// fileTasks are about files alone.
func fileTasks() []task {
	return []task{
		{
			name: "files-create", ask: `Create a file notes.txt that contains the line "Buy milk".`,
			solution: map[string]string{"notes.txt": "Buy milk\n"},
			check:    has("notes.txt", "Buy milk"),
		},
		{
			name: "files-heading", ask: `Change the heading in index.html to "Welcome home".`,
			files:    onePage("<h1>Hello</h1>\n<p>Some text that stays.</p>"),
			solution: onePage("<h1>Welcome home</h1>\n<p>Some text that stays.</p>"),
			check:    all(has("index.html", "<h1>Welcome home</h1>", "Some text that stays."), lacks("index.html", "<h1>Hello</h1>")),
		},
		{
			name: "files-title", ask: `Set the title of the page index.html (the title element) to "My Garden". Leave the rest as it is.`,
			files:    onePage("<h1>Plants</h1>"),
			solution: map[string]string{"index.html": "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>My Garden</title>\n</head>\n<body>\n<h1>Plants</h1>\n</body>\n</html>\n"},
			check:    has("index.html", "<title>My Garden</title>", "<h1>Plants</h1>"),
		},
		{
			name: "files-json", ask: `In config.json, set "port" to 8080. Change nothing else.`,
			files:    map[string]string{"config.json": "{\n  \"name\": \"shop\",\n  \"port\": 3000\n}\n"},
			solution: map[string]string{"config.json": "{\n  \"name\": \"shop\",\n  \"port\": 8080\n}\n"},
			check:    all(has("config.json", "8080", `"name": "shop"`), lacks("config.json", "3000")),
		},
		{
			name: "files-search", ask: `Which file defines the function calculateTax? Say its name.`,
			files: map[string]string{
				"a.js": "function total(list) { return list.length; }\n", "lib/money.js": "export function calculateTax(sum) { return sum * 0.2; }\n",
				"b.js": "console.log('nothing here');\n",
			},
			solution: map[string]string{},
			check:    said("money.js"),
		},
		{
			name: "files-two", ask: `Create two files: style.css with a rule that makes the body's background black, and index.html, a page with the heading "Night" that links to style.css.`,
			solution: map[string]string{
				"style.css":  "body { background: black; }\n",
				"index.html": "<!DOCTYPE html>\n<html>\n<head>\n<title>Night</title>\n<link rel=\"stylesheet\" href=\"style.css\">\n</head>\n<body>\n<h1>Night</h1>\n</body>\n</html>\n",
			},
			check: all(has("style.css", "body", "background"), has("index.html", "style.css"), works(step{shows: "Night"})),
		},
		{
			name: "files-rename", ask: `In app.js the variable "cnt" is badly named. Rename it to "count" everywhere in the file.`,
			files:    map[string]string{"app.js": "let cnt = 0;\nfunction inc() {\n  cnt = cnt + 1;\n  return cnt;\n}\n"},
			solution: map[string]string{"app.js": "let count = 0;\nfunction inc() {\n  count = count + 1;\n  return count;\n}\n"},
			check:    all(has("app.js", "let count = 0", "count = count + 1", "return count"), lacks("app.js", "cnt")),
		},
		{
			name: "files-list", ask: `How many .txt files are in the folder docs? Answer with the number.`,
			files:    map[string]string{"docs/a.txt": "a\n", "docs/b.txt": "b\n", "docs/c.md": "c\n", "docs/d.txt": "d\n"},
			solution: map[string]string{},
			check: func(w *world) error {
				if said("3")(w) == nil {
					return nil
				}
				return said("three")(w)
			},
		},
	}
}

// runTasks are about computing.
func runTasks() []task {
	return []task{
		{name: "run-product", ask: "What is 4711 times 1234? Compute it with run_js.", code: "console.log(4711 * 1234)", check: ran("5813374")},
		{
			name: "run-primes", ask: "Use run_js to find the sum of all prime numbers below 100.",
			code:  "let s = 0; for (let n = 2; n < 100; n++) { let p = true; for (let d = 2; d * d <= n; d++) if (n % d === 0) p = false; if (p) s += n; } console.log(s)",
			check: ran("1060"),
		},
		{name: "run-letters", ask: `Use run_js to count how often the letter "s" is in "mississippi".`, code: "console.log([...'mississippi'].filter((c) => c === 's').length)", check: ran("4")},
		{
			name: "run-sort", ask: "Use run_js to sort the numbers 42, 7, 19, 3 and 25 in ascending order and print them, separated by commas.",
			code: "console.log([42, 7, 19, 3, 25].sort((a, b) => a - b).join(','))",
			check: func(w *world) error {
				for _, text := range []string{"3,7,19,25,42", "3, 7, 19, 25, 42"} {
					if ran(text)(w) == nil {
						return nil
					}
				}
				return ran("3,7,19,25,42")(w)
			},
		},
		{name: "run-fibonacci", ask: "Compute the 30th Fibonacci number with run_js, where the first and the second are 1.", code: "let a = 1, b = 1; for (let i = 2; i < 30; i++) [a, b] = [b, a + b]; console.log(b)", check: ran("832040")},
	}
}

// mendTasks are about pages that do not work.
func mendTasks() []task {
	counter := func(script string) string {
		return "<button id=\"inc\">Add</button>\n<p>Count: <span id=\"count\">0</span></p>\n<script>\n" + script + "\n</script>"
	}
	right := "let count = 0;\ndocument.getElementById('inc').addEventListener('click', () => {\n  count++;\n  document.getElementById('count').textContent = count;\n});"
	counts := works(step{shows: "Count: 0"}, step{do: "click:#inc", shows: "Count: 1"}, step{do: "click:#inc", shows: "Count: 2"})
	return []task{
		{
			name: "mend-syntax", ask: "The page index.html shows an error. Find it and mend it.",
			files:    onePage(counter("let count = 0;\ndocument.getElementById('inc').addEventListener('click', () => {\n  count++;\n  document.getElementById('count').textContent = count;\n;")),
			solution: onePage(counter(right)), check: counts,
		},
		{
			name: "mend-name", ask: "In index.html the button does nothing. Find out why and mend it.",
			files:    onePage(counter("let count = 0;\ndocument.getElementById('increment').addEventListener('click', () => {\n  count++;\n  document.getElementById('count').textContent = count;\n});")),
			solution: onePage(counter(right)), check: counts,
		},
		{
			name: "mend-script", ask: "index.html cannot find its script. Mend the page so that it loads the script that is there.",
			files:    map[string]string{"index.html": doc("<p id=\"out\">waiting</p>\n<script src=\"main.js\"></script>"), "app.js": "document.getElementById('out').textContent = 'script is running';\n"},
			solution: map[string]string{"index.html": doc("<p id=\"out\">waiting</p>\n<script src=\"app.js\"></script>")},
			check:    works(step{shows: "script is running"}),
		},
		{
			name: "mend-wrong", ask: "The page index.html should count up by one with each click, but it counts wrongly. Mend it.",
			files:    onePage(counter("let count = 0;\ndocument.getElementById('inc').addEventListener('click', () => {\n  count += 2;\n  document.getElementById('count').textContent = count;\n});")),
			solution: onePage(counter(right)), check: counts,
		},
		{
			name: "mend-add", ask: `Add a button with the id "reset" to index.html that sets the count back to 0. What works must go on working.`,
			files:    onePage(counter(right)),
			solution: onePage("<button id=\"reset\">Reset</button>\n" + counter(right+"\ndocument.getElementById('reset').onclick = () => { count = 0; document.getElementById('count').textContent = 0; };")),
			check:    works(step{shows: "Count: 0"}, step{do: "click:#inc", shows: "Count: 1"}, step{do: "click:#reset", shows: "Count: 0"}, step{do: "click:#inc", shows: "Count: 1"}),
		},
	}
}
