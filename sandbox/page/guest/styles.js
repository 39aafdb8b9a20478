// What elements and properties are where no page says anything, and which properties go together.
// Source: HTML standard, 15.3, for the defaults of elements; the initial values of the CSS modules.
(function (host) {
  'use strict';
  // What children take over from their parent.
  const inherited = new Set(`border-collapse border-spacing caption-side caret-color color color-scheme cursor direction empty-cells
    font-family font-feature-settings font-kerning font-size font-stretch font-style font-variant font-weight hyphens image-rendering
    letter-spacing line-height list-style-image list-style-position list-style-type orphans overflow-wrap pointer-events quotes tab-size
    text-align text-align-last text-indent text-rendering text-shadow text-transform visibility white-space widows word-break
    word-spacing writing-mode`.split(/\s+/));

  // What a property is where nobody says anything.
  const initial = {};
  const starts = (value, names) => {
    for (const name of names.split(' ')) initial[name] = value;
  };
  starts('0px', `margin-top margin-right margin-bottom margin-left padding-top padding-right padding-bottom padding-left border-top-width
    border-right-width border-bottom-width border-left-width outline-width outline-offset border-top-left-radius border-top-right-radius
    border-bottom-left-radius border-bottom-right-radius min-width min-height text-indent word-spacing`.replace(/\s+/g, ' '));
  starts('auto', 'width height top right bottom left z-index cursor flex-basis align-self grid-row-start grid-row-end grid-column-start grid-column-end overflow-anchor scroll-behavior table-layout pointer-events aspect-ratio user-select accent-color');
  starts('none', `float clear transform filter backdrop-filter box-shadow text-shadow text-transform max-width max-height list-style-image animation-name
    background-image content clip-path mix-blend-mode grid-template-columns grid-template-rows grid-template-areas appearance resize
    border-top-style border-right-style border-bottom-style border-left-style outline-style text-decoration-line transition-timing-function
    perspective translate rotate scale touch-action will-change`.replace(/\s+/g, ' '));
  starts('normal', 'line-height letter-spacing white-space word-break font-style font-variant font-stretch align-items align-content justify-content justify-items row-gap column-gap gap unicode-bidi overflow-wrap');
  starts('visible', 'visibility overflow-x overflow-y overflow backface-visibility');
  starts('0s', 'transition-duration transition-delay animation-duration animation-delay');
  Object.assign(initial, {
    display: 'inline', position: 'static', color: 'rgb(0, 0, 0)', 'background-color': 'rgba(0, 0, 0, 0)', opacity: '1', 'font-size': '16px',
    'font-weight': '400', 'font-family': '"Times New Roman"', direction: 'ltr', 'text-align': 'start', 'list-style-type': 'disc',
    'list-style-position': 'outside', 'box-sizing': 'content-box', 'flex-direction': 'row', 'flex-wrap': 'nowrap', 'flex-grow': '0',
    'flex-shrink': '1', order: '0', 'background-repeat': 'repeat', 'background-position': '0% 0%', 'background-size': 'auto',
    'background-attachment': 'scroll', 'vertical-align': 'baseline', 'object-fit': 'fill', 'text-overflow': 'clip', 'transition-property': 'all',
    'transition-timing-function': 'ease', 'animation-timing-function': 'ease', 'animation-iteration-count': '1', 'animation-play-state': 'running',
    'animation-direction': 'normal', 'animation-fill-mode': 'none', 'border-collapse': 'separate', 'caption-side': 'top', 'empty-cells': 'show',
    'text-decoration-style': 'solid', 'text-decoration-color': 'currentcolor', 'transform-origin': '50% 50%', 'grid-auto-flow': 'row',
    'justify-self': 'auto', 'mix-blend-mode': 'normal', 'will-change': 'auto', 'touch-action': 'auto', 'border-top-color': 'currentcolor',
    'border-right-color': 'currentcolor', 'border-bottom-color': 'currentcolor', 'border-left-color': 'currentcolor',
    'outline-color': 'currentcolor', 'caret-color': 'currentcolor', 'color-scheme': 'normal', isolation: 'auto', 'tab-size': '8',
  });

  // The style sheet of browsers.
  const defaults = {};
  const tags = (names, style) => {
    for (const name of names.split(' ')) defaults[name] = { ...defaults[name], ...style };
  };
  tags('html body address article aside blockquote center dd details dialog dir div dl dt fieldset figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr legend listing main menu nav ol optgroup option p plaintext pre search section summary ul xmp', { display: 'block' });
  tags('head link meta script style template title base noembed noframes param rp datalist area', { display: 'none' });
  tags('li', { display: 'list-item' });
  tags('summary', { display: 'list-item' });
  tags('input button select textarea meter progress img', { display: 'inline-block' });
  tags('img', { display: 'inline' });
  for (const [name, display] of Object.entries({
    table: 'table', caption: 'table-caption', colgroup: 'table-column-group', col: 'table-column', thead: 'table-header-group',
    tbody: 'table-row-group', tfoot: 'table-footer-group', tr: 'table-row', td: 'table-cell', th: 'table-cell', ruby: 'ruby', rt: 'ruby-text', slot: 'contents',
  })) tags(name, { display });
  const margins = (names, vertical, rest = {}) => tags(names, { 'margin-top': vertical, 'margin-bottom': vertical, ...rest });
  margins('body', '8px', { 'margin-left': '8px', 'margin-right': '8px' });
  margins('p dl ol ul menu dir pre xmp listing plaintext', '1em');
  margins('blockquote figure', '1em', { 'margin-left': '40px', 'margin-right': '40px' });
  tags('ol ul menu dir', { 'padding-left': '40px' });
  tags('ol', { 'list-style-type': 'decimal' });
  tags('dd', { 'margin-left': '40px' });
  margins('h1', '0.67em', { 'font-size': '2em', 'font-weight': 'bold' });
  margins('h2', '0.83em', { 'font-size': '1.5em', 'font-weight': 'bold' });
  margins('h3', '1em', { 'font-size': '1.17em', 'font-weight': 'bold' });
  margins('h4', '1.33em', { 'font-weight': 'bold' });
  margins('h5', '1.67em', { 'font-size': '0.83em', 'font-weight': 'bold' });
  margins('h6', '2.33em', { 'font-size': '0.67em', 'font-weight': 'bold' });
  margins('hr', '0.5em');
  tags('b strong', { 'font-weight': 'bolder' });
  tags('th', { 'font-weight': 'bold', 'text-align': 'center' });
  tags('i em cite var dfn address', { 'font-style': 'italic' });
  tags('small', { 'font-size': 'smaller' });
  tags('big', { 'font-size': 'larger' });
  tags('sub', { 'vertical-align': 'sub', 'font-size': 'smaller' });
  tags('sup', { 'vertical-align': 'super', 'font-size': 'smaller' });
  tags('code kbd samp tt pre', { 'font-family': 'monospace' });
  tags('pre xmp listing plaintext', { 'white-space': 'pre' });
  tags('textarea', { 'white-space': 'pre-wrap' });
  tags('select', { 'white-space': 'pre' });
  tags('option', { 'white-space': 'nowrap' });
  tags('dialog', { position: 'absolute' });
  tags('u ins', { 'text-decoration-line': 'underline' });
  tags('s strike del', { 'text-decoration-line': 'line-through' });
  tags('mark', { 'background-color': 'yellow', color: 'black' });
  tags('table', { 'box-sizing': 'border-box', 'text-indent': '0px', 'border-collapse': 'separate' });
  tags('td th', { 'padding-top': '1px', 'padding-right': '1px', 'padding-bottom': '1px', 'padding-left': '1px' });
  tags('center caption', { 'text-align': 'center' });
  tags('button select input', { 'box-sizing': 'border-box', 'font-size': '13.3333px', 'text-align': 'start' });
  tags('input', { 'box-sizing': 'content-box', cursor: 'text' });
  tags('button', { 'text-align': 'center', cursor: 'default' });
  tags('textarea', { 'font-family': 'monospace', 'font-size': '13.3333px' });
  const ofElement = (el) => {
    const own = defaults[el.localName];
    if (el.hidden && el.localName !== 'embed') return { ...own, display: 'none' };
    if (el.localName === 'dialog' && !el.hasAttribute('open')) return { ...own, display: 'none' };
    if ((el.localName === 'a' || el.localName === 'area') && el.hasAttribute('href')) {
      return { ...own, color: '-webkit-link', 'text-decoration-line': 'underline', cursor: 'pointer' };
    }
    if (el.localName === 'input' && el.type === 'hidden') return { ...own, display: 'none' };
    return own;
  };

  // Which shorthands say something of a property, the widest last.
  const sides = /^(margin|padding|inset|scroll-margin|scroll-padding)-(top|right|bottom|left)$/;
  const wider = (name) => {
    const list = [];
    const m = sides.exec(name);
    if (m) list.push(m[1]);
    if (/^(top|right|bottom|left)$/.test(name)) list.push('inset');
    let b = /^border-(top|right|bottom|left)-(width|style|color)$/.exec(name);
    if (b) list.push(`border-${b[1]}`, `border-${b[2]}`, 'border');
    if (/^border-.*-radius$/.test(name)) list.push('border-radius');
    b = /^(background|font|flex|outline|list-style|transition|animation|text-decoration|column|grid-row|grid-column|overflow|border-image|columns)-/.exec(name);
    if (b) list.push(b[1]);
    if (/^(flex-direction|flex-wrap)$/.test(name)) list.push('flex-flow');
    if (name === 'line-height') list.push('font');
    if (/^(row|column)-gap$/.test(name)) list.push('gap');
    if (/^(align|justify)-(items|content|self)$/.test(name)) list.push(`place-${name.split('-')[1]}`);
    if (/^grid-template-/.test(name)) list.push('grid-template', 'grid');
    return list;
  };

  host.page.css = { inherited, initial, ofElement, wider };
})
