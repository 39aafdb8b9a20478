// Bundles happy-dom into one function of the prelude's `host` object.
//
//   node bundle.mjs OUTPUT
//
// happy-dom is taken from npm and changed only where `patches` says: it asks
// hooks.js about scripts, style sheets, images, handlers, errors and navigation,
// which the page guest decides. A patch that does not match exactly as often as it says
// stops the build, so an update of happy-dom cannot lose one silently.
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import esbuild from 'esbuild';

const here = import.meta.dirname;
const output = process.argv[2];

// [file, text, replacement, times]
const patches = [
  // Property handlers (button.onclick) get `this`, and their answer counts.
  ['event/EventTarget.js', 'eventListener(event)', 'hooks.callHandler(this, eventListener, event)', 2],
  // Listeners run with window.event set.
  ['event/EventTarget.js', 'listener.call(this, event)', 'hooks.callListener(this, listener, event)', 2],
  // What an async handler rejects with is an unhandled rejection, which the page guest hears of itself.
  ['event/EventTarget.js', 'result instanceof Promise', 'false', 3],
  // innerText takes any value; colours read back as browsers write them.
  ['nodes/html-element/HTMLElement.js', 'const texts = text.split(', "const texts = (text === null ? '' : String(text)).split(", 2],
  ['css/declaration/property-manager/utilities/CSSValueFormatter.js', '            return value;\n        }\n        return null;\n    }\n    /**\n     * Returns URL.',
    '            return hooks.hexColor(value);\n        }\n        return null;\n    }\n    /**\n     * Returns URL.', 1],
  // Attribute handlers (onclick="…") are compiled by the page guest, with their position.
  ['nodes/element/ElementEventAttributeUtility.js',
    'const cached = element[PropertySymbol.propertyEventListeners].get(property);',
    'const cached = element[PropertySymbol.propertyEventListeners].get(property) ?? hooks.attributeHandler(element, property);', 1],
  // Scripts run when and how the page guest says.
  ['nodes/html-script-element/HTMLScriptElement.js',
    'super[PropertySymbol.connectedToDocument]();\n        if (this[PropertySymbol.disableEvaluation]) {',
    'super[PropertySymbol.connectedToDocument]();\n        hooks.script(this);\n        if (hooks) {', 1],
  ['nodes/html-script-element/HTMLScriptElement.js',
    "if (this.getAttribute('type') === 'module') {\n                this.#loadModule(attribute[PropertySymbol.value]);",
    "if (hooks) hooks.script(this);\n            else if (this.getAttribute('type') === 'module') {\n                this.#loadModule(attribute[PropertySymbol.value]);", 1],
  ['nodes/html-link-element/HTMLLinkElement.js', 'this.#loadStyleSheet(href)', 'hooks.styleSheet(this, href)', 2],
  ['nodes/html-link-element/HTMLLinkElement.js', 'this.#preloadModule(href)', 'void 0', 2],
  ['nodes/html-link-element/HTMLLinkElement.js', 'this.#preloadResource(href)', 'void 0', 2],
  ['nodes/html-image-element/HTMLImageElement.js',
    'const settings = new WindowBrowserContext(this[PropertySymbol.window]).getSettings();\n            if (settings?.enableImageFileLoading) {\n                this.#loadUrlSource(this.src);\n            }',
    'hooks.image(this, url);', 1],
  // Errors are told with their position, once.
  ['window/BrowserWindow.js',
    "this.#browserFrame.page.console.error(error);\n        this.dispatchEvent(new ErrorEvent('error', { message: error.message, error }));",
    'hooks.uncaught(error);', 1],
  // The page guest says when the document is complete.
  ['window/BrowserWindow.js', 'this[PropertySymbol.readyStateManager].waitUntilComplete().then(', 'new Promise(() => {}).then(', 1],
  // Leaving the page is recorded, never done.
  ['browser/utilities/BrowserFrameNavigator.js', '        // Validate navigation\n', '        hooks.navigate(targetURL.href, Boolean(method || formData));\n        return null;\n', 1],
];

const used = new Map();
const happy = path.dirname(path.dirname(path.join(here, 'node_modules/happy-dom/lib/index.js')));

const patcher = {
  name: 'patches',
  setup(build) {
    build.onLoad({ filter: /happy-dom[\\/]lib[\\/].*\.js$/ }, (args) => {
      const name = path.relative(path.join(happy, 'lib'), args.path).split(path.sep).join('/');
      const mine = patches.filter(([file]) => file === name);
      let text = fs.readFileSync(args.path, 'utf8');
      if (mine.length === 0) return { contents: text, loader: 'js' };
      for (const patch of mine) {
        const [, from, to, times] = patch;
        const found = text.split(from).length - 1;
        if (found !== times) throw new Error(`patch of ${name} matches ${found} times, want ${times}: ${from}`);
        text = text.split(from).join(to);
        used.set(patch, true);
      }
      text = `import { hooks } from ${JSON.stringify(path.join(here, 'src/hooks.js'))};\n${text}`;
      return { contents: text, loader: 'js', resolveDir: path.dirname(args.path) };
    });
  },
};

const builtins = /^(node:)?(buffer|child_process|crypto|fs|http|https|net|path|perf_hooks|stream|stream\/web|url|util|vm|ws|zlib)$/;
const nodeStubs = {
  name: 'node',
  setup(build) {
    build.onResolve({ filter: builtins }, () => ({ path: path.join(here, 'src/node.js') }));
  },
};

await esbuild.build({
  entryPoints: [path.join(here, 'src/entry.js')],
  bundle: true,
  format: 'iife',
  platform: 'browser',
  target: 'es2022',
  minify: true,
  keepNames: true,
  legalComments: 'none',
  charset: 'utf8',
  logLevel: 'error',
  banner: { js: '(function(host){const process={platform:"linux",arch:"x64",env:{},on(){},off(){},listenerCount:()=>0,cwd:()=>"/",version:"v22.0.0",versions:{node:"22.0.0"}};' },
  footer: { js: '})' },
  plugins: [patcher, nodeStubs],
  outfile: output,
});
if (used.size !== patches.length) throw new Error(`${patches.length - used.size} patches were not used`);
const text = fs.readFileSync(output);
console.log(`${createHash('sha256').update(text).digest('hex')}  ${path.basename(output)}  ${text.length} bytes`);
