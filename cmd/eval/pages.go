package main

// pageTasks are about writing pages that work.
func pageTasks() []task {
	return []task{
		{
			name: "page-hello", ask: `Make a page index.html with the heading "Hello, world" and a paragraph with the text "This is my first page".`,
			solution: onePage("<h1>Hello, world</h1>\n<p>This is my first page</p>"),
			check:    works(step{shows: "Hello, world"}, step{shows: "This is my first page"}),
		},
		{
			name: "page-counter", ask: `Make a click counter in index.html: a button with the id "inc" and an element with the id "count" that shows 0 at first and one more with each click.`,
			solution: onePage("<button id=\"inc\">+</button>\n<p>Clicks: <b id=\"count\">0</b></p>\n<script>\nlet n = 0;\ninc.onclick = () => { count.textContent = ++n; };\n</script>"),
			check:    works(step{shows: "0"}, step{do: "click:#inc", shows: "1"}, step{do: "click:#inc", shows: "2"}),
		},
		{
			name: "page-greet", ask: `Make a page index.html with a text field (id "name"), a button (id "go") and a paragraph (id "out"). A click on the button writes "Hello, NAME!" into the paragraph, with what is in the field for NAME.`,
			solution: onePage("<input id=\"name\">\n<button id=\"go\">Go</button>\n<p id=\"out\"></p>\n<script>\ndocument.getElementById('go').onclick = () => {\n  document.getElementById('out').textContent = 'Hello, ' + document.getElementById('name').value + '!';\n};\n</script>"),
			check:    works(step{do: "type:#name=Ada"}, step{do: "click:#go", shows: "Hello, Ada!"}),
		},
		{
			name: "page-todo", ask: `Make a to-do list in index.html: a text field with the id "item", a button with the id "add" that appends what is in the field to a list (a ul with the id "list"), and then empties the field.`,
			solution: onePage("<input id=\"item\">\n<button id=\"add\">Add</button>\n<ul id=\"list\"></ul>\n<script>\ndocument.getElementById('add').onclick = () => {\n  const item = document.getElementById('item');\n  const li = document.createElement('li');\n  li.textContent = item.value;\n  document.getElementById('list').append(li);\n  item.value = '';\n};\n</script>"),
			check:    works(step{do: "type:#item=Buy milk"}, step{do: "click:#add", shows: "Buy milk"}, step{do: "type:#item=Call Bob"}, step{do: "click:#add", shows: "Call Bob"}, step{shows: "Buy milk"}),
		},
		{
			name: "page-convert", ask: `Make a page index.html that converts Celsius to Fahrenheit: a field with the id "c", a button with the id "convert", and an element with the id "f" that shows the result. 100 must give 212.`,
			solution: onePage("<input id=\"c\" type=\"number\">\n<button id=\"convert\">Convert</button>\n<p id=\"f\"></p>\n<script>\ndocument.getElementById('convert').onclick = () => {\n  document.getElementById('f').textContent = Number(document.getElementById('c').value) * 9 / 5 + 32;\n};\n</script>"),
			check:    works(step{do: "type:#c=100"}, step{do: "click:#convert", shows: "212"}, step{do: "type:#c=0"}, step{do: "click:#convert", shows: "32"}),
		},
		{
			name: "page-toggle", ask: `Make a page index.html with a button (id "toggle") and a paragraph (id "secret") with the text "The treasure is buried". The paragraph is not shown at first (style display: none); each click on the button shows or hides it.`,
			solution: onePage("<button id=\"toggle\">Show</button>\n<p id=\"secret\" style=\"display: none\">The treasure is buried</p>\n<script>\ndocument.getElementById('toggle').onclick = () => {\n  const s = document.getElementById('secret');\n  s.style.display = s.style.display === 'none' ? 'block' : 'none';\n};\n</script>"),
			check:    works(step{hides: "treasure"}, step{do: "click:#toggle", shows: "treasure"}, step{do: "click:#toggle", hides: "treasure"}),
		},
		{
			name: "page-add", ask: `Make a page index.html that adds two numbers: fields with the ids "a" and "b", a button with the id "sum", and an element with the id "result" that shows the sum after a click.`,
			solution: onePage("<input id=\"a\"> + <input id=\"b\">\n<button id=\"sum\">=</button>\n<output id=\"result\"></output>\n<script>\ndocument.getElementById('sum').onclick = () => {\n  document.getElementById('result').textContent = Number(document.getElementById('a').value) + Number(document.getElementById('b').value);\n};\n</script>"),
			check:    works(step{do: "type:#a=12"}, step{do: "type:#b=30"}, step{do: "click:#sum", shows: "42"}),
		},
		{
			name: "page-reverse", ask: `Make a page index.html with a field (id "text"), a button (id "reverse") and an element (id "out"). A click shows the text of the field backwards.`,
			solution: onePage("<input id=\"text\">\n<button id=\"reverse\">Reverse</button>\n<p id=\"out\"></p>\n<script>\ndocument.getElementById('reverse').onclick = () => {\n  document.getElementById('out').textContent = [...document.getElementById('text').value].reverse().join('');\n};\n</script>"),
			check:    works(step{do: "type:#text=stressed"}, step{do: "click:#reverse", shows: "desserts"}),
		},
		{
			name: "page-even", ask: `Make a page index.html with a field (id "n"), a button (id "check") and a paragraph (id "out"). A click writes "even" or "odd" into the paragraph, whichever the number in the field is.`,
			solution: onePage("<input id=\"n\">\n<button id=\"check\">Check</button>\n<p id=\"out\"></p>\n<script>\ndocument.getElementById('check').onclick = () => {\n  document.getElementById('out').textContent = Number(document.getElementById('n').value) % 2 ? 'odd' : 'even';\n};\n</script>"),
			check:    works(step{do: "type:#n=8"}, step{do: "click:#check", shows: "even"}, step{do: "type:#n=7"}, step{do: "click:#check", shows: "odd", hides: "even"}),
		},
		{
			name: "page-list", ask: `Make a page index.html with the heading "Planets" and an ordered list of the eight planets, starting with Mercury.`,
			solution: onePage("<h1>Planets</h1>\n<ol>\n<li>Mercury</li>\n<li>Venus</li>\n<li>Earth</li>\n<li>Mars</li>\n<li>Jupiter</li>\n<li>Saturn</li>\n<li>Uranus</li>\n<li>Neptune</li>\n</ol>"),
			check:    all(has("index.html", "<ol", "Mercury", "Venus", "Earth", "Mars", "Jupiter", "Saturn", "Uranus", "Neptune"), works(step{shows: "Planets"})),
		},
		{
			name: "page-score", ask: `Make a score board in index.html: buttons with the ids "red" and "blue", and elements with the ids "redScore" and "blueScore" that show 0. Each button adds one to its score.`,
			solution: onePage("<button id=\"red\">Red</button> <span id=\"redScore\">0</span>\n<button id=\"blue\">Blue</button> <span id=\"blueScore\">0</span>\n<script>\nfor (const team of ['red', 'blue']) {\n  document.getElementById(team).onclick = () => {\n    const score = document.getElementById(team + 'Score');\n    score.textContent = Number(score.textContent) + 1;\n  };\n}\n</script>"),
			check:    works(step{shows: "0"}, step{do: "click:#red", shows: "1"}, step{do: "click:#red", shows: "2"}, step{do: "click:#blue", shows: "1"}, step{shows: "2"}),
		},
		{
			name: "page-files", ask: `Make a counter with the script in a file of its own: index.html with a button (id "inc") and an element (id "count") that shows 0, and app.js, which index.html loads and which counts the clicks.`,
			solution: map[string]string{"index.html": doc("<button id=\"inc\">+</button>\n<p id=\"count\">0</p>\n<script src=\"app.js\"></script>"), "app.js": "let n = 0;\ndocument.getElementById('inc').addEventListener('click', () => {\n  n += 1;\n  document.getElementById('count').textContent = String(n);\n});\n"},
			check:    all(has("index.html", "app.js"), has("app.js", "count"), works(step{shows: "0"}, step{do: "click:#inc", shows: "1"}, step{do: "click:#inc", shows: "2"})),
		},
	}
}

// nanoTasks are the ten of the kind that the embedded model was trained on. It knows few words: what it writes must be there
// and work, no more.
func nanoTasks() []task {
	fine := all(called("write_file"), called("serve"), works())
	heading := func(old, now string) task {
		return task{
			ask:      `Change the heading to "` + now + `"`,
			files:    onePage("<h1>" + old + "</h1>\n<p>Text.</p>"),
			solution: onePage("<h1>" + now + "</h1>\n<p>Text.</p>"),
			check:    has("index.html", "<h1>"+now+"</h1>"),
		}
	}
	list := []task{
		{name: "nano-counter", ask: "Make a click counter", check: fine},
		{name: "nano-stopwatch", ask: "Make a stopwatch", check: fine},
		{name: "nano-todo", ask: "Make a todo list", check: fine},
		{name: "nano-calculator", ask: "Make a calculator", check: fine},
		{name: "nano-product", ask: "What is 123 times 45?", code: "console.log(123 * 45)", check: ran("5535")},
		{name: "nano-sum", ask: "What is 17 plus 25?", code: "console.log(17 + 25)", check: ran("42")},
		{name: "nano-big", ask: "What is 77 times 31?", code: "console.log(77 * 31)", check: ran("2387")},
		heading("Character Counter", "Welcome"), heading("Character Counter", "Good morning"),
		{name: "nano-converter", ask: "Make a temperature converter", check: fine},
	}
	for i := range list {
		switch t := &list[i]; {
		case t.name == "" && list[i-1].name == "nano-heading":
			t.name = "nano-heading2"
		case t.name == "":
			t.name = "nano-heading"
		case t.code == "":
			t.solution = onePage("<button>It works</button>")
		}
	}
	return list
}
