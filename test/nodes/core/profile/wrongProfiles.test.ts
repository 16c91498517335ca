import { readProfile } from '../../../../nodes/core/profile/schema';
import { explainedBy } from '../values/explainedBy';

const bodyOf = (body: unknown) => ({ 'dnd.add': { body } });
const listOf = (next: unknown, more: object = {}) => ({ calls: { list: 'data', next, ...more } });
const queryOf = (query: object) => ({ calls: { query } });
const REQUEST = { a: '{agent}', p: '{phone}' };
const A_PATH = 'must be a path such as data.calls';
const AN_OBJECT = 'must be an object in curly brackets';
const NOT_AN_OBJECT = 'Expected object, received';
const EXAMPLE = 'in place of the values of your example';
const SEVERAL = 'has several placeholders, of which one can be missing. Give each its own text';
const ONLY =
	'can only have {agent}, {phone}, and {reason}, in its value, and in single curly brackets';

/** Profiles with the same fault. */
const FAULTS: Array<[fault: string, ...profiles: object[]]> = [
	["the profile: Unrecognized key(s) in object: 'dnd.ad'", { 'dnd.ad': {} }],
	[`"dnd.add": ${NOT_AN_OBJECT} array`, { 'dnd.add': [] }],
	[`"dnd.remove": ${NOT_AN_OBJECT} null`, { 'dnd.remove': null }],
	[`"body" in "dnd.add": ${AN_OBJECT}`, bodyOf([]), bodyOf('{phone}')],
	[
		`"dnd.list": Unrecognized key(s) in object: 'body'`,
		{ 'dnd.list': { body: { a: '{agent}', p: '{page}' } } },
	],

	// Placeholders.
	[
		`"dnd.add": needs {agent} and {phone} ${EXAMPLE}`,
		{ 'dnd.add': {} },
		bodyOf({ agent: 'agent_a1', phone: '+919812345678' }),
	],
	[`"dnd.remove": needs {agent} ${EXAMPLE}`, { 'dnd.remove': { query: { phone: '{phone}' } } }],
	[`"dnd.list": needs {page} ${EXAMPLE}`, { 'dnd.list': { query: { a: '{agent}' } } }],
	[`"chat.inbound": needs {message} ${EXAMPLE}`, { 'chat.inbound': { body: { s: '{session}' } } }],
	[`"chat.session": needs {agent} ${EXAMPLE}`, { 'chat.session': { body: { who: '{person?}' } } }],
	[`"calls": needs {page} ${EXAMPLE}`, listOf({ page: 1 })],
	[`"calls": needs {cursor} ${EXAMPLE}`, listOf({ cursor: 'id' })],
	// Only the first page would be read, and count as the whole list.
	[
		`"next" in "calls": is "none", but the query has a page, offset, or cursor`,
		...['page', 'offset', 'cursor'].map((at) => listOf('none', { query: { at: `{${at}}` } })),
	],
	[
		`"body.of.0.x" in "dnd.add": ${ONLY}`,
		bodyOf({ a: '{agent}', p: ['{phone}'], of: [{ x: '{reson?}' }] }),
	],
	[
		`"body.r" in "dnd.add": ${ONLY}`,
		...['{message}', '{{reason?}}', '${reason}', '{ reason }', '{reason', '{?reason}'].map((r) =>
			bodyOf({ ...REQUEST, r }),
		),
	],
	[`"body.{reason?}" in "dnd.add": ${ONLY}`, bodyOf({ ...REQUEST, '{reason?}': 'why' })],
	[`"body.e" in "dnd.add": ${SEVERAL}`, bodyOf({ e: '{phone};{reason?}', bot: '{agent}' })],
	// The first request has no page.
	[`"query.at" in "dnd.list": ${SEVERAL}`, { 'dnd.list': { query: { at: '{agent} {page}' } } }],

	// Values.
	[
		'"query.filter" in "calls": must be text, a number, or a list of these. For nested parameters, write names such as "of[name]"',
		queryOf({ filter: { status: '{status?}' } }),
		queryOf({ filter: null }),
	],
	[
		'"query.campaign_upload_id" in "calls": must be left out: the nodes add it',
		queryOf({ campaign_upload_id: 7 }),
	],
	[
		'"body.idempotency_key" in "chat.async": must be left out: the nodes add it',
		{ 'chat.async': { body: { text: '{message}', idempotency_key: 'k' } } },
	],

	// Lists.
	[
		'"calls": must have "list" and "next", because each needs the other',
		{ calls: { list: 'data' } },
		{ calls: { next: 'none' } },
	],
	[
		'"next" in "calls": must be { "page": 1 } or { "offset": 0 } with the first one, { "cursor": path } or { "link": path } with a path in the response, or "none" if all calls are in one response',
		...['pages', { page: '1' }, { page: 1, offset: 0 }, { lastEntry: 'id' }].map((next) =>
			listOf(next),
		),
	],
	// As in JSONPath.
	[`"total" in "calls": ${A_PATH}`, listOf('none', { total: '$.meta.total' })],
	[`"total" in "calls": ${A_PATH}`, listOf('none', { total: 'meta..total' })],
	[`"entry" in "calls": ${A_PATH}`, listOf('none', { entry: 'call[0' })],
	[`"list" in "agents": ${A_PATH} or "{response}"`, { agents: { list: '.' } }],
	[
		`"id" in "agents": ${A_PATH} or "{entry}" or "{key}"`,
		{ agents: { list: 'data', id: '{self}' } },
	],
	['"list" in "agents": is missing, and "id" needs it', { agents: { id: 'id' } }],
	['"list" in "agents": Expected string, received number', { agents: { list: 7 } }],
];

test.each(
	FAULTS.flatMap(([fault, ...profiles]) =>
		profiles.map((profile): [object, string] => [profile, fault]),
	),
)('%j: %s', (profile, fault) => {
	expect(explainedBy(() => readProfile(JSON.stringify(profile)))).toMatchObject({
		outcome: 'not_sent',
		message: "'Service Profile' in the credential isn't complete and correct",
		resolution: `In n8n, correct it, or send this to your service provider: ${fault}.`,
	});
});

test('the first fault is told, and the message stays short', () => {
	const many = Object.fromEntries(
		Array.from({ length: 5_000 }, (_, at) => [`${'x'.repeat(500)}${at}`, 1]),
	);
	const fault = (profile: object) =>
		explainedBy(() => readProfile(JSON.stringify(profile))).resolution;
	expect(fault(many).length).toBeLessThan(400);
	expect(fault({ 'dnd.add': { body: { p: '{phone}' } }, agents: { list: 7 } })).toBe(
		'In n8n, correct it, or send this to your service provider: "list" in "agents": Expected string, received number.',
	);
});

test.each([
	['a text', 'see attachment'],
	['a list', '[]'],
	['cut off', '{ "agents": {'],
	['with a comma at its end', '{ "agents": {}, }'],
	['with single quotation marks', "{ 'agents': {} }"],
	['with names as in JavaScript', '{ agents: {} }'],
	['with a comment', '{ "agents": {} // none\n }'],
	['a number', '7'],
	['only curly brackets, many', '{'.repeat(100_000)],
])('is not JSON: %s', (_what, text) => {
	expect(explainedBy(() => readProfile(text))).toMatchObject({
		message: "'Service Profile' in the credential isn't valid JSON",
		resolution: expect.stringMatching(
			/^In n8n, paste one block, .* into one pair of curly brackets\. .* around names and texts, .* no comma before a closing bracket\.$/,
		),
	});
});
