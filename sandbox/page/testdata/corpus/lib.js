var lib = 7;
o.textContent += "x";
