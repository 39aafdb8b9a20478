// Shared ground of the prelude. Every prelude file is a function of one private
// object, `host`; nothing of it is reachable from the program that runs later.
(function (host) {
  'use strict';

  // Built-ins as they are now: a program may replace them for itself, never for us.
  const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf, keys } = Object;
  const { apply, ownKeys } = Reflect;
  host.stringify = JSON.stringify;
  host.parse = JSON.parse;
  host.apply = apply;
  host.ownKeys = ownKeys;
  host.keys = keys;
  host.descriptor = getOwnPropertyDescriptor;
  host.prototypeOf = getPrototypeOf;
  host.str = String;

  // Defines a global the way browsers do: writable, configurable, not enumerable.
  host.define = (name, value) =>
    defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });

  // Gives a class the tag that Object.prototype.toString shows.
  host.tag = (cls, name) =>
    defineProperty(cls.prototype, Symbol.toStringTag, { value: name, configurable: true });

  // Milliseconds since the program started, on the machine's clock.
  const perf = performance;
  const perfNow = perf.now;
  host.now = () => apply(perfNow, perf, []);
})
