'use strict';

/** What the person has pasted and chosen. */
const examples = { curls: '', responses: {}, answers: {} };
let newest = 0;

/** Asks for the profile. Only the response to the newest request is shown. */
async function update() {
	const number = ++newest;
	const response = await fetch('/profile', { method: 'POST', body: JSON.stringify(examples) });
	if (number !== newest) return;
	if (response.ok) show(await response.json());
	else byId('missing').textContent = 'The text is too long. Paste one example of each request.';
}

function list(className, texts) {
	const shown = element('ul', className);
	shown.append(...texts.map((text) => element('li', '', text)));
	return shown;
}

function questionOf({ id, text, choices, answer }) {
	const row = element('div', answer === '' ? 'question open' : 'question');
	const label = element('label', '', text);
	const select = element('select');
	select.id = id;
	label.htmlFor = id;
	select.append(new Option('Choose', ''));
	select.append(...choices.map((choice) => new Option(choice.label, choice.value)));
	select.value = answer;
	select.addEventListener('change', () => {
		examples.answers[id] = select.value;
		void update();
	});
	row.append(label, select);
	return row;
}

/** The field for a response stays the same element, so that a half-written text isn't lost. */
const responseFields = new Map();

function responseFieldOf(name) {
	const known = responseFields.get(name);
	if (known !== undefined) return known;
	const field = element('div');
	const label = element('label', '', 'Example response (optional)');
	const text = element('textarea');
	text.id = `response.${name}`;
	text.rows = 4;
	text.spellcheck = false;
	label.htmlFor = text.id;
	text.addEventListener('input', () => {
		examples.responses[name] = text.value;
		void update();
	});
	field.append(label, text);
	responseFields.set(name, field);
	return field;
}

function partOf({ name, request, takesResponse, questions, literals, notes }) {
	const part = element('section');
	const title = element('h2', '', `${name}: ${request}`);
	title.id = `part.${name}`;
	part.setAttribute('aria-labelledby', title.id);
	part.append(title);
	if (takesResponse) part.append(responseFieldOf(name));
	part.append(list('notes', notes), ...questions.map(questionOf));
	if (literals.length > 0) {
		part.append(
			element('p', 'muted', 'Sent as written, in every request:'),
			list('muted', literals),
		);
	}
	return part;
}

function show({ parts, others, profile, missing }) {
	const focused = document.activeElement?.id ?? '';
	const { selectionStart, selectionEnd } = document.activeElement ?? {};
	byId('others').replaceChildren(...others.map((text) => element('li', '', text)));
	byId('parts').replaceChildren(...parts.map(partOf));
	byId('missing').textContent = missing;
	byId('profile').textContent = profile;
	byId('profile').hidden = profile === '';
	byId('copy').hidden = profile === '';
	byId('copied').textContent = '';
	const field = byId(focused);
	field?.focus();
	if (field?.tagName === 'TEXTAREA') field.setSelectionRange(selectionStart, selectionEnd);
}

byId('curls').addEventListener('input', ({ target }) => {
	examples.curls = target.value;
	void update();
});
byId('copy').addEventListener('click', async () => {
	await navigator.clipboard.writeText(byId('profile').textContent);
	byId('copied').textContent = 'Copied. Paste it into Service Profile in the credential.';
});
void update();
