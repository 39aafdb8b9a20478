// The properties of CSS that a page may ask for: initial value, whether it is inherited, and
// what it takes. One line each: name | initial | what. A leading ^ means inherited. Of what it
// takes, a word is a keyword and <x> a kind of value (see values.js); ? takes anything, # a
// list with commas, * a list without.
(function (host) {
  'use strict';
  const { page } = host;

  const width = 'thin medium thick <l+>';
  const line = 'none hidden dotted dashed solid double groove ridge inset outset';
  const size = 'auto min-content max-content fit-content stretch -webkit-fill-available <lp+> <f>';
  const limit = 'none min-content max-content fit-content stretch -webkit-fill-available <lp+> <f>';
  const place = 'normal stretch center start end flex-start flex-end self-start self-end left right baseline first last safe unsafe space-between space-around space-evenly auto legacy';
  const table = `
accent-color|auto|auto <c>
align-content|normal|*${place}
align-items|normal|*${place}
align-self|auto|*${place}
animation-composition|replace|#replace add accumulate
animation-delay|0s|#<t>
animation-direction|normal|#normal reverse alternate alternate-reverse
animation-duration|auto|#auto <t+>
animation-fill-mode|none|#none forwards backwards both
animation-iteration-count|1|#infinite <n+>
animation-name|none|#none <id> <s>
animation-play-state|running|#running paused
animation-timeline|auto|?
animation-timing-function|ease|#ease linear ease-in ease-out ease-in-out step-start step-end <f>
appearance|none|<id>
aspect-ratio|auto|?
backdrop-filter|none|?
backface-visibility|visible|visible hidden
background-attachment|scroll|#scroll fixed local
background-blend-mode|normal|#<id>
background-clip|border-box|#border-box padding-box content-box text border-area
background-color|rgba(0, 0, 0, 0)|<c>
background-image|none|#none <u> <f>
background-origin|padding-box|#border-box padding-box content-box
background-position-x|0%|#left right center <lp>
background-position-y|0%|#top bottom center <lp>
background-repeat|repeat|#repeat no-repeat repeat-x repeat-y space round
background-size|auto|#auto cover contain <lp+>
border-bottom-color|currentcolor|<c>
border-bottom-left-radius|0px|*<lp+>
border-bottom-right-radius|0px|*<lp+>
border-bottom-style|none|${line}
border-bottom-width|medium|${width}
^border-collapse|separate|separate collapse
border-image-outset|0|*<l+> <n+>
border-image-repeat|stretch|*stretch repeat round space
border-image-slice|100%|*fill <n+> <p>
border-image-source|none|none <u> <f>
border-image-width|1|*auto <lp+> <n+>
border-left-color|currentcolor|<c>
border-left-style|none|${line}
border-left-width|medium|${width}
border-right-color|currentcolor|<c>
border-right-style|none|${line}
border-right-width|medium|${width}
^border-spacing|0px|*<l+>
border-top-color|currentcolor|<c>
border-top-left-radius|0px|*<lp+>
border-top-right-radius|0px|*<lp+>
border-top-style|none|${line}
border-top-width|medium|${width}
bottom|auto|auto <lp> <f>
box-decoration-break|slice|slice clone
box-shadow|none|?
box-sizing|content-box|content-box border-box
break-after|auto|<id>
break-before|auto|<id>
break-inside|auto|<id>
^caption-side|top|top bottom
^caret-color|auto|auto <c>
clear|none|none left right both inline-start inline-end
clip|auto|?
clip-path|none|?
^clip-rule|nonzero|nonzero evenodd
^color|rgb(0, 0, 0)|<c>
^color-interpolation|srgb|<id>
^color-scheme|normal|*<id>
column-count|auto|auto <i>
column-fill|balance|balance auto
column-gap|normal|normal <lp+>
column-rule-color|currentcolor|<c>
column-rule-style|none|${line}
column-rule-width|medium|${width}
column-span|none|none all
column-width|auto|auto <l+>
contain|none|*none strict content size inline-size layout style paint
container-name|none|*<id>
container-type|normal|*<id>
content|normal|?
content-visibility|visible|visible auto hidden
counter-increment|none|?
counter-reset|none|?
counter-set|none|?
^cursor|auto|?
cx|0px|<lp> <n>
cy|0px|<lp> <n>
d|none|?
^direction|ltr|ltr rtl
display|inline|none block inline inline-block flex inline-flex grid inline-grid flow flow-root table inline-table table-row table-cell table-row-group table-header-group table-footer-group table-column table-column-group table-caption list-item contents ruby ruby-text math -webkit-box -webkit-inline-box -webkit-flex -webkit-inline-flex
^dominant-baseline|auto|<id>
^empty-cells|show|show hide
field-sizing|fixed|fixed content
^fill|rgb(0, 0, 0)|?
^fill-opacity|1|<n> <p>
^fill-rule|nonzero|nonzero evenodd
filter|none|?
flex-basis|auto|content ${size}
flex-direction|row|row row-reverse column column-reverse
flex-grow|0|<n+>
flex-shrink|1|<n+>
flex-wrap|nowrap|nowrap wrap wrap-reverse
float|none|none left right inline-start inline-end
flood-color|rgb(0, 0, 0)|<c>
flood-opacity|1|<n> <p>
^font-family|"Times New Roman"|?
^font-feature-settings|normal|?
^font-kerning|auto|auto normal none
^font-optical-sizing|auto|auto none
^font-palette|normal|<id>
^font-size|16px|xx-small x-small small medium large x-large xx-large xxx-large smaller larger <lp+>
^font-size-adjust|none|?
^font-stretch|100%|normal ultra-condensed extra-condensed condensed semi-condensed semi-expanded expanded extra-expanded ultra-expanded <p>
^font-style|normal|*normal italic oblique <a>
^font-synthesis-weight|auto|auto none
^font-variant-alternates|normal|?
^font-variant-caps|normal|normal small-caps all-small-caps petite-caps all-petite-caps unicase titling-caps
^font-variant-east-asian|normal|*<id>
^font-variant-ligatures|normal|*<id>
^font-variant-numeric|normal|*<id>
^font-variant-position|normal|normal sub super
^font-variation-settings|normal|?
^font-weight|400|normal bold bolder lighter <n+>
forced-color-adjust|auto|<id>
grid-auto-columns|auto|*${size}
grid-auto-flow|row|*row column dense
grid-auto-rows|auto|*${size}
grid-column-end|auto|*auto span <i> <id>
grid-column-start|auto|*auto span <i> <id>
grid-row-end|auto|*auto span <i> <id>
grid-row-start|auto|*auto span <i> <id>
grid-template-areas|none|?
grid-template-columns|none|?
grid-template-rows|none|?
height|auto|${size}
^hyphens|manual|none manual auto
^image-orientation|from-image|?
^image-rendering|auto|auto smooth high-quality pixelated crisp-edges -webkit-optimize-contrast
inset-block-end|auto|auto <lp> <f>
inset-block-start|auto|auto <lp> <f>
inset-inline-end|auto|auto <lp> <f>
inset-inline-start|auto|auto <lp> <f>
interpolate-size|numeric-only|<id>
isolation|auto|auto isolate
justify-content|normal|*${place}
justify-items|normal|*${place}
justify-self|auto|*${place}
left|auto|auto <lp> <f>
^letter-spacing|normal|normal <lp>
lighting-color|rgb(255, 255, 255)|<c>
^line-break|auto|auto loose normal strict anywhere
^line-height|normal|normal <lp+> <n+>
^list-style-image|none|none <u> <f>
^list-style-position|outside|inside outside
^list-style-type|disc|<id> <s> <f>
margin-bottom|0px|auto <lp> <f>
margin-left|0px|auto <lp> <f>
margin-right|0px|auto <lp> <f>
margin-top|0px|auto <lp> <f>
^marker-end|none|none <u>
^marker-mid|none|none <u>
^marker-start|none|none <u>
mask-clip|border-box|#<id>
mask-composite|add|#<id>
mask-image|none|#none <u> <f>
mask-mode|match-source|#<id>
mask-origin|border-box|#<id>
mask-position|0% 0%|?
mask-repeat|repeat|#repeat no-repeat repeat-x repeat-y space round
mask-size|auto|#auto cover contain <lp+>
mask-type|luminance|luminance alpha
max-height|none|${limit}
max-width|none|${limit}
min-height|auto|${size}
min-width|auto|${size}
mix-blend-mode|normal|<id>
object-fit|fill|fill contain cover none scale-down
object-position|50% 50%|?
offset-distance|0px|<lp>
offset-path|none|?
offset-rotate|auto|?
opacity|1|<n> <p>
order|0|<i>
^orphans|2|<i>
outline-color|currentcolor|auto <c>
outline-offset|0px|<l>
outline-style|none|auto ${line}
outline-width|medium|${width}
overflow-anchor|auto|auto none
overflow-clip-margin|0px|?
^overflow-wrap|normal|normal break-word anywhere
overflow-x|visible|visible hidden clip scroll auto overlay
overflow-y|visible|visible hidden clip scroll auto overlay
overscroll-behavior-x|auto|auto contain none
overscroll-behavior-y|auto|auto contain none
padding-bottom|0px|<lp+>
padding-left|0px|<lp+>
padding-right|0px|<lp+>
padding-top|0px|<lp+>
page|auto|<id>
^paint-order|normal|*<id>
perspective|none|none <l+>
perspective-origin|50% 50%|?
^pointer-events|auto|auto none visiblepainted visiblefill visiblestroke visible painted fill stroke bounding-box all
position|static|static relative absolute fixed sticky
position-anchor|normal|<id>
print-color-adjust|economy|economy exact
^quotes|auto|?
r|0px|<lp+> <n+>
resize|none|none both horizontal vertical block inline
right|auto|auto <lp> <f>
rotate|none|?
row-gap|normal|normal <lp+>
^ruby-align|space-around|<id>
^ruby-position|over|*<id>
rx|auto|auto <lp+> <n+>
ry|auto|auto <lp+> <n+>
scale|none|?
scroll-behavior|auto|auto smooth
scroll-margin-bottom|0px|<l>
scroll-margin-left|0px|<l>
scroll-margin-right|0px|<l>
scroll-margin-top|0px|<l>
scroll-padding-bottom|auto|auto <lp+>
scroll-padding-left|auto|auto <lp+>
scroll-padding-right|auto|auto <lp+>
scroll-padding-top|auto|auto <lp+>
scroll-snap-align|none|*none start end center
scroll-snap-stop|normal|normal always
scroll-snap-type|none|*none x y block inline both mandatory proximity
scroll-timeline-name|none|?
^scrollbar-color|auto|*auto <c>
scrollbar-gutter|auto|*auto stable both-edges
scrollbar-width|auto|auto thin none
shape-image-threshold|0|<n> <p>
shape-margin|0px|<lp+>
shape-outside|none|?
^shape-rendering|auto|<id>
^speak|normal|<id>
stop-color|rgb(0, 0, 0)|<c>
stop-opacity|1|<n> <p>
^stroke|none|?
^stroke-dasharray|none|?
^stroke-dashoffset|0px|<lp> <n>
^stroke-linecap|butt|butt round square
^stroke-linejoin|miter|miter round bevel
^stroke-miterlimit|4|<n+>
^stroke-opacity|1|<n> <p>
^stroke-width|1px|<lp+> <n+>
^tab-size|8|<n+> <l+>
table-layout|auto|auto fixed
^text-align|start|-internal-center left right center justify start end match-parent -webkit-center -webkit-left -webkit-right -webkit-match-parent
^text-align-last|auto|auto left right center justify start end
^text-anchor|start|start middle end
text-box-trim|none|<id>
text-decoration-color|currentcolor|<c>
text-decoration-line|none|*none underline overline line-through blink
^text-decoration-skip-ink|auto|auto none all
text-decoration-style|solid|solid double dotted dashed wavy
text-decoration-thickness|auto|auto from-font <lp>
^text-emphasis-color|currentcolor|<c>
^text-emphasis-position|over|*<id>
^text-emphasis-style|none|*<id> <s>
^text-indent|0px|*hanging each-line <lp>
^text-orientation|mixed|mixed upright sideways
text-overflow|clip|*clip ellipsis <s>
^text-rendering|auto|auto optimizespeed optimizelegibility geometricprecision
^text-shadow|none|?
^text-size-adjust|auto|auto none <p>
^text-transform|none|*none capitalize uppercase lowercase full-width full-size-kana math-auto
^text-underline-offset|auto|auto <lp>
^text-underline-position|auto|*<id>
^text-wrap-mode|wrap|wrap nowrap
^text-wrap-style|auto|auto balance pretty stable
top|auto|auto <lp> <f>
touch-action|auto|*<id>
transform|none|?
transform-box|view-box|<id>
transform-origin|50% 50%|?
transform-style|flat|flat preserve-3d
transition-behavior|normal|#normal allow-discrete
transition-delay|0s|#<t>
transition-duration|0s|#<t+>
transition-property|all|#<id>
transition-timing-function|ease|#ease linear ease-in ease-out ease-in-out step-start step-end <f>
translate|none|?
unicode-bidi|normal|normal embed isolate bidi-override isolate-override plaintext
user-select|auto|auto none text all contain
vector-effect|none|<id>
vertical-align|baseline|baseline sub super top text-top middle bottom text-bottom <lp>
view-transition-name|none|<id>
^visibility|visible|visible hidden collapse
-webkit-box-align|stretch|<id>
-webkit-box-flex|0|<n+>
-webkit-box-orient|horizontal|<id>
-webkit-box-pack|start|<id>
-webkit-box-reflect|none|?
-webkit-font-smoothing|auto|<id>
-webkit-line-clamp|none|none <i>
-webkit-mask-box-image|none|?
^-webkit-tap-highlight-color|rgba(0, 0, 0, 0.18)|<c>
^-webkit-text-fill-color|currentcolor|<c>
^-webkit-text-security|none|<id>
^-webkit-text-stroke-color|currentcolor|<c>
^-webkit-text-stroke-width|0px|${width}
-webkit-user-drag|auto|<id>
^white-space-collapse|collapse|collapse preserve preserve-breaks preserve-spaces break-spaces
^widows|2|<i>
width|auto|${size}
will-change|auto|?
^word-break|normal|normal break-all keep-all break-word auto-phrase
^word-spacing|0px|normal <lp>
^writing-mode|horizontal-tb|horizontal-tb vertical-rl vertical-lr sideways-rl sideways-lr
x|0px|<lp> <n>
y|0px|<lp> <n>
z-index|auto|auto <i>
zoom|1|normal <n+> <p>`;

  const properties = (page.properties = new Map());
  for (const row of table.trim().split('\n')) {
    const [, inherited, name, initial, takes] = /^(\^?)([^|]+)\|([^|]*)\|([^]*)$/.exec(row);
    const kind = '?#*'.includes(takes[0]) ? takes[0] : '1';
    const words = (kind === '1' ? takes : takes.slice(1)).split(' ').filter(Boolean);
    properties.set(name, {
      name, initial, inherited: inherited === '^', kind,
      keywords: new Set(words.filter((w) => w[0] !== '<')), types: new Set(words.filter((w) => w[0] === '<').map((w) => w.slice(1, -1))),
    });
  }

  // Other names of the same.
  page.propertyAliases = new Map(Object.entries({
    'word-wrap': 'overflow-wrap', 'grid-gap': 'gap', 'grid-row-gap': 'row-gap', 'grid-column-gap': 'column-gap', 'font-width': 'font-stretch',
    '-webkit-print-color-adjust': 'print-color-adjust', 'color-adjust': 'print-color-adjust',
  }));
  for (const name of ['animation', 'animation-delay', 'animation-direction', 'animation-duration', 'animation-fill-mode', 'animation-iteration-count', 'animation-name',
    'animation-play-state', 'animation-timing-function', 'appearance', 'align-content', 'align-items', 'align-self', 'backface-visibility', 'background-clip',
    'background-origin', 'background-size', 'border-bottom-left-radius', 'border-bottom-right-radius', 'border-radius', 'border-top-left-radius',
    'border-top-right-radius', 'box-shadow', 'box-sizing', 'clip-path', 'column-count', 'column-gap', 'column-rule', 'column-width', 'columns', 'filter', 'flex',
    'flex-basis', 'flex-direction', 'flex-flow', 'flex-grow', 'flex-shrink', 'flex-wrap', 'hyphens', 'justify-content', 'mask', 'mask-clip', 'mask-composite',
    'mask-image', 'mask-origin', 'mask-position', 'mask-repeat', 'mask-size', 'opacity', 'order', 'perspective', 'perspective-origin', 'shape-margin',
    'shape-outside', 'text-emphasis', 'text-size-adjust', 'transform', 'transform-origin', 'transform-style', 'transition', 'transition-delay',
    'transition-duration', 'transition-property', 'transition-timing-function', 'user-select', 'writing-mode']) page.propertyAliases.set(`-webkit-${name}`, name);
  // Logical names, for text that runs as it does in English.
  for (const [logical, side] of [['block-start', 'top'], ['block-end', 'bottom'], ['inline-start', 'left'], ['inline-end', 'right']]) {
    for (const box of ['margin', 'padding', 'scroll-margin', 'scroll-padding']) page.propertyAliases.set(`${box}-${logical}`, `${box}-${side}`);
    for (const what of ['width', 'style', 'color']) page.propertyAliases.set(`border-${logical}-${what}`, `border-${side}-${what}`);
    page.propertyAliases.set(`border-${logical}`, `border-${side}`);
    page.propertyAliases.set(`inset-${logical}`, side);
    properties.delete(`inset-${logical}`);
  }
  for (const [logical, physical] of [['block-size', 'height'], ['inline-size', 'width']]) {
    for (const prefix of ['', 'min-', 'max-']) page.propertyAliases.set(prefix + logical, prefix + physical);
  }

  // Shorthands: their longhands, in order.
  const sides = ['top', 'right', 'bottom', 'left'];
  const of = (box, end = '') => sides.map((side) => `${box}-${side}${end}`);
  const borderOf = (side) => ['width', 'style', 'color'].map((x) => `border-${side}-${x}`);
  page.shorthands = new Map(Object.entries({
    margin: of('margin'), padding: of('padding'), 'scroll-margin': of('scroll-margin'), 'scroll-padding': of('scroll-padding'), inset: sides,
    'margin-block': ['margin-top', 'margin-bottom'], 'margin-inline': ['margin-left', 'margin-right'], 'padding-block': ['padding-top', 'padding-bottom'],
    'padding-inline': ['padding-left', 'padding-right'], 'inset-block': ['top', 'bottom'], 'inset-inline': ['left', 'right'],
    'border-width': of('border', '-width'), 'border-style': of('border', '-style'), 'border-color': of('border', '-color'),
    'border-top': borderOf('top'), 'border-right': borderOf('right'), 'border-bottom': borderOf('bottom'), 'border-left': borderOf('left'),
    'border-inline': [...borderOf('left'), ...borderOf('right')], 'border-block': [...borderOf('top'), ...borderOf('bottom')],
    'border-image': ['source', 'slice', 'width', 'outset', 'repeat'].map((x) => `border-image-${x}`),
    border: [...of('border', '-width'), ...of('border', '-style'), ...of('border', '-color'), ...['source', 'slice', 'width', 'outset', 'repeat'].map((x) => `border-image-${x}`)],
    'border-radius': ['top-left', 'top-right', 'bottom-right', 'bottom-left'].map((x) => `border-${x}-radius`),
    outline: ['outline-color', 'outline-style', 'outline-width'], 'column-rule': ['column-rule-width', 'column-rule-style', 'column-rule-color'],
    'background-position': ['background-position-x', 'background-position-y'],
    background: ['image', 'position-x', 'position-y', 'size', 'repeat', 'attachment', 'origin', 'clip', 'color'].map((x) => `background-${x}`),
    'font-variant': ['ligatures', 'caps', 'alternates', 'numeric', 'east-asian', 'position'].map((x) => `font-variant-${x}`),
    font: ['font-style', 'font-variant-caps', 'font-weight', 'font-stretch', 'font-size', 'line-height', 'font-family'],
    flex: ['flex-grow', 'flex-shrink', 'flex-basis'], 'flex-flow': ['flex-direction', 'flex-wrap'], gap: ['row-gap', 'column-gap'],
    'grid-row': ['grid-row-start', 'grid-row-end'], 'grid-column': ['grid-column-start', 'grid-column-end'],
    'grid-area': ['grid-row-start', 'grid-column-start', 'grid-row-end', 'grid-column-end'],
    'grid-template': ['grid-template-rows', 'grid-template-columns', 'grid-template-areas'],
    grid: ['grid-template-rows', 'grid-template-columns', 'grid-template-areas', 'grid-auto-rows', 'grid-auto-columns', 'grid-auto-flow'],
    'list-style': ['list-style-position', 'list-style-image', 'list-style-type'], overflow: ['overflow-x', 'overflow-y'],
    'overscroll-behavior': ['overscroll-behavior-x', 'overscroll-behavior-y'], 'place-content': ['align-content', 'justify-content'],
    'place-items': ['align-items', 'justify-items'], 'place-self': ['align-self', 'justify-self'],
    'text-decoration': ['text-decoration-line', 'text-decoration-thickness', 'text-decoration-style', 'text-decoration-color'],
    'text-emphasis': ['text-emphasis-style', 'text-emphasis-color'], 'text-wrap': ['text-wrap-mode', 'text-wrap-style'],
    'white-space': ['white-space-collapse', 'text-wrap-mode'],
    transition: ['transition-behavior', 'transition-duration', 'transition-timing-function', 'transition-delay', 'transition-property'],
    animation: ['duration', 'timing-function', 'delay', 'iteration-count', 'direction', 'fill-mode', 'play-state', 'name'].map((x) => `animation-${x}`),
    columns: ['column-width', 'column-count'], container: ['container-name', 'container-type'],
    '-webkit-text-stroke': ['-webkit-text-stroke-width', '-webkit-text-stroke-color'],
    mask: ['image', 'position', 'size', 'repeat', 'origin', 'clip', 'composite', 'mode'].map((x) => `mask-${x}`),
    all: [],
  }));
  page.shorthands.set('all', [...properties.keys()].filter((name) => name !== 'direction' && name !== 'unicode-bidi'));
  page.propertyName = (name) => {
    const text = name.startsWith('--') ? name : name.toLowerCase();
    return page.propertyAliases.get(text) ?? text;
  };
})
