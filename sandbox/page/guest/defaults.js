// The style sheet that every page begins with.
// Source: HTML standard, 15; Chromium's html.css where the standard leaves it open.
(function (host) {
  host.page.defaultStyles = `
html, body, address, blockquote, center, dialog, div, dl, dt, dd, fieldset, figure, figcaption, footer, form, header, hr, legend, listing, main, p, plaintext, pre,
search, xmp, article, aside, details, hgroup, nav, section, ul, ol, menu, dir, h1, h2, h3, h4, h5, h6, optgroup, option, summary, slot, frameset, frame { display: block }
area, base, basefont, datalist, head, link, meta, noembed, noframes, param, rp, script, style, template, title, noscript { display: none }
[hidden] { display: none }
embed[hidden] { display: inline; height: 0; width: 0 }
input[type=hidden i] { display: none !important; margin: 0; font: 13.3333px Arial }
slot { display: contents }
body { margin: 8px }
p, dl, blockquote, figure, listing, plaintext, pre, xmp, ul, ol, menu, dir, hr { margin-top: 1em; margin-bottom: 1em }
blockquote, figure { margin-left: 40px; margin-right: 40px }
h1 { font-size: 2em; margin: 0.67em 0; font-weight: bold }
h2 { font-size: 1.5em; margin: 0.83em 0; font-weight: bold }
h3 { font-size: 1.17em; margin: 1em 0; font-weight: bold }
h4 { margin: 1.33em 0; font-weight: bold }
h5 { font-size: 0.83em; margin: 1.67em 0; font-weight: bold }
h6 { font-size: 0.67em; margin: 2.33em 0; font-weight: bold }
dd { margin-left: 40px }
ul, menu, dir, ol { padding-left: 40px }
ul, menu, dir { list-style-type: disc }
ol { list-style-type: decimal }
:is(dir, menu, ol, ul) :is(dir, menu, ol, ul) { margin-top: 0; margin-bottom: 0 }
:is(dir, menu, ol, ul) :is(dir, menu, ul) { list-style-type: circle }
:is(dir, menu, ol, ul) :is(dir, menu, ol, ul) :is(dir, menu, ul) { list-style-type: square }
ol[type="1"], li[type="1"] { list-style-type: decimal } ol[type=a s], li[type=a s] { list-style-type: lower-alpha } ol[type=A s], li[type=A s] { list-style-type: upper-alpha }
ol[type=i s], li[type=i s] { list-style-type: lower-roman } ol[type=I s], li[type=I s] { list-style-type: upper-roman }
li { display: list-item; text-align: match-parent }
summary { display: block }
details > summary:first-of-type { display: list-item; list-style: disclosure-closed inside }
details[open] > summary:first-of-type { list-style-type: disclosure-open }
b, strong { font-weight: bolder }
i, cite, em, var, address, dfn { font-style: italic }
tt, code, kbd, samp { font-family: monospace; font-size: 13px }
pre, xmp, plaintext, listing { font-family: monospace; font-size: 13px; white-space: pre }
big { font-size: larger } small { font-size: smaller }
sub { vertical-align: sub; font-size: smaller } sup { vertical-align: super; font-size: smaller }
u, ins { text-decoration: underline } s, strike, del { text-decoration: line-through }
abbr[title], acronym[title] { text-decoration: dotted underline }
mark { background-color: yellow; color: black }
q { display: inline } q::before { content: open-quote } q::after { content: close-quote }
center { text-align: -webkit-center }
nobr { white-space: nowrap }
a:any-link { color: -webkit-link; text-decoration: underline; cursor: pointer }
area:any-link { cursor: pointer }
hr { color: gray; border: 1px inset; margin: 0.5em auto; overflow: hidden; unicode-bidi: isolate }
address, blockquote, center, dialog, div, fieldset, figure, figcaption, footer, form, header, hr, legend, main, p, pre, search, article, aside, hgroup, nav, section,
ul, ol, li, dl, dt, dd, h1, h2, h3, h4, h5, h6, optgroup, option, summary, details, table, caption, tr, td, th, thead, tbody, tfoot, col, colgroup, menu, dir { unicode-bidi: isolate }
bdi, output { unicode-bidi: isolate } bdo { unicode-bidi: bidi-override }
[dir=rtl i] { direction: rtl; unicode-bidi: isolate } [dir=ltr i] { direction: ltr; unicode-bidi: isolate } [dir=auto i] { unicode-bidi: isolate }
table { display: table; border-spacing: 2px; border-collapse: separate; box-sizing: border-box; text-indent: 0 }
caption { display: table-caption; text-align: -webkit-center }
colgroup { display: table-column-group } col { display: table-column }
thead { display: table-header-group; vertical-align: middle } tbody { display: table-row-group; vertical-align: middle } tfoot { display: table-footer-group; vertical-align: middle }
tr { display: table-row; vertical-align: inherit }
td, th { display: table-cell; vertical-align: inherit; padding: 1px }
th { font-weight: bold; text-align: -internal-center }
thead, tbody, tfoot, tr, td, th { border-color: inherit }
table[border], table[border] > * > tr > :is(td, th) { border-width: 1px; border-style: outset }
table[border] > * > tr > :is(td, th) { border-style: inset }
fieldset { margin-left: 2px; margin-right: 2px; padding: 0.35em 0.75em 0.625em; border: 2px groove rgb(192, 192, 192); min-width: min-content }
legend { padding-left: 2px; padding-right: 2px }
input:not([type=hidden i]), textarea, select, button { margin: 0; font: 13.3333px Arial; letter-spacing: normal; word-spacing: normal; text-transform: none; text-indent: 0; text-shadow: none;
  display: inline-block; text-align: start; cursor: text; color: fieldtext }
input:not([type=hidden i]), textarea { background-color: field; border: 2px inset rgb(118, 118, 118); padding: 1px 2px }
textarea { border-width: 1px; border-style: solid; padding: 2px; font-family: monospace; white-space: pre-wrap; overflow: auto; resize: both; overflow-wrap: break-word }
select { border: 1px solid rgb(118, 118, 118); background-color: buttonface; cursor: default; box-sizing: border-box; white-space: pre; align-items: center; border-radius: 0 }
button, input:is([type=button i], [type=submit i], [type=reset i]) { color: buttontext; background-color: buttonface; border: 2px outset rgb(0, 0, 0); padding: 1px 6px; cursor: default; box-sizing: border-box; text-align: center }
input:is([type=button i], [type=submit i], [type=reset i]) { white-space: pre }
input:is([type=checkbox i], [type=radio i]) { margin: 3px 3px 3px 4px; padding: 0; border: initial; background-color: transparent; box-sizing: border-box; cursor: default }
input[type=radio i] { margin: 3px 3px 0 5px }
input[type=range i] { margin: 2px; padding: 0; border: initial; cursor: default; color: rgb(157, 150, 142) }
input[type=color i] { cursor: default; box-sizing: border-box; padding: 0; background-color: buttonface; border: 1px solid rgb(118, 118, 118); width: 50px; height: 27px }
input[type=file i] { padding: 0; border: initial; background-color: transparent; cursor: default; color: black }
input[type=image i] { padding: 0; border: initial; background-color: transparent; cursor: pointer }
input[type=search i] { box-sizing: content-box }
input:disabled, textarea:disabled { cursor: default; background-color: rgba(239, 239, 239, 0.3); color: rgb(84, 84, 84); border-color: rgba(118, 118, 118, 0.3) }
button:disabled, input:is([type=button i], [type=submit i], [type=reset i]):disabled { color: rgba(16, 16, 16, 0.3); background-color: rgba(239, 239, 239, 0.3); border-color: rgba(118, 118, 118, 0.3) }
input:is([type=checkbox i], [type=radio i], [type=range i], [type=file i]):disabled { background-color: transparent }
select:disabled { opacity: 0.7; color: fieldtext }
option:disabled { color: rgb(128, 128, 128) }
optgroup { font-weight: bolder } option { font-weight: normal; display: block; padding: 0 2px 1px; white-space: nowrap }
label { cursor: default }
progress, meter { display: inline-block; vertical-align: -0.2em; box-sizing: border-box; width: 10em; height: 1em }
meter { width: 5em }
img, canvas, video, audio, iframe, svg, object, embed { display: inline }
iframe { border: 2px inset }
video { object-fit: contain } audio:not([controls]) { display: none }
svg:not(:root) { overflow: hidden }
ruby { display: ruby } rt { display: ruby-text; font-size: 50% }
dialog:not([open]) { display: none }
dialog { position: absolute; inset-inline: 0; width: fit-content; height: fit-content; margin: auto; border: solid; padding: 1em; background-color: canvas; color: canvastext }
dialog:modal { position: fixed; inset-block: 0; overflow: auto; max-width: calc(100% - 6px - 2em); max-height: calc(100% - 6px - 2em) }
[popover]:not(:popover-open):not(dialog[open]) { display: none }
[popover] { position: fixed; inset: 0; width: fit-content; height: fit-content; margin: auto; border: solid; padding: 0.25em; overflow: auto; color: canvastext; background-color: canvas }
:focus-visible { outline: auto 1px rgb(16, 16, 16) }
[contenteditable]:not([contenteditable=false i]) { overflow-wrap: break-word }
[align=center i] { text-align: -webkit-center } [align=left i] { text-align: left } [align=right i] { text-align: right } [align=justify i] { text-align: justify }
img[align] { text-align: inherit }
`;
})
