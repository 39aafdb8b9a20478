// Where happy-dom asks the page guest instead of acting by itself. The page
// guest fills this object in; bundle.mjs patches the calls into happy-dom.
export const hooks = {};
