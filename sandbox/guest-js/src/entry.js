// The bundle is the body of a function of the prelude's `host` object, see bundle.mjs.
import { GlobalWindow, PropertySymbol } from 'happy-dom';
import { hooks } from './hooks.js';

host.dom = { GlobalWindow, PropertySymbol, hooks };
