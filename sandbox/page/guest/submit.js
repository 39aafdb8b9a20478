// Forms as wholes: who belongs to one, what it sends, submit and reset; and what a click does to
// buttons, boxes, labels, links and summaries.
// Source: HTML standard, 4.10.15, 4.10.18, 4.10.21, 4.11, 6.4.
(function (host) {
  'use strict';
  const { page } = host;
  const { PropertySymbol: P, hooks } = host.dom;
  const { forms, attribute } = page;
  const g = globalThis;
  const { document } = page;
  const define = (on, name, get, set) => Object.defineProperty(on, name, { get, set, configurable: true, enumerable: true });
  const method = (on, name, value) => Object.defineProperty(on, name, { value, writable: true, configurable: true, enumerable: true });
  const nameOf = (el) => el[P.localName];
  const me = (el) => el[P.proxy] ?? el;

  // The owner of a control: the form that it names, or the one that it stands in.
  const ownerOf = (el) => {
    const id = attribute(el, 'form');
    if (id !== undefined && el[P.isConnected]) {
      const found = id === '' ? null : el.getRootNode().getElementById(id);
      return found && nameOf(found) === 'form' ? found : null;
    }
    for (let p = el[P.parentNode]; p; p = p[P.parentNode]) if (p[P.nodeType] === 1 && nameOf(p) === 'form') return p;
    return null;
  };
  forms.ownerOf = ownerOf;
  for (const cls of ['Button', 'FieldSet', 'Input', 'Object', 'Output', 'Select', 'TextArea']) {
    define(g[`HTML${cls}Element`].prototype, 'form', function () {
      return ownerOf(me(this));
    });
  }
  define(g.HTMLLegendElement.prototype, 'form', function () {
    const p = this[P.parentNode];
    return p && p[P.nodeType] === 1 && nameOf(p) === 'fieldset' ? p.form : null;
  });
  define(g.HTMLOptionElement.prototype, 'form', function () {
    return this.closest('select')?.form ?? null;
  });
  const listed = 'button, fieldset, input, object, output, select, textarea';
  const custom = () => page.associatedNames?.map((name) => `, ${name}`).join('') ?? '';
  // The controls of a form in the order of the page, with or without those that are pictures.
  const controls = (form, images) => {
    const selector = listed + custom();
    const far = form[P.isConnected] && attribute(form, 'id') !== undefined && form.getRootNode().querySelector('[form]') !== null;
    const all = far ? form.getRootNode().querySelectorAll(selector) : form.querySelectorAll(selector);
    return [...all].filter((el) => (images || !(nameOf(el) === 'input' && el.type === 'image')) && ownerOf(el) === form);
  };
  const formProto = host.owner(P.getFormControlItems, g.HTMLFormElement.prototype);
  formProto[P.getFormControlItems] = function () {
    return controls(me(this), false);
  };
  const named = formProto[P.getFormControlNamedItem];
  formProto[P.getFormControlNamedItem] = function (name) {
    return host.apply(named, this, [name]) ?? [...me(this).querySelectorAll('img')].find((el) => el.id === name || attribute(el, 'name') === name) ?? null;
  };
  // Controls of one name.
  const pair = document.createElement('form');
  pair.append(document.createElement('input'), document.createElement('input'));
  for (const el of pair.querySelectorAll('input')) el.setAttribute('name', 'x');
  const RadioNodeList = pair[P.getFormControlNamedItem]('x').constructor;
  define(RadioNodeList.prototype, 'value', function () {
    return [...this].find((el) => el.type === 'radio' && el.checked)?.value ?? '';
  }, function (value) {
    const found = [...this].find((el) => el.type === 'radio' && el.value === host.str(value));
    if (found) found.checked = true;
  });
  host.define('RadioNodeList', RadioNodeList);
  host.define('HTMLFormControlsCollection', pair.elements.constructor);
  Object.defineProperty(formProto, Symbol.iterator, {
    value() {
      return controls(me(this), false)[Symbol.iterator]();
    },
    writable: true,
    configurable: true,
  });
  define(g.HTMLFieldSetElement.prototype, 'elements', function () {
    return page.collection(() => [...this.querySelectorAll(listed)]);
  });
  define(g.HTMLFieldSetElement.prototype, 'type', () => 'fieldset');

  // Attributes of forms and buttons that have a few values.
  const words = (on, name, key, values, missing, wrong = missing) =>
    define(on, name, function () {
      const value = attribute(this, key)?.toLowerCase();
      return value === undefined ? missing : values.includes(value) ? value : wrong;
    }, function (value) {
      this.setAttribute(key, host.str(value));
    });
  const encodings = ['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain'];
  words(formProto, 'method', 'method', ['get', 'post', 'dialog'], 'get');
  for (const name of ['enctype', 'encoding']) words(formProto, name, 'enctype', encodings, encodings[0]);
  words(formProto, 'autocomplete', 'autocomplete', ['on', 'off'], 'on');
  define(formProto, 'acceptCharset', function () {
    return attribute(this, 'accept-charset') ?? '';
  }, function (value) {
    this.setAttribute('accept-charset', value);
  });
  for (const cls of ['Button', 'Input']) {
    const proto = g[`HTML${cls}Element`].prototype;
    words(proto, 'formMethod', 'formmethod', ['get', 'post', 'dialog'], '', 'get');
    words(proto, 'formEnctype', 'formenctype', encodings, '', encodings[0]);
  }

  // What a form sends: [name, value] in order.
  const entries = (form, submitter) => {
    const out = [];
    for (const el of controls(form, true)) {
      const name = attribute(el, 'name') ?? '';
      const kind = nameOf(el);
      if (forms.disabled(el) || el.closest('datalist') || /^(fieldset|object|output)$/.test(kind)) continue;
      const internals = page.internals?.get(el);
      if (internals) {
        out.push(...internals.entries(name));
        continue;
      }
      const button = kind === 'button' || (kind === 'input' && /^(submit|image|reset|button)$/.test(el.type));
      if (button && el !== submitter) continue;
      if (kind === 'input' && el.type === 'image') {
        const prefix = name === '' ? '' : `${name}.`;
        out.push([`${prefix}x`, '0'], [`${prefix}y`, '0']);
        continue;
      }
      if (name === '') continue;
      if (kind === 'select') for (const o of [...el.options].filter((x) => x.selected && !forms.disabled(x))) out.push([name, o.value]);
      else if (kind === 'input' && /^(checkbox|radio)$/.test(el.type)) {
        if (el.checked) out.push([name, el.value]);
      } else if (kind === 'input' && el.type === 'file') {
        for (const file of el.files.length > 0 ? el.files : [new g.File([], '', { type: 'application/octet-stream' })]) out.push([name, file]);
      } else if (kind === 'input' && el.type === 'hidden' && name.toLowerCase() === '_charset_') out.push([name, 'UTF-8']);
      else out.push([name, el.value]);
      const direction = attribute(el, 'dirname');
      if (direction && (kind === 'textarea' || kind === 'input')) out.push([direction, page.directionOf(el)]);
    }
    return out;
  };
  const building = new WeakSet();
  const fill = (data, form, submitter) => {
    for (const [name, value] of entries(form, submitter)) data.append(name, value);
    const event = new FormDataEvent('formdata', { bubbles: true, formData: data });
    form.dispatchEvent(event);
  };
  class FormDataEvent extends g.Event {
    #data;
    constructor(type, init) {
      super(type, init);
      if (!init?.formData) throw new TypeError("Failed to construct 'FormDataEvent': required member formData is undefined.");
      this.#data = init.formData;
    }
    get formData() {
      return this.#data;
    }
  }
  host.tag(FormDataEvent, 'FormDataEvent');
  host.define('FormDataEvent', FormDataEvent);
  // What stands in an entry: text, or a file with its name.
  const entry = (value, filename) => {
    if (!(value instanceof g.Blob)) return host.str(value);
    if (filename === undefined && value instanceof g.File) return value;
    return new g.File([value], filename === undefined ? 'blob' : host.str(filename), { type: value.type });
  };
  const Plain = g.FormData;
  const FormData = class FormData extends Plain {
    constructor(form, submitter = null) {
      super();
      if (form === undefined) return;
      if (nameOf(form ?? {}) !== 'form') throw new TypeError("Failed to construct 'FormData': parameter 1 is not of type 'HTMLFormElement'.");
      if (submitter !== null) mustSubmit(submitter, form, "Failed to construct 'FormData'");
      if (building.has(form)) throw new DOMException("Failed to construct 'FormData': The form is constructing entry list.", 'InvalidStateError');
      building.add(form);
      try {
        fill(this, form, submitter);
      } finally {
        building.delete(form);
      }
    }
    append(name, value, ...more) {
      if (arguments.length < 2) throw new TypeError(`Failed to execute 'append' on 'FormData': 2 arguments required, but only ${arguments.length} present.`);
      super.append(host.str(name), entry(value, ...more));
    }
    set(name, value, ...more) {
      super.set(host.str(name), entry(value, ...more));
    }
  };
  host.define('FormData', FormData);
  page.window.FormData = FormData;

  const mustSubmit = (el, form, what) => {
    if (!el?.[P.localName] || !forms.submits(el)) throw new TypeError(`${what}: The specified element is not a submit button.`);
    if (ownerOf(el) !== form) throw new DOMException(`${what}: The specified element is not owned by this form element.`, 'NotFoundError');
  };

  // Submission: the event, and where it would lead.
  const firing = new WeakSet();
  const send = (form, submitter) => {
    if (!form[P.isConnected] || building.has(form)) return;
    const from = (name, own, otherwise) => (submitter && attribute(submitter, own) !== undefined ? submitter[name] : otherwise);
    const way = from('formMethod', 'formmethod', form.method);
    if (way === 'dialog') {
      form.closest('dialog')?.close(submitter && attribute(submitter, 'value') !== undefined ? submitter.value : undefined);
      return;
    }
    const data = new FormData(form, submitter);
    let url;
    try {
      url = new URL(from('formAction', 'formaction', attribute(form, 'action') ?? '') || g.location.href, document.baseURI);
    } catch {
      return;
    }
    if (url.protocol === 'javascript:') return;
    if (way === 'get') url.search = new URLSearchParams([...data].map(([k, v]) => [k, typeof v === 'string' ? v : v.name])).toString();
    hooks.navigate(url.href, true);
  };
  const request = (form, submitter) => {
    if (!form[P.isConnected] || firing.has(form)) return;
    firing.add(form);
    try {
      if (!(submitter ? attribute(submitter, 'formnovalidate') !== undefined : false) && attribute(form, 'novalidate') === undefined) {
        for (const el of form.elements) forms.touch(el);
        page.version++;
        const bad = forms.checkAll(form);
        if (bad.length > 0) {
          const [el] = bad;
          const what = `<${nameOf(el)}${attribute(el, 'id') ? ` id="${attribute(el, 'id')}"` : attribute(el, 'name') ? ` name="${attribute(el, 'name')}"` : ''}>`;
          host.call('log', 'info', `the form is not submitted: ${what}: ${forms.messageOf(el)}`);
          return;
        }
      }
      if (!form.dispatchEvent(new g.SubmitEvent('submit', { bubbles: true, cancelable: true, submitter: submitter ?? null }))) return;
    } finally {
      firing.delete(form);
    }
    send(form, submitter);
  };
  method(formProto, 'requestSubmit', function requestSubmit(submitter = null) {
    const form = me(this);
    if (submitter !== null) mustSubmit(submitter, form, "Failed to execute 'requestSubmit' on 'HTMLFormElement'");
    request(form, submitter);
  });
  method(formProto, 'submit', function submit() {
    send(me(this), null);
  });
  const resetting = new WeakSet();
  const resetControl = (el) => {
    forms.forget(el);
    const kind = nameOf(el);
    if (kind === 'input') {
      el[P.value] = null;
      el[P.checked] = null;
      if (el.type === 'radio' && el.checked) forms.only(el);
    } else if (kind === 'textarea') el[P.value] = null;
    else if (kind === 'output') forms.resetOutput(el);
    else if (kind === 'select') {
      for (const o of el.options) {
        o[P.selectedness] = attribute(o, 'selected') !== undefined;
        o[P.dirtyness] = false;
      }
      forms.askForReset(el);
    } else el.formResetCallback?.();
  };
  method(formProto, 'reset', function reset() {
    const form = me(this);
    if (resetting.has(form)) return;
    resetting.add(form);
    try {
      if (form.dispatchEvent(new g.Event('reset', { bubbles: true, cancelable: true }))) {
        for (const el of controls(form, true)) resetControl(el);
        page.version++;
      }
    } finally {
      resetting.delete(form);
    }
  });

  // Labels.
  const labelable = (el) => /^(button|meter|output|progress|select|textarea)$/.test(nameOf(el)) || (nameOf(el) === 'input' && el.type !== 'hidden') || (page.internals?.has(el) ?? false);
  const label = g.HTMLLabelElement.prototype;
  define(host.owner('control', label), 'control', function () {
    const id = attribute(this, 'for');
    if (id !== undefined) {
      const found = this[P.isConnected] && id !== '' ? this.getRootNode().getElementById(id) : null;
      return found && labelable(found) ? found : null;
    }
    return [...this.querySelectorAll(`button, input, meter, output, progress, select, textarea${custom()}`)].find(labelable) ?? null;
  });
  define(host.owner('form', label), 'form', function () {
    return this.control?.form ?? null;
  });
  for (const cls of ['Button', 'Input', 'Meter', 'Output', 'Progress', 'Select', 'TextArea']) {
    define(g[`HTML${cls}Element`].prototype, 'labels', function () {
      const el = me(this);
      if (nameOf(el) === 'input' && el.type === 'hidden') return null;
      return new g.NodeList(P.illegalConstructor, [...el.getRootNode().querySelectorAll('label')].filter((x) => x.control === el));
    });
  }

  // What a click does. The first element on its way that does something does it, unless the click was
  // prevented; boxes change before the listeners run, and change back if it was.
  const isSummary = (el) => {
    const p = el[P.parentNode];
    return p && p[P.nodeType] === 1 && nameOf(p) === 'details' && p[P.elementArray].find((x) => nameOf(x) === 'summary') === el;
  };
  const acts = (el) => {
    switch (nameOf(el)) {
      case 'a': case 'area': return attribute(el, 'href') !== undefined || attribute(el, 'xlink:href') !== undefined;
      case 'button': case 'input': case 'label': return true;
      case 'summary': return isSummary(el);
      default: return false;
    }
  };
  const follow = (el) => {
    const { href } = el;
    if (typeof href !== 'string' || href === '') return;
    const features = ['noreferrer', 'noopener'].filter((word) => el.relList?.contains(word));
    page.window.open(href, el.target || '_self', features.join(','));
  };
  const command = (el) => {
    const popover = attribute(el, 'popovertarget') === undefined ? null : (el.popoverTargetElement ?? el.getRootNode().getElementById(attribute(el, 'popovertarget')));
    if (popover) {
      const way = (attribute(el, 'popovertargetaction') ?? 'toggle').toLowerCase();
      const open = popover.matches(':popover-open');
      if (open && way !== 'show') popover.hidePopover();
      else if (!open && way !== 'hide') popover.showPopover();
      return true;
    }
    const target = attribute(el, 'commandfor') === undefined ? null : el.getRootNode().getElementById(attribute(el, 'commandfor'));
    const name = attribute(el, 'command')?.toLowerCase();
    if (!target || !name) return false;
    const event = Object.assign(new g.Event('command', { cancelable: true }), { command: name, source: el });
    if (!target.dispatchEvent(event)) return true;
    if (name === 'show-modal') target.open || target.showModal?.();
    else if (name === 'close' || name === 'request-close') target.open && target.close?.(attribute(el, 'value'));
    else if (name === 'show-popover') target.showPopover?.();
    else if (name === 'hide-popover') target.hidePopover?.();
    else if (name === 'toggle-popover') target.togglePopover?.();
    return true;
  };
  const press = (el) => {
    const form = ownerOf(el);
    if (forms.submits(el) && form) request(form, el);
    else if (el.type === 'reset' && form) form.reset();
    else command(el);
  };
  const tell = (el) => {
    if (!el[P.isConnected]) return;
    forms.edit(el);
    el.dispatchEvent(new g.Event('input', { bubbles: true, composed: true }));
    el.dispatchEvent(new g.Event('change', { bubbles: true }));
  };
  // Content of a label that takes its clicks itself.
  const interactive = (el) => /^(a|audio|button|details|embed|iframe|input|label|select|textarea|video)$/.test(nameOf(el)) && (nameOf(el) !== 'a' || attribute(el, 'href') !== undefined);
  const passOn = (el, target) => {
    const { control } = el;
    if (!control || forms.disabled(control)) return;
    for (let x = target; x && x !== el; x = x[P.parentNode]) if (x === control || (x[P.nodeType] === 1 && interactive(x))) return;
    if (control !== target) {
      if (forms.isTextual(control) || nameOf(control) === 'select') control.focus?.();
      control.dispatchEvent(new g.PointerEvent('click', { bubbles: true, cancelable: true, composed: true, detail: 1 }));
    }
  };
  // Runs a click; `dispatch` sends the event on its way.
  const click = (target, event, dispatch) => {
    let actor = null;
    for (let x = target; x; x = x[P.parentNode] ?? x.host ?? null) {
      if (x[P.nodeType] === 1 && acts(x)) {
        actor = x;
        break;
      }
    }
    if (!actor) return dispatch();
    const box = nameOf(actor) === 'input' && /^(checkbox|radio)$/.test(actor.type) ? actor : null;
    let restore = null;
    if (box?.type === 'checkbox') {
      const [checked, mixed] = [box.checked, box.indeterminate];
      restore = () => {
        box.checked = checked;
        box.indeterminate = mixed;
      };
      box.checked = !checked;
      box.indeterminate = false;
    } else if (box) {
      const before = forms.radioGroup(box).find((x) => x.checked) ?? null;
      restore = () => {
        box.checked = false;
        if (before) before.checked = true;
      };
      if (before === box) restore = () => {};
      box.checked = true;
      restore.same = before === box;
    }
    const answer = dispatch();
    if (event.defaultPrevented) {
      restore?.();
      return answer;
    }
    if (box) {
      if (!restore.same) tell(box);
    } else if (nameOf(actor) === 'label') passOn(actor, target);
    else if (nameOf(actor) === 'summary') actor[P.parentNode].open = !actor[P.parentNode].open;
    else if (/^(a|area)$/.test(nameOf(actor))) follow(actor);
    else if (!forms.disabled(actor)) press(actor);
    return answer;
  };
  for (const cls of ['Label', 'Input', 'Details', 'Button', 'Anchor', 'Area']) delete host.owner('dispatchEvent', g[`HTML${cls}Element`].prototype).dispatchEvent;
  const targets = host.owner('dispatchEvent', g.Element.prototype);
  const { dispatchEvent } = targets;
  method(targets, 'dispatchEvent', function (event) {
    const send = () => host.apply(dispatchEvent, this, [event]);
    if (!(event instanceof g.Event) || event[P.type] !== 'click' || event[P.dispatching] || this[P.nodeType] !== 1 || !(event instanceof g.MouseEvent)) return send();
    return click(me(this), event, send);
  });
  const html = host.owner('click', g.HTMLElement.prototype);
  method(html, 'click', function click() {
    if (/^(button|input|select|textarea)$/.test(nameOf(this)) && forms.disabled(me(this))) return;
    this.dispatchEvent(new g.PointerEvent('click', { bubbles: true, composed: true, cancelable: true, pointerId: -1 }));
  });
})
