import { readProfile } from '../../../../nodes/core/profile/readProfile';
import { explainedBy } from '../values/explainedBy';

const bodyOf = (body: unknown) => ({ 'dnd.add': { body } });
const listOf = (next: unknown, more: object = {}) => ({ calls: { list: 'data', next, ...more } });
const NEXT =
	'"next" in "calls" must be { "page": 1 } or { "offset": 0 } with the first one, { "cursor": path } or { "link": path } with a path in the response, { "lastEntry": path } if the last entry has the cursor, or "none" if all calls are in one response';
const A_PATH = 'must be a path such as data.calls';
const SINGLE = 'must have placeholders such as {agent}, in single curly brackets';
const ALL = '{agent}, {phone}, and {reason}';

test.each<[what: string, profile: object, fault: string]>([
	[
		'an optional value in one text with another one',
		bodyOf({ entry: '{phone};{reason?}', bot: '{agent}' }),
		'"body.entry" in "dnd.add" has several placeholders, of which one can be missing. Give each its own text',
	],
	[
		'a page in one text with another value, because the first request has no page',
		{ 'dnd.list': { query: { at: '{agent} {page}' } } },
		'"query.at" in "dnd.list" has several placeholders, of which one can be missing. Give each its own text',
	],
	['a part that does not exist', { 'dnd.ad': {} }, 'the profile has unknown names: "dnd.ad"'],
	['parts in parts', { dnd: { add: {} } }, 'the profile has unknown names: "dnd"'],
	[
		'the body without "body"',
		{ 'dnd.add': { phone: '{phone}' } },
		'"dnd.add" has unknown names: "phone"; "dnd.add" needs {agent} and {phone} in place of the values of your example',
	],
	['a list as a part', { 'dnd.add': [] }, '"dnd.add" must be an object in curly brackets'],
	['a text as a part', { calls: 'data' }, '"calls" must be an object in curly brackets'],
	[
		'null as a part',
		{ 'dnd.remove': null },
		'"dnd.remove" is null. Leave it out if your service doesn\'t have it',
	],
	['a list as a body', bodyOf([]), '"body" in "dnd.add" must be an object in curly brackets'],
	[
		'a text as a body',
		bodyOf('{phone}'),
		'"body" in "dnd.add" must be an object in curly brackets',
	],
	[
		'a body for a request that has none',
		{ 'dnd.list': { body: { a: '{agent}', p: '{page}' } } },
		'"dnd.list" has unknown names: "body"; "dnd.list" needs {agent} and {page} in place of the values of your example',
	],
	[
		'no request',
		{ 'dnd.add': {} },
		'"dnd.add" needs {agent} and {phone} in place of the values of your example',
	],
	[
		'an example without placeholders',
		bodyOf({ agent: 'agent_a1', phone: '+919812345678' }),
		'"dnd.add" needs {agent} and {phone} in place of the values of your example',
	],
	[
		'a placeholder of another request',
		bodyOf({ a: '{agent}', p: '{phone}', m: '{message}' }),
		`"body.m" in "dnd.add" has {message}, but can only have ${ALL}`,
	],
	[
		'a misspelled placeholder in a list',
		bodyOf({ a: '{agent}', p: ['{phone}'], of: [{ x: '{reson?}' }] }),
		`"body.of.0.x" in "dnd.add" has {reson}, but can only have ${ALL}`,
	],
	[
		'double brackets',
		bodyOf({ a: '{agent}', p: '{phone}', r: '{{reason?}}' }),
		`"body.r" in "dnd.add" ${SINGLE}`,
	],
	[
		'a dollar sign',
		bodyOf({ a: '{agent}', p: '{phone}', r: '${reason}' }),
		`"body.r" in "dnd.add" ${SINGLE}`,
	],
	[
		'blanks in the brackets',
		bodyOf({ a: '{agent}', p: '{phone}', r: '{ reason }' }),
		`"body.r" in "dnd.add" ${SINGLE}`,
	],
	[
		'a missing bracket',
		bodyOf({ a: '{agent}', p: '{phone}', r: '{reason' }),
		`"body.r" in "dnd.add" ${SINGLE}`,
	],
	[
		'a question mark in front',
		bodyOf({ a: '{agent}', p: '{phone}', r: '{?reason}' }),
		`"body.r" in "dnd.add" ${SINGLE}`,
	],
	[
		'a placeholder as a name',
		bodyOf({ a: '{agent}', p: '{phone}', '{reason?}': 'why' }),
		'"body.{reason?}" in "dnd.add" must have its placeholder as the value, not as the name',
	],
	[
		'the agent left out',
		{ 'dnd.remove': { query: { phone: '{phone}' } } },
		'"dnd.remove" needs {agent} in place of the values of your example',
	],
	[
		'no page',
		{ 'dnd.list': { query: { a: '{agent}' } } },
		'"dnd.list" needs {page} in place of the values of your example',
	],
	[
		'no text of the message',
		{ 'chat.inbound': { body: { s: '{session}' } } },
		'"chat.inbound" needs {message} in place of the values of your example',
	],
	[
		'no agent of a session',
		{ 'chat.session': { body: { who: '{person?}' } } },
		'"chat.session" needs {agent} in place of the values of your example',
	],
	[
		'nested objects in a query',
		{ calls: { query: { filter: { status: '{status?}' } } } },
		'"query.filter" in "calls" must be text, a number, or a list of these. For nested parameters, write names such as "of[name]"',
	],
	[
		'null in a query',
		{ calls: { query: { filter: null } } },
		'"query.filter" in "calls" must be text, a number, or a list of these. For nested parameters, write names such as "of[name]"',
	],
	[
		'the documented filter',
		{ calls: { query: { campaign_upload_id: 7 } } },
		'"query.campaign_upload_id" in "calls" must be left out: the nodes add it',
	],
	[
		'the documented key',
		{ 'chat.async': { body: { text: '{message}', idempotency_key: 'k' } } },
		'"body.idempotency_key" in "chat.async" must be left out: the nodes add it',
	],
	[
		'a list without its pages',
		{ calls: { list: 'data' } },
		'"calls" must have "list" and "next", because each needs the other',
	],
	[
		'pages without their list',
		{ calls: { next: 'none' } },
		'"calls" must have "list" and "next", because each needs the other',
	],
	['no such kind of pages', listOf('pages'), NEXT],
	['a text for the first page', listOf({ page: '1' }), NEXT],
	['two kinds of pages', listOf({ page: 1, offset: 0 }), NEXT],
	[
		'pages without their parameter',
		listOf({ page: 1 }),
		'"calls" needs {page} in place of the values of your example',
	],
	[
		'a cursor in the last entry without its parameter',
		listOf({ lastEntry: 'id' }),
		'"calls" needs {cursor} in place of the values of your example',
	],
	[
		'a parameter of other pages',
		listOf({ link: 'next' }, { query: { p: '{page}' } }),
		'"query.p" in "calls" has {page}, so "next" must have "page"',
	],
	[
		'a path in the form of JSONPath',
		listOf('none', { total: '$.meta.total' }),
		`"total" in "calls" ${A_PATH}`,
	],
	[
		'a path with two dots',
		listOf('none', { total: 'meta..total' }),
		`"total" in "calls" ${A_PATH}`,
	],
	['an open bracket', listOf('none', { entry: 'call[0' }), `"entry" in "calls" ${A_PATH}`],
	[
		'a dot for the whole response',
		{ agents: { list: '.' } },
		`"list" in "agents" ${A_PATH} or "{response}"`,
	],
	[
		'another word for the entry',
		{ agents: { list: 'data', id: '{self}' } },
		`"id" in "agents" ${A_PATH} or "{entry}" or "{key}"`,
	],
	[
		'an ID without its list',
		{ agents: { id: 'id' } },
		'"list" in "agents" is missing, and "id" needs it',
	],
	[
		'an empty text',
		{ agents: { list: 'data', name: ' ' } },
		'"name" in "agents" is empty. Leave it out if your service doesn\'t have it',
	],
	[
		'null for a path',
		{ agents: { list: 'data', name: null } },
		'"name" in "agents" is null. Leave it out if your service doesn\'t have it',
	],
	[
		'a number as a path',
		{ agents: { list: 7 } },
		'"list" in "agents" must be text in quotation marks',
	],
	[
		'a form of dates',
		{ calls: { dates: 'iso' } },
		'"dates" in "calls" must be "date" or "dateTime"',
	],
])('%s', (_what, profile, fault) => {
	expect(explainedBy(() => readProfile(JSON.stringify(profile)))).toMatchObject({
		outcome: 'not_sent',
		message: "'Service Profile' in the credential isn't complete and correct",
		resolution: `Correct it, or send this list to your service provider: ${fault}.`,
	});
});

test('all faults are told together, and the message stays short', () => {
	const many = Object.fromEntries(
		Array.from({ length: 5_000 }, (_, at) => [`${'x'.repeat(500)}${at}`, 1]),
	);
	const faults = (profile: object) =>
		explainedBy(() => readProfile(JSON.stringify(profile))).resolution;
	expect(faults(many)).toContain('and 4990 more');
	expect(faults(many).length).toBeLessThan(1_500);
	expect(
		faults(bodyOf(Object.fromEntries(Object.keys(many).map((one) => [one.slice(495), '{x}'])))),
	).toMatch(/; and 4991 more\.$/);
	expect(faults({ 'dnd.add': { body: { p: '{phone}' } }, agents: { list: 7 } })).toBe(
		'Correct it, or send this list to your service provider: "list" in "agents" must be text in quotation marks; "dnd.add" needs {agent} in place of the values of your example.',
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
			/^Paste one block, .* into one pair of curly brackets\. .* around names and texts, .* no comma before a closing bracket\.$/,
		),
	});
});
