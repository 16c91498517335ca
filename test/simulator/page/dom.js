'use strict';

const byId = (id) => document.getElementById(id);

/** Creates an element. Text is never read as HTML, because names and messages come from outside. */
function element(tag, className = '', text = '') {
	const created = document.createElement(tag);
	created.className = className;
	created.textContent = text;
	return created;
}
