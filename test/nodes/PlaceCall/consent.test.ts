/** *Consent*: whom Place Call doesn't call, and that no model can change that. */
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { plainText } from '../../../nodes/core/values/values';
import { engineTool, hintsOf, inlineTool, mcpTool, records, useTime } from '../../engine';
import {
	acceptCalls,
	acceptUpTo,
	CONTINUE,
	HOURS,
	NOON,
	perItem,
	phone,
	placeCallHarness,
} from './placeCallHarness';

const harness = placeCallHarness();
const { place, refusal, placeCallNode: node } = harness;
const rule = (over: IDataObject = {}) => ({
	options: { consent: { rule: { column: 'agreed_on', maxDays: 30, ...over } } },
});
const CONSENT = { ...perItem, ...rule() };
const settings = { timezone: 'Asia/Kolkata' };

const itIs = useTime(NOON);

/** Why each person isn't called, or that they are. */
const reasons = async (items: IDataObject[], over: INodeParameters = {}) =>
	records(await place({ ...CONSENT, ...over }, { items, settings })).map(
		({ placed, not_placed_reason: reason, consent_reason: found }) =>
			placed === true ? 'called' : `${plainText(reason)}: ${plainText(found)}`,
	);
const agreed = (agreed_on: string | null, index = 0): IDataObject => ({
	phone: phone(index),
	agreed_on,
});

it('calls people with a recent date, and says of the others what was found', async () => {
	// In India, the 20th has begun.
	itIs('2026-11-20T02:00:00+05:30');
	const bodies = acceptCalls(2);
	const items = [
		agreed('2026-11-20', 0),
		agreed('2026-10-20', 1),
		agreed('', 2),
		agreed('03/04/2026', 3),
		agreed('2026-11-21', 4),
		agreed('2026-10-21', 5),
	];
	const run = await place(CONSENT, { items, settings });
	expect(bodies.map(({ phone_number: to }) => to)).toEqual([phone(0), phone(5)]);
	expect(records(run)[1]).toEqual({
		...agreed('2026-10-20', 1),
		placed: false,
		call_id: null,
		not_placed_reason: 'no_consent',
		consent_reason:
			'Column "agreed_on" has "2026-10-20", which is more than 30 days before 2026-11-20.',
		phone_key: `91${phone(1)}`,
	});
	expect(hintsOf(run)[0]).toMatch(/^6 items: 2 called, 4 without consent\./);
});

it('Check Only says how many have no consent, and calls nobody', async () => {
	const items = [agreed('2026-11-20', 0), agreed(null, 1)];
	const run = await place({ ...CONSENT, whatToDo: 'check' }, { items, settings });
	expect(hintsOf(run)[0]).toMatch(/^2 items: 1 without consent, 1 would be called\./);
});

it('finds nested values, and a column whose name has a dot', async () => {
	acceptCalls(2);
	const items = [
		{ phone: phone(0), consent: { date: '2026-11-20' } },
		{ phone: phone(1), 'consent.date': '2026-11-20' },
	];
	expect(await reasons(items, rule({ column: 'consent.date' }))).toEqual(['called', 'called']);
});

it('takes no value that every object has', async () => {
	acceptCalls(1);
	const items = [agreed('2026-11-20', 0), { phone: phone(1), constructor: '2026-11-20' }];
	const [first, second] = await reasons(items, rule({ column: 'constructor' }));
	expect(first).toContain('Column "constructor" has no date');
	expect(second).toBe('called');
});

describe('if none of the rows has the column', () => {
	const items = [
		{ phone: phone(0), 'Agreed On': '2026-11-20' },
		{ phone: phone(1), name: 'Asha' },
	];
	const MESSAGE = 'The input has no column "agreed_on", so no call was placed';

	it('calls nobody, and lists the columns of the rows', async () => {
		expect(await refusal(CONSENT, { items })).toBe(
			`${MESSAGE}. In 'Consent Column', enter the name of the column with the dates on which people agreed. If it's right, none of these rows has a date. The input has: "phone", "Agreed On", "name".`,
		);
	});

	it('says that rows without columns have none', async () => {
		expect(await refusal(CONSENT, { items: [{}, {}] })).toMatch(/The input has no columns\.$/);
	});

	it('calls nobody, also if the node continues on errors, and returns the rows', async () => {
		const run = await place(CONSENT, { items, over: CONTINUE });
		const error = { error: MESSAGE, message: expect.any(String), details: expect.any(Object) };
		expect(records(run)).toEqual(items.map((item) => ({ ...item, placed: false, ...error })));
	});

	it('returns no fields of the rows without Include Input Fields', async () => {
		const options = { ...rule().options, includeInputFields: false };
		const run = await place({ ...CONSENT, options }, { items, over: CONTINUE });
		const fields = ['placed', 'error', 'message', 'details'];
		expect(records(run).map(Object.keys)).toEqual(items.map(() => fields));
	});

	it('a single row has no consent, because n8n leaves out its empty cells', async () => {
		expect(await reasons(items.slice(1))).toEqual(['no_consent: Column "agreed_on" has no date.']);
	});

	it.each([
		['run by the engine', engineTool],
		['run by the agent', inlineTool],
	])('as a tool %s, calls nobody, whatever the model gives', async (_route, toolOf) => {
		const bodies = acceptUpTo(1);
		const [row = {}] = items;
		const tool = toolOf(node(CONSENT), { row, rows: items });
		expect(await tool({ agreed_on: '2026-11-20' })).toMatchObject({
			outcome: 'not_sent',
			what_happened: expect.stringContaining(MESSAGE),
		});
		expect(bodies).toEqual([]);
	});
});

it('calls the second of two rows with the same number if only that one has a consent', async () => {
	acceptCalls(1);
	const found = await reasons([agreed(''), agreed('2026-11-20')]);
	expect(found).toEqual(['no_consent: Column "agreed_on" has no date.', 'called']);
});

it.each<[string, INodeParameters]>([
	['at a date', { when: 'dateTime', scheduledAt: '2026-11-23T09:00:00+05:30' }],
	['at the next opening', { ...HOURS }],
])('a call %s needs a consent that is recent enough then', async (_what, over) => {
	itIs('2026-11-20T22:00:00+05:30');
	const bodies = acceptCalls(1);
	const [early, late] = await reasons([agreed('2026-10-23', 0), agreed('2026-10-24', 1)], over);
	expect([early, late]).toEqual([
		'no_consent: Column "agreed_on" has "2026-10-23", which is more than 30 days before 2026-11-23.',
		'called',
	]);
	expect(bodies).toMatchObject([{ scheduled_at: '2026-11-23T09:00:00+05:30' }]);
});

it('a time of day is sent with its date, because the age of the consent depends on it', async () => {
	const over = { when: 'timeOfDay', scheduledTime: '18:30' };
	const bodies = acceptCalls(1);
	await reasons([agreed('2026-11-20')], over);
	expect(bodies).toMatchObject([{ scheduled_at: '2026-11-20T18:30:00+05:30' }]);
});

it.each<[string, IDataObject, string]>([
	['no column', { column: ' ' }, "'Consent' needs 'Consent Column' and 'At Most (Days Old)'"],
	['no number of days', { maxDays: '' }, "'At Most (Days Old)' in 'Consent' must be a number"],
	['half a day', { maxDays: 0.5 }, "'At Most (Days Old)' must be a whole number"],
	[
		'an expression',
		{ column: '={{ "agreed_on" }}' },
		"'Consent Column' in 'Consent' must be a value without expressions",
	],
])('calls nobody with %s', async (_what, over, message) => {
	expect(await refusal({ ...CONSENT, ...rule(over) }, { items: [agreed('2026-11-20')] })).toContain(
		message,
	);
});

it('calls nobody if the option was added, and has no fields', async () => {
	const empty = { ...perItem, options: { consent: {} } };
	expect(await refusal(empty, { items: [agreed('2026-11-20')] })).toContain(
		"'Consent' needs 'Consent Column'",
	);
});

describe('as a tool', () => {
	const row = agreed('', 0);
	const today = { agreed_on: '2026-11-20' };
	const NOT_CALLED = {
		outcome: 'not_sent',
		what_happened: expect.stringContaining("doesn't show a recent consent"),
		next_step: expect.stringContaining('Do not repeat this request.'),
	};

	it.each([
		['run by the engine', engineTool],
		['run by the agent', inlineTool],
	])('%s, needs a consent of the row, and not of the model', async (_route, toolOf) => {
		const bodies = acceptUpTo(1);
		for (const one of [row, { phone: phone(0) }])
			expect(await toolOf(node(CONSENT), { row: one })(today)).toMatchObject(NOT_CALLED);
		expect(bodies).toEqual([]);
		const tool = toolOf(node(CONSENT), { row: agreed('2026-11-19') });
		expect(await tool()).toMatchObject({ outcome: 'done' });
		expect(bodies).toMatchObject([{ phone_number: phone(0) }]);
	});

	it('the consent of one row is none for another', async () => {
		const bodies = acceptUpTo(1);
		const rows = [agreed('2026-11-19', 0), agreed('', 1)];
		const tool = engineTool(node(CONSENT), { row: agreed('', 1), rows });
		expect(await tool(today)).toMatchObject({ outcome: 'not_sent' });
		expect(bodies).toEqual([]);
	});

	it('for an MCP client, which has no row, calls nobody', async () => {
		const bodies = acceptUpTo(1);
		const fixed = node({ ...rule() });
		expect(await mcpTool(fixed, 'a session')(today)).toMatchObject(NOT_CALLED);
		expect(bodies).toEqual([]);
	});

	it.each<[string, INodeParameters]>([
		['the number', { phoneNumber: "={{ $fromAI('phone') }}" }],
		['the country', { countryCode: "={{ $fromAI('country') }}" }],
	])(
		'a model that chooses %s calls nobody, because the consent is that of the row',
		async (...one) => {
			const [, over] = one;
			const bodies = acceptUpTo(1);
			const tool = engineTool(node({ ...CONSENT, ...over }), { row: agreed('2026-11-19') });
			expect(await tool({ phone: phone(1), country: 'IN' })).toMatchObject({
				outcome: 'not_sent',
				what_happened: expect.stringContaining("the model can't choose the number"),
			});
			expect(bodies).toEqual([]);
		},
	);

	it.each(['$tool.parameters.phone', '$json.toolParameters.phone'])(
		'as human review, calls nobody at {{ %s }}, which the model chooses',
		async (ofModel) => {
			const bodies = acceptUpTo(1);
			const options = { ...rule().options, waitForCompletion: 'reading' };
			const question = { operation: 'sendAndWait', message: 'May I?', options };
			const ask = node({ ...question, phoneNumber: `={{ ${ofModel} }}` });
			const review = engineTool({ ...ask, type: `${ask.type}Hitl` }, { row: agreed('2026-11-19') });
			expect(await review({ tool: 'Refund', toolParameters: { phone: phone(1) } })).toMatchObject({
				explanation: expect.stringContaining("the model can't choose the number"),
				data: { approved: false },
			});
			expect(bodies).toEqual([]);
		},
	);

	it('a model cannot choose the column or the days', async () => {
		const bodies = acceptUpTo(1);
		const open = rule({ column: "={{ $fromAI('column') }}" });
		const tool = engineTool(node({ ...perItem, ...open }), {
			row: { ...agreed(''), born: '2026-11-19' },
		});
		expect(await tool({ column: 'born' })).toMatchObject({ outcome: 'not_sent' });
		expect(bodies).toEqual([]);
	});
});
