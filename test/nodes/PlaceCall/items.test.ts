/** What n8n gets for each item: the call, or why there is none, and what to do with the others. */
import pick from 'lodash/pick';
import type { IDataObject, INodeExecutionData, INodeParameters, IRun } from 'n8n-workflow';
import { engineTool, InFlight, output, records, skipSleeps, storedCredentials } from '../../engine';
import { eventLoopTurns } from '../../n8n/until';
import {
	acceptCalls,
	acceptUpTo,
	BODY,
	callsEndpoint,
	CONTINUE,
	faultOf,
	HOURS,
	NIGHT,
	NOON,
	people,
	perItem,
	phone,
	phoneOf,
	placeCallHarness,
	rejectCall,
} from './placeCallHarness';

const harness = placeCallHarness();
const { place, placeCallNode, inTwoBranches } = harness;

const idsOf = (items: INodeExecutionData[]) => items.map(({ json }) => json.call_id);
const UNSENT =
	"Completed in this run: row 1. To send the items that weren't sent, set 'On Error' in 'Settings' to 'Continue', save the workflow, and choose 'Retry with currently saved workflow' for this execution in the list of executions. It doesn't send completed and unknown items again. A new execution does.";

describe("n8n's custom data of the execution, by which a person finds it again,", () => {
	const dataOf = ({ data }: IRun) => data.resultData.metadata;
	const id = (call: number) => `00000000-0000-4000-8000-00000000000${call}`;
	/** The service accepts each call with one of these IDs, as long as documented. */
	const accept = (count: number) => {
		let call = 0;
		callsEndpoint()
			.times(count)
			.reply(200, () => ({ success: true, data: { call_id: id(++call) } }));
	};
	const ids = (...calls: number[]) => calls.map(id).join(', ');

	it('has the calls, as many as n8n accepts, and no number or name', async () => {
		accept(8);
		const items = people(8).map((person) => ({ ...person, call_id: 'row', outcome: 'row' }));
		const parameters = { ...perItem, personName: 'Asha' };
		const run = await place(parameters, { items });
		expect(dataOf(run)).toEqual({ call_id: ids(1, 2, 3, 4, 5, 6) });
		expect(dataOf(run)?.call_id?.length).toBeLessThanOrEqual(255);
	});

	it('has the calls that were placed before an item stopped the node, and those of a retry', async () => {
		accept(1);
		callsEndpoint().reply(400, { success: false, error: 'no' });
		const run = await place(perItem, { items: people(2) });
		expect(run.data.resultData.error?.message).toContain('[row 2]');
		expect(dataOf(run)).toEqual({ call_id: id(1) });
		callsEndpoint().reply(200, { success: true, data: { call_id: id(2) } });
		const retried = await harness.retry(run, placeCallNode(perItem));
		expect(dataOf(retried)).toEqual({ call_id: ids(1, 2) });
	});
});

const TEXTS = {
	...{ placed: false, not_placed_reason: 'call_limit_reached' },
	...{ error: 'No', message: 'Correct it', details: '{"outcome":"not_sent"}' },
};
/** As columns of other types than text have them. */
const OTHERS = {
	...{ placed: false, not_placed_reason: 3 },
	...{ error: true, message: 0, details: { outcome: 'not_sent' } },
};

describe('the output', () => {
	it.each<[what: string, parameters: INodeParameters, data: IDataObject, json: IDataObject]>([
		['the key of the number', {}, {}, { phone_key: '919876543210' }],
		['the key of the service', {}, { phone_key: 'theirs' }, { phone_key: 'theirs' }],
		[
			'no key of a number that may start with the country code or not',
			{ countryCode: 'SG', phoneNumber: '65123456' },
			{ eta: 5 },
			{ phone_key: null },
		],
	])('has the data of the response, nothing beside it, and %s', async (...one) => {
		const [, parameters, more, json] = one;
		const data = { call_id: 'a', ...more };
		callsEndpoint().reply(200, { success: true, id: 7, meta: { trace: 'x' }, data });
		expect(output(await place(parameters), 'Node')).toEqual([
			{ json: { ...data, placed: true, ...json }, pairedItem: { item: 0 } },
		]);
	});

	it('has the row without the fields of the node and the error of an earlier call', async () => {
		const data = {
			call_id: 'a',
			scheduled_at: '2099-01-01T10:00:00Z',
			scheduled_at_epoch: 4070944800,
		};
		callsEndpoint().reply(200, { success: true, data });
		const earlier = {
			...{ scheduled_for: 'old', timed_out: true, not_read: 'y' },
			...{ next_call_possible_at: 'x', call_id: 'old', phone_key: '91' },
			...{ outcome: 'Answered', captured_day: 'Friday', opted_out: false },
			...{ error: 'No', message: 'Correct it', details: { outcome: 'unknown' } },
		};
		const row = { row: 7, person_name: 'Asha Rao' };
		const run = await place({}, { items: [{ ...row, ...earlier }] });
		const scheduled_for = '2099-01-01T15:30:00+05:30';
		const called = { call_id: 'a', scheduled_for, placed: true, phone_key: '919876543210' };
		const empty = { error: '', message: '', details: null };
		expect(records(run)).toEqual([{ ...row, ...called, ...empty }]);
	});

	it.each([
		['a sheet, which would keep null', { row_number: 7 }, TEXTS, ''],
		['a sheet without row_number, such as that of Excel', { id: 7 }, TEXTS, ''],
		['a database, which may reject an empty text', { id: 7 }, OTHERS, null],
	])('of a row of %s, has no reason and error of an earlier call', async (...one) => {
		const [, row, earlier, empty] = one;
		acceptCalls(1);
		const emptied = ['not_placed_reason', 'error', 'message', 'details'];
		const [called] = records(await place({}, { items: [{ ...row, ...earlier }], over: CONTINUE }));
		expect(called).toMatchObject({ ...row, placed: true });
		expect(pick(called, emptied)).toEqual(Object.fromEntries(emptied.map((name) => [name, empty])));
	});

	it("keeps the user's own message of a row that never failed, if the sheet has the columns of the error of another one", async () => {
		acceptCalls(1);
		const row = { row_number: 7, message: 'Your order is ready', error: '', details: '' };
		const items = [{ ...row, placed: '' }];
		expect(records(await place({}, { items, over: CONTINUE }))).toMatchObject([row]);
	});

	it('of a call that was not placed has placed: false, so that a condition can compare it', async () => {
		rejectCall();
		const items = [{ row: 7, placed: true, call_id: 'old', outcome: 'Answered' }];
		const error = 'The service rejected the request';
		const [failed = {}] = records(await place({}, { items, over: CONTINUE }));
		expect(failed).toMatchObject({ row: 7, placed: false, error });
		expect(failed).not.toHaveProperty('call_id');
	});

	it('of a call that may have been placed has no value in placed', async () => {
		callsEndpoint().reply(200, '');
		const items = [{ row_number: 7, placed: true }];
		const [failed] = records(await place({}, { items, over: CONTINUE }));
		expect(failed).toMatchObject({ placed: '', details: { outcome: 'unknown' } });
	});

	it("keeps the user's own columns with such names", async () => {
		acceptCalls(1);
		const own = {
			...{ status: 'to call', message: 'Hello', error: 'was here', answer: 'B' },
			data: { approved_by: 'us' },
		};
		expect(records(await place({}, { items: [own] }))).toMatchObject([own]);
	});

	it.each([
		['Continue', 'continueRegularOutput', { row_number: 3 }],
		// n8n adds the input, but only to an item with nothing else than the error.
		['Continue (using error output)', 'continueErrorOutput', {}],
	] as const)('with On Error set to %s, has %j of a failed row', async (...one) => {
		const [, onError, kept] = one;
		acceptCalls(1);
		const items = [{ phone: phone(0) }, { row_number: 3, phone: 'later' }];
		const run = await place(perItem, { items, over: { onError } });
		const [task] = run.data.resultData.runData.Node ?? [];
		const failed = (task?.data?.main ?? []).flatMap((out) => out ?? []).at(-1);
		const error: unknown = expect.stringContaining("'Phone Number'");
		expect(failed?.json).toMatchObject({ ...kept, error, message: expect.any(String) });
	});

	it('has the items in order, which are sent at the same time up to Concurrency, with one read of the credential', async () => {
		const inFlight = new InFlight(5);
		callsEndpoint()
			.times(20)
			.reply(async (_uri, body) => {
				await inFlight.enter();
				// The first of each ten responds last, so that the order isn't accidental.
				await eventLoopTurns(20 - 2 * (Number(phoneOf(body)) % 10));
				inFlight.leave();
				return [200, { success: true, data: { call_id: `call-${phoneOf(body)}` } }];
			});
		const parameters = { ...perItem, options: { concurrency: 5 } };
		const before = storedCredentials.reads;
		const run = await place(parameters, { items: people(20) });
		expect(inFlight.max).toBe(5);
		expect(idsOf(output(run, 'Node'))).toEqual(people(20).map((row) => `call-${row.phone}`));
		expect(storedCredentials.reads - before).toBe(1);
	});
});

describe('when one call fails, the node stops, and says how to send those after it', () => {
	it.each<[status: number, body: IDataObject, reason: string]>([
		[
			400,
			{ success: false, error: 'phone_number is implausible', details: { length: 9 } },
			'phone_number is implausible · {"length":9}',
		],
		// n8n would replace a reason that contains a code of the operating system.
		[200, { success: false, error: 'ENOENT: no such flow' }, 'ENOENT: no such flow'],
	])('rejected with %i %j', async (status, body, reason) => {
		acceptCalls(1);
		callsEndpoint().reply(status, body);
		const { message, description, context } = faultOf(await place(perItem, { items: people(3) }));
		expect(message).toBe('The service rejected the request [row 2]');
		expect(description).toBe(
			`The request had no effect. Correct what the service names, or check the values and the IDs. Then try again. The service said: ${reason}. ${UNSENT}`,
		);
		// n8n would add "[item 1]".
		expect(context).not.toMatchObject({ itemIndex: expect.any(Number) });
	});

	// Other responses and faults: test/nodes/core/service/errorTexts.
	it('with an unknown outcome', async () => {
		acceptCalls(1);
		callsEndpoint().reply(502, '<html>Bad Gateway</html>');
		const { message, description } = faultOf(await place(perItem, { items: people(4) }));
		expect(message).toBe(
			'The service or a proxy returned HTTP status 502, so the outcome is unknown (call to 9876543211, IN) [row 2]',
		);
		expect(description).toContain(
			"The request wasn't sent again. Before anybody places this call again, look for 9876543211 in the calls of the account, and again after a few minutes, because the list may lag.",
		);
		expect(description).toContain(UNSENT);
	});
});

test('a call whose response is nested too deeply for n8n has an unknown outcome', async () => {
	const deep = '['.repeat(100_000) + ']'.repeat(100_000);
	callsEndpoint().reply(200, `{"success":true,"data":{"call_id":"c1","steps":${deep}}}`);
	const { message } = faultOf(await place());
	expect(message).toBe(
		"The response doesn't confirm the request, so the outcome is unknown (call to 9876543210, IN)",
	);
});

describe('when a row cannot be called', () => {
	const items = [
		{ phone: phone(0) },
		{ phone: '+449876543211', person_name: 'Asha' },
		{ phone: 'n/a', 'Full Name': 'Ravi' },
	];

	it('no call is placed, and every such row is reported', async () => {
		const { message, description, context } = faultOf(await place(perItem, { items }));
		expect(message).toBe(
			`'Phone Number' "+449876543211" has another country code, but 'Country' is India (+91) [row 2, Asha]`,
		);
		expect(description).toContain(`[row 3, Ravi] 'Phone Number' "n/a" isn't a phone number. Enter`);
		expect(description).toContain(
			"Nothing was sent or changed in this run. To handle the other items anyway, set 'On Error' in 'Settings' to 'Continue'.",
		);
		// n8n would add "[item 1]".
		expect(context).not.toMatchObject({ itemIndex: expect.any(Number) });
	});

	it('rows of a sheet are named by their row_number, which counts the header and what a filter left out', async () => {
		const inSheet = (texts: string[]) =>
			texts.map((text, index) => ({ row_number: 4 + 2 * index, phone: text, name: `N${index}` }));
		const bad = faultOf(await place(perItem, { items: inSheet(['123', phone(1), '12']) }));
		expect(bad.message).toMatch(/ has 3 digits instead of 10 \[row_number 4, N0\]$/);
		expect(bad.description).toContain('[row_number 8, N2] ');
		const empty = faultOf(await place(perItem, { items: inSheet(['', phone(1), '', '']) }));
		expect(empty.description).toContain('The same applies to row_number 8, 10.');
		acceptCalls(1);
		callsEndpoint().reply(400, { success: false, error: 'no' });
		const rejected = await place(perItem, { items: inSheet([phone(0), phone(1)]) });
		expect(faultOf(rejected).description).toContain('Completed in this run: row_number 4.');
	});

	it('with Continue the other rows are called, also if an expression is invalid', async () => {
		acceptCalls(1);
		const parameters = { phoneNumber: '={{ $json.phone.trim() }}' };
		const run = await place(parameters, { items: [...items, { phone: null }], over: CONTINUE });
		const [first, ...others] = idsOf(output(run, 'Node'));
		expect([first, others]).toEqual([`call-${phone(0)}`, [undefined, undefined, undefined]]);
	});

	it('in the next run of a loop, the error says that a new execution sends completed items again', async () => {
		acceptCalls(1);
		const phoneNumber = '={{ $runIndex === 0 ? "9876543210" : "later" }}';
		const { run } = await inTwoBranches(placeCallNode({ phoneNumber }));
		expect(faultOf(run).description).toMatch(
			/choose 'Retry with currently saved workflow'.* A new execution does\.$/,
		);
	});
});

describe('Check Only', () => {
	const CHECK = { whatToDo: 'check' };

	it('calls nobody, and returns who would be called, and when', async () => {
		skipSleeps(Date.parse(NIGHT));
		const items = [{ phone: phone(0) }, { phone: phone(0) }, { phone: 'none' }];
		const parameters = { ...perItem, ...HOURS, callLimit: 'day', ...CHECK };
		const run = await place(parameters, { items, over: CONTINUE });
		const would_call_at = '2026-11-23T09:00:00+05:30';
		expect(records(run)).toEqual([
			{
				...{ phone: phone(0), placed: false, call_id: null, phone_key: `91${phone(0)}` },
				...{ not_placed_reason: 'check_only', would_call_at },
			},
			expect.objectContaining({ placed: false, not_placed_reason: 'duplicate_number' }),
			expect.objectContaining({ error: expect.stringMatching(/^'Phone Number' "none"/) }),
		]);
	});

	it.each<[INodeParameters, would_call_at: string]>([
		[{}, 'now'],
		[{ when: 'timeOfDay', scheduledTime: '9.30 pm' }, '21:30 (India)'],
	])('of a call with %j says that it would go %s', async (parameters, would_call_at) => {
		expect(records(await place({ ...CHECK, ...parameters }))).toMatchObject([{ would_call_at }]);
	});
});

it('an empty number lists the columns of its item', async () => {
	const items = [{ Mobile: phone(0), name: 'Asha' }];
	expect(await harness.refusal(perItem, { items })).toContain(
		`check the name of its column. The item has: "Mobile", "name".`,
	);
	const ofNoItem = { phoneNumber: '={{ "" }}' };
	expect(await harness.refusal(ofNoItem, { items })).not.toContain('The item has');
});

describe('a call at night where the person is', () => {
	const hintsIn = ({ data }: IRun) =>
		(data.resultData.runData.Node?.[0]?.hints ?? []).map(({ message }) => message);
	const hint = (many: string) => [
		`Before 9:00 or after 21:00 where the person is: ${many}, such as at 22:00 (India). To call by day, set 'Calling Hours' to 'Within Hours'.`,
	];

	it.each<[string, string, INodeParameters, string[]]>([
		['is placed', NIGHT, {}, hint('2 calls')],
		['is checked', NIGHT, { whatToDo: 'check' }, hint('2 calls')],
		['is scheduled', NOON, { when: 'timeOfDay', scheduledTime: '22:00' }, hint('2 calls')],
		['is one by day', NOON, {}, []],
		['has hours', NIGHT, { ...HOURS, callingUntil: '23:00' }, []],
		['is in a country with several time zones', NIGHT, { countryCode: 'US' }, []],
	])('that %s is told in a hint at %s with %j', async (_what, now, parameters, hints) => {
		skipSleeps(Date.parse(now));
		acceptUpTo(2);
		const run = await place({ ...perItem, ...parameters }, { items: people(2) });
		expect(hintsIn(run)).toEqual(hints);
	});

	it('is told to a model, too', async () => {
		skipSleeps(Date.parse(NIGHT));
		const { what_happened } = await engineTool(placeCallNode({ whatToDo: 'check' }))();
		expect(what_happened).toContain('1 call, such as at 22:00 (India).');
	});
});

describe('a column with the country of the number', () => {
	const other = { phone: '6502530000', country_code: '+1' };
	const refused =
		'The column "country_code" says "+1", but \'Country\' is India. Write the number with + and its country code, or give its country in \'Country\'.';

	it('keeps an item of another country than the fixed one from being called', async () => {
		expect(await harness.refusal(perItem, { items: [other] })).toBe(refused);
		const body = await harness.refusal(
			{ phoneNumber: '={{ $json.body.phone }}' },
			{ items: [{ body: other }] },
		);
		expect(body).toBe(refused);
		acceptCalls(1);
		const items = [other, { phone: phone(1), country_code: 91 }];
		const run = await place(perItem, { items, over: CONTINUE });
		expect(output(run, 'Node').map(({ json }) => json.error ?? json.placed)).toEqual([
			expect.stringContaining('The column "country_code" says "+1"'),
			true,
		]);
	});

	it.each<[what: string, parameters: INodeParameters, row: IDataObject]>([
		[
			'Country is an expression',
			{ ...perItem, countryCode: '={{ $json.in }}' },
			{ ...other, in: 'IN' },
		],
		['the number is written with +', perItem, { ...other, phone: '+91 6502530000' }],
		["the number isn't one of the item", { phoneNumber: '6502530000' }, other],
	])('does not count if %s', async (_what, parameters, row) => {
		expect(await harness.sent(parameters, { items: [row] })).toEqual({
			...BODY,
			phone_number: '6502530000',
		});
	});
});
