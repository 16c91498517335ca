import { readProfile } from '../../nodes/core/profile/schema';
import { profileFrom, type Examples } from '../../scripts/profilePage/fromExamples';

const AGENT = 'agent_a1';
const SESSION = '0b7f2f6e-2f0a-4a57-9f0e-0c8d1f3a5b6c';
const TOKEN = 'abcdefghijklmnop';

/** Where each answer is: the label of its choice starts so. */
type Answers = { [question: string]: string };

const NONE = 'The service has none';

/** Answers as a person does on the page, until there's no further question. Of what isn't wanted, the service has none. */
function answered(curls: string, wanted: Answers = {}, responses: Examples['responses'] = {}) {
	const answers: Examples['answers'] = {};
	for (;;) {
		const conversion = profileFrom({ curls, responses, answers });
		const questions = conversion.parts.flatMap((part) => part.questions);
		const open = questions.find(({ id, answer, choices }) => {
			const mayBeNone = answer === '' && choices.some(({ label }) => label.startsWith(NONE));
			return answers[id] === undefined && (wanted[id] !== undefined || mayBeNone);
		});
		if (open === undefined) return conversion;
		const label = wanted[open.id] ?? NONE;
		const choice = open.choices.find((one) => one.label.startsWith(label));
		if (choice === undefined) throw new Error(`${open.id} has ${JSON.stringify(open.choices)}`);
		answers[open.id] = choice.value;
	}
}

test.each<[how: string, curl: string, answers: Answers, profile: object]>([
	[
		'single quotes, continued lines, and tokens in the query and the body',
		`$ curl -X POST 'https://me:geheim99@api.example.com/v1/dnd_numbers?k=${TOKEN}&api_key=1' \\
  -H 'API-Token: ${TOKEN}' \\
  -H 'Content-Type: application/json' \\
  -d '{ "bot": "${AGENT}", "entry": { "phone": "+919812345678", "why": "asked by phone" }, "auth": {"token": "t"} }'`,
		{ 'dnd.add.reason': 'entry.why' },
		{
			'dnd.add': {
				body: { bot: '{agent}', entry: { phone: '{phone}', why: '{reason?}' }, auth: {} },
			},
		},
	],
	[
		'a line that continues in double quotes with escaped ones, and a reason that every request needs',
		`curl "https://api.example.com/v1/dnd_numbers" --data "{\\"a\\":\\"agent_\\
a1\\",\\"p\\":9812345678,\\"w\\":\\"x\\",\\"is_api\\":true}"`,
		{ 'dnd.add.reason': 'w in', 'dnd.add.reason.needed': 'Yes' },
		{ 'dnd.add': { body: { a: '{agent}', p: '{phone}', w: '{reason}', is_api: true } } },
	],
	[
		'--data-raw of a browser, with an apostrophe, and a prefix before the path',
		`curl --request POST --url https://example.com/api/v1/chat/inbound/ -H 'authorization: Bearer ${TOKEN}' -b 'sid=1' --data-raw $'{"text":"I\\'m here\\u0021","chat":"${SESSION}","via":"web"}' --compressed`,
		{},
		{ 'chat.inbound': { body: { text: '{message}', chat: '{session?}', via: 'web' } } },
	],
	[
		'lines that lost their ends, and --json in two parts with the text of the person as the message',
		`curl api.example.com/v1/chat/inbound/async
  --json '{"bot":'
  --json '"${AGENT}","list":[{"say":"Hi"}]}'`,
		{ 'chat.async.message': 'list.0.say' },
		{ 'chat.async': { body: { bot: '{agent?}', list: [{ say: '{message}' }] } } },
	],
	[
		'-G with -d, and two numbers of which one is a first page',
		`curl -G https://api.example.com/v1/dnd_numbers -d bot=${AGENT} -d page=1 -d size=50`,
		{ 'dnd.list.pageSize': 'size' },
		{ 'dnd.list': { query: { bot: '{agent}', page: '{page}', size: '{pageSize?}' } } },
	],
	[
		'-G with --data-urlencode',
		`curl -sG "$BASE_URL/v1/dnd_numbers" --data-urlencode "of[bot]=${AGENT}" --data-urlencode 'has=+91 98123 45678' -d p=0`,
		{},
		{ 'dnd.list': { query: { 'of[bot]': '{agent}', has: '{phone?}', p: '{page}' } } },
	],
	[
		'-X attached, an encoded query, a body, and the options of another command',
		`curl -sSXDELETE -H "API-Token: $TOKEN" 'https://api.example.com/v1/dnd_numbers?phone=%2B919812345678' -d'{"bot":"${AGENT}"}' | xargs -d x`,
		{},
		{ 'dnd.remove': { query: { phone: '{phone}' }, body: { bot: '{agent}' } } },
	],
	[
		'a date beside a phone number',
		`curl 'https://api.example.com/v1/calls?n=9812345678&d=2026-11-01T00:00:00Z&e=2026-11-01'`,
		{ 'calls.from': 'd', 'calls.to': NONE },
		{
			calls: { query: { n: '{phone?}', d: '{from?}', e: '2026-11-01' }, dates: 'dateTime' },
		},
	],
	[
		'two dates, of which the earlier one is the start',
		`curl 'https://api.example.com/v1/calls?until=2026-11-30&since=2026-11-01&of=x&of=y'`,
		{},
		{
			calls: { query: { until: '{to?}', since: '{from?}', of: ['x', 'y'] }, dates: 'date' },
		},
	],
])('a profile from a curl command: %s', (_how, curl, answers, profile) => {
	const { profile: text, missing, others } = answered(curl, answers);
	expect({ missing, others }).toEqual({ missing: '', others: [] });
	expect(readProfile(text)).toEqual(profile);
	expect(text).not.toMatch(/abcdefghijklmnop|geheim|Bearer/);
});

const CALLS_RESPONSE = JSON.stringify({
	data: { calls: [{ call_id: 'c1', tag: { id: 1 } }] },
	meta: { total: 3, after: 'x9', next_url: 'https://api.example.com/v1/calls?after=x9' },
});
const CALLS_READ = {
	list: 'data.calls',
	total: 'meta.total',
};

test.each<[how: string, query: string, answers: Answers, next: unknown, sent: object]>([
	[
		'a page number',
		'p=2',
		{ 'calls.next': 'By the number of a page', 'calls.page': 'p', 'calls.first': '1' },
		{ page: 1 },
		{ p: '{page}' },
	],
	[
		'an offset',
		'skip=50',
		{ 'calls.next': 'By the number of calls', 'calls.offset': 'skip', 'calls.first': '0' },
		{ offset: 0 },
		{ skip: '{offset}' },
	],
	[
		'a cursor in the response',
		'after=x9',
		{
			'calls.next': 'By a cursor in the resp',
			'calls.cursor': 'after',
			'calls.nextPath': 'meta.after',
		},
		{ cursor: 'meta.after' },
		{ after: '{cursor}' },
	],
	[
		'a link',
		'state=picked',
		{ 'calls.next': 'By a link', 'calls.nextPath': 'meta.next_url' },
		{ link: 'meta.next_url' },
		{ state: 'picked' },
	],
	['one response', 'a=b', { 'calls.next': 'All calls' }, 'none', { a: 'b' }],
])('the call list with further pages by %s', (_how, query, answers, next, sent) => {
	const { profile, missing } = answered(
		`curl 'https://api.example.com/v1/calls?${query}'`,
		{
			...{ 'calls.entry': 'The entry is the call', 'calls.total': 'meta.total' },
			...answers,
		},
		{ calls: CALLS_RESPONSE },
	);
	expect(missing).toBe('');
	expect(readProfile(profile)).toEqual({ calls: { query: sent, ...CALLS_READ, next } });
});

test('calls under their IDs, each in a field of its entry', () => {
	const { profile } = answered(
		'curl https://api.example.com/v1/calls',
		{
			'calls.list': 'data',
			'calls.key': "The call's ID",
			'calls.entry': 'call',
			'calls.next': 'All calls',
		},
		{ calls: JSON.stringify({ data: { c1: { call: { status: 'picked' } } } }) },
	);
	expect(readProfile(profile)).toEqual({
		calls: { list: 'data', key: 'call_id', entry: 'call', next: 'none' },
	});
});

test.each([
	['a list of agents', { our: [{ id: AGENT, title: 'Asha' }] }, { list: 'our', id: 'id' }],
	['the whole response', [{ id: AGENT, title: 'Asha' }], { list: '{response}', id: 'id' }],
])('the agents in %s, with their ID by its form', (_how, response, { list, id }) => {
	const { profile } = answered(
		'curl https://api.example.com/v1/active_agents',
		{ 'agents.name': 'title' },
		{ agents: JSON.stringify(response) },
	);
	expect(readProfile(profile)).toEqual({ agents: { list, id, name: 'title' } });
});

test('agents under their IDs', () => {
	const { profile } = answered(
		'curl https://api.example.com/v1/active_agents',
		{ 'agents.list': 'data["our.agents"]', 'agents.id': 'The key', 'agents.name': 'The entry' },
		{ agents: JSON.stringify({ data: { 'our.agents': { [AGENT]: 'Asha' } } }) },
	);
	expect(readProfile(profile)).toEqual({
		agents: { list: 'data["our.agents"]', id: '{key}', name: '{entry}' },
	});
});

test('the ID of a new chat session, by its form', () => {
	const { profile } = answered(
		`curl https://api.example.com/v1/chat/session -d '{"bot":"${AGENT}","who":"Asha"}'`,
		{ 'chat.session.person': 'who' },
		{ 'chat.session': JSON.stringify({ data: { id: SESSION } }) },
	);
	expect(readProfile(profile)).toEqual({
		'chat.session': { body: { bot: '{agent}', who: '{person?}' }, session: 'data.id' },
	});
});

test('several commands with text around them are one profile, and another request says so', () => {
	const { profile, others } = answered(
		[
			"Here's how to remove a number:",
			`$ curl -X DELETE 'https://x.example/v1/dnd_numbers?phone=9812345678&bot=${AGENT}'`,
			"This curl command doesn't belong to it:",
			`curl https://x.example/v1/call -d '{"agent_uuid":"${AGENT}"}'`,
			'Send a message:',
			'curl https://x.example/v1/chat/inbound \\',
			`  -d '{"text":"Is it free?"}' && echo done`,
			`curl -X DELETE 'https://x.example/v1/dnd_numbers?phone=1'`,
			`curl -u me:geheim99 'me:${TOKEN}@x.example/geheim99/v1/bots'`,
		].join('\r\n'),
		{},
	);
	expect(Object.keys(readProfile(profile))).toEqual(['dnd.remove', 'chat.inbound']);
	expect(others).toEqual([
		"POST /v1/call isn't a part of the profile.",
		'DELETE /v1/dnd_numbers is there twice. The first one is used.',
		"GET /(token)/v1/bots isn't a part of the profile.",
	]);
});

test.each([
	[
		'nothing',
		'',
		{},
		'Paste at least one of GET /v1/active_agents (the list of agents), GET /v1/calls (the call list), POST /v1/dnd_numbers (adding numbers to do-not-disturb lists), GET /v1/dnd_numbers (do-not-disturb lists), DELETE /v1/dnd_numbers (removing numbers from do-not-disturb lists), POST /v1/chat/session (creating chat sessions), POST /v1/chat/inbound (chat messages with an immediate reply), and POST /v1/chat/inbound/async (chat messages with a later reply).',
	],
	[
		'a question without an answer',
		`curl https://x.example/v1/chat/inbound -d '{"a":"Hello there","b":"Good day"}'`,
		{},
		'Answer each question: Where is the message?',
	],
	[
		'a value for two placeholders',
		`curl https://x.example/v1/dnd_numbers -d '{"a":"${AGENT}","p":"9812345678"}'`,
		{ 'dnd.add.reason': 'p in' },
		'Choose another value where two answers are the same.',
	],
	[
		'a documented value, which the nodes add',
		`curl https://x.example/v1/chat/inbound/async -d '{"t":"a b","idempotency_key":"k"}'`,
		{},
		`'Service Profile' in the credential isn't complete and correct. In n8n, correct it, or send this to your service provider: "body.idempotency_key" in "chat.async": must be left out: the nodes add it.`,
	],
])('no profile, and why: %s', (_what, curl, answers, missing) => {
	expect(answered(curl, answers)).toMatchObject({ profile: '', missing });
});

test.each([
	['a phone number that could be either of two', 'a=9812345678&b=9812345679', 'calls.phone'],
	['one date', 'a=2026-11-01', 'calls.from'],
	['a field with the name of a placeholder', 'status=x', 'calls.status'],
])('a choice is never guessed: %s', (_what, query, id) => {
	const { parts } = profileFrom({
		curls: `curl 'https://x.example/v1/calls?${query}'`,
		responses: {},
		answers: {},
	});
	const asked = parts.flatMap(({ questions }) => questions).find((one) => one.id === id);
	expect(asked?.answer).toBe('');
});

test('what the command has besides is shown as sent, and a body that is not JSON is left out', () => {
	const { parts } = profileFrom({
		curls: 'curl "https://x.example/v1/chat/inbound?via=api&debug" -d text=hello',
		responses: {},
		answers: {},
	});
	expect(parts).toMatchObject([
		{
			literals: ['via in the query: "api"', 'debug in the query: ""'],
			notes: [
				"The body isn't a JSON object, so it was left out. The nodes send JSON.",
				'If the example has no message, paste one that has it.',
			],
		},
	]);
});

test('an example without a value that the request must have asks for another one', () => {
	const curls = `curl -G https://x.example/v1/dnd_numbers -d bot=${AGENT} -d size=50`;
	const [part] = profileFrom({ curls, responses: {}, answers: {} }).parts;
	expect(part?.notes).toEqual(['If the example has no page number, paste one that has it.']);
});

test.each(["'", '"', "$'"])('a quote %s without its end is reported', (quote) => {
	const { parts } = profileFrom({
		curls: `curl https://x.example/v1/chat/inbound -d ${quote}{}\ncurl https://x.example/v1/calls`,
		responses: {},
		answers: {},
	});
	expect(parts.map(({ name }) => name)).toEqual(['chat.inbound']);
	expect(parts[0]?.notes).toContain(
		"A quotation mark isn't closed, so the command may be incomplete.",
	);
});

test('a token in a response is not offered', () => {
	const { parts } = profileFrom({
		curls: `curl https://x.example/v1/calls -H 'API-Token: ${TOKEN}'`,
		responses: { calls: JSON.stringify({ calls: [], total: 1, used: TOKEN, token: 'other' }) },
		answers: { 'calls.next': 'cursor' },
	});
	expect(JSON.stringify(parts)).toContain('total');
	expect(JSON.stringify(parts)).not.toMatch(/abcdefgh|other/);
});
