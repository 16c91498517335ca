'use strict';

/** Sends a command to the simulator. */
async function send(name, body) {
	await fetch(`/__simulator/${name}`, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify(body),
	});
}

/**
 * Shows a list. Elements of known keys stay, so that an opened request stays open, and a half-written message isn't
 * lost.
 */
function showList(list, values, keyOf, create, update) {
	const known = new Map([...list.children].map((child) => [child.dataset.key, child]));
	const shown = values.map((value) => {
		const key = String(keyOf(value));
		const child = known.get(key) ?? create(value);
		child.dataset.key = key;
		update(child, value);
		return child;
	});
	const isSame =
		shown.length === list.children.length &&
		shown.every((child, at) => list.children[at] === child);
	if (!isSame) list.replaceChildren(...shown);
}

function classOfPhase(phase) {
	if (phase === 'Ended: picked' || phase === 'Called') return 'good';
	if (phase === 'Ringing' || phase === 'Talking' || phase === 'In the calling queue') return 'busy';
	return phase.startsWith('Ended') || phase.includes('disturb') ? 'bad' : '';
}

/** A row with the number and name, the details, and the state. */
function showRow(row, number, details, phase) {
	const state = element('span', classOfPhase(phase), phase);
	row.replaceChildren(element('span', '', number), element('span', 'muted', details), state);
}

const listItem = () => element('li');

function showCalls({ calls, callCount }) {
	byId('call-count').textContent = callCount === 0 ? '' : `(${callCount})`;
	byId('no-calls').hidden = callCount > 0;
	const update = (row, { phone, name, from, agent, phase, summary, webhooks }) => {
		const delivered = webhooks.map((status) => `webhook: ${status ?? 'no response'}`);
		const parts = [`${from}, ${agent}`, summary ?? '', ...delivered].filter((part) => part !== '');
		showRow(row, `${phone} ${name ?? ''}`, parts.join(' · '), phase);
	};
	showList(byId('calls'), calls, ({ callId }) => callId, listItem, update);
}

function createCampaign() {
	const campaign = element('div');
	campaign.append(element('h3'), element('ul', 'rows'));
	return campaign;
}

function showCampaign(shown, { id, name, status, lists, contactCount, contacts }) {
	const [title, list] = shown.children;
	title.textContent = `${id} ${name} (${status}): contacts: ${contactCount}, contact lists: ${lists}`;
	const update = (row, contact) => {
		showRow(row, `${contact.phone} ${contact.name ?? ''}`, `List ${contact.list}`, contact.phase);
	};
	showList(list, contacts, (contact) => `${contact.list}/${contact.phone}`, listItem, update);
}

function showNumbers({ numbers }) {
	const update = (row, { phone, reason, agent }) => showRow(row, phone, agent, reason);
	showList(byId('numbers'), numbers, ({ phone, agent }) => `${agent}/${phone}`, listItem, update);
}

function createChat({ sessionId }) {
	const chat = element('div', 'chat');
	const form = element('form', 'buttons');
	const text = element('input');
	text.name = 'text';
	text.autocomplete = 'off';
	text.placeholder = 'Message';
	text.setAttribute('aria-label', 'Message');
	const actions = [
		['Send as customer', 'writeAsCustomer'],
		['Take over and send as a person', 'writeAsPerson'],
	];
	for (const [label, command] of actions) {
		const button = element('button', '', label);
		button.value = command;
		form.append(button);
	}
	form.prepend(text);
	const handBack = element('button', '', 'Hand back to the agent');
	handBack.type = 'button';
	handBack.addEventListener('click', () => send('handBack', { sessionId }));
	const end = element('button', '', 'End the chat');
	end.type = 'button';
	end.addEventListener('click', () => send('closeSession', { sessionId }));
	form.append(handBack, end);
	form.addEventListener('submit', (event) => {
		event.preventDefault();
		const message = text.value.trim();
		if (message === '') return;
		text.value = '';
		void send(event.submitter?.value ?? 'writeAsCustomer', { sessionId, text: message });
	});
	chat.append(element('h3'), element('div', 'messages'), form);
	return chat;
}

function showChat(chat, { sessionId, agent, person, status, mode, connections, messages }) {
	const [title, list, form] = chat.children;
	const inCharge = mode === 'support' ? 'a person has taken over' : 'the agent replies';
	title.textContent = `${person ?? 'Customer'} with ${agent}: ${status}, ${inCharge}, connections: ${connections}`;
	title.title = sessionId;
	const update = (line, { role, content }) => {
		line.className = role;
		line.textContent = content;
	};
	const before = list.children.length;
	showList(
		list,
		messages.map((message, at) => ({ ...message, at })),
		({ at }) => at,
		() => element('p'),
		update,
	);
	if (list.children.length !== before) list.scrollTop = list.scrollHeight;
	for (const control of form.elements) control.disabled = status === 'closed';
}

function showAgents({ agents }) {
	const select = byId('new-chat').elements.agentUuid;
	const create = ({ agentUuid, name }) => new Option(name, agentUuid);
	showList(
		select,
		agents,
		({ agentUuid }) => agentUuid,
		create,
		() => {},
	);
}

function createRequest() {
	const request = element('details');
	request.append(element('summary'), element('div'));
	return request;
}

function showRequest(request, { number, method, path, at, sent, status, fault, error, response }) {
	const [summary, content] = request.children;
	const result = status ?? (fault === null ? 'no response yet' : 'no response');
	const notes = [fault ?? '', error ?? ''].filter((note) => note !== '');
	const time = new Date(at).toLocaleTimeString();
	const isGood = typeof status === 'number' && status < 300 && error === null;
	const outcome = element('span', isGood ? 'good' : 'bad', [result, ...notes].join(' · '));
	summary.replaceChildren(`${number}. ${time} ${method} ${path} → `, outcome);
	if (content.dataset.shown === `${sent}${response}`) return;
	content.dataset.shown = `${sent}${response}`;
	content.replaceChildren(
		element('div', 'muted', 'Sent'),
		element('pre', '', sent === '' ? 'No body' : sent),
		element('div', 'muted', 'Response'),
		element('pre', '', response ?? 'Not kept'),
	);
}

function show(snapshot) {
	byId('base-url').textContent = snapshot.service.baseUrl;
	byId('token').textContent = snapshot.service.token;
	const { pending, isSlow } = snapshot.switches;
	byId('pending').textContent = pending.join(' · ');
	document.querySelector('[data-switch="slow"]').setAttribute('aria-pressed', String(isSlow));
	showCalls(snapshot);
	byId('no-campaigns').hidden = snapshot.campaigns.length > 0;
	showList(byId('campaigns'), snapshot.campaigns, ({ id }) => id, createCampaign, showCampaign);
	showNumbers(snapshot);
	showAgents(snapshot);
	showList(byId('chats'), snapshot.chats, ({ sessionId }) => sessionId, createChat, showChat);
	byId('no-requests').hidden = snapshot.requests.length > 0;
	showList(byId('requests'), snapshot.requests, ({ number }) => number, createRequest, showRequest);
}

byId('switches').addEventListener('click', ({ target }) => {
	const name = target.dataset.switch;
	if (name !== undefined) void send('switch', { name });
});
byId('new-chat').addEventListener('submit', (event) => {
	event.preventDefault();
	void send('createSession', {
		agentUuid: event.target.elements.agentUuid.value,
		person: 'Customer',
	});
});

const events = new EventSource('/__simulator/events');
events.addEventListener('message', ({ data }) => show(JSON.parse(data)));
events.addEventListener('open', () => (byId('connection').textContent = ''));
events.addEventListener('error', () => {
	byId('connection').textContent = 'Not connected. Start it again with "npm start".';
});
