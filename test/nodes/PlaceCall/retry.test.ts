import type { IDataObject, INode, INodeParameters, IRun } from 'n8n-workflow';
import {
	output,
	service,
	skipSleeps,
	startNode,
	stoppedResult,
	type Execution,
	records,
} from '../../engine';
import {
	acceptCalls,
	acceptUpTo,
	callsEndpoint,
	CallIds,
	CONTINUE,
	faultOf,
	itemsOf,
	NIGHT,
	NOON,
	onOtherDays,
	people,
	perItem,
	phone,
	phoneOf,
	placeCallHarness,
	rejectCall,
} from './placeCallHarness';

const harness = placeCallHarness();
const { run, retry } = harness;
afterEach(() => jest.restoreAllMocks());
const RETRY_ON_FAIL = { retryOnFail: true, maxTries: 2, waitBetweenTries: 1 };
const PLACED_FIRST = 'Completed in this run: row 1.';
const REJECTED = { success: false, error: 'phone_number is implausible' };
const ids = (run: IRun) => output(run, 'Node').map(({ json }) => json.call_id);

/** The service rejects these numbers once, and records every call. */
function rejecting(count: number, ...rejected: string[]): string[] {
	const phones: string[] = [];
	const callIds = new CallIds();
	service()
		.post('/v1/call')
		.times(count)
		.reply((_uri, body) => {
			const phone = phoneOf(body);
			phones.push(phone);
			const left = rejected.indexOf(phone);
			if (left < 0) return [200, { success: true, data: { call_id: callIds.next(phone) } }];
			rejected.splice(left, 1);
			return [400, REJECTED];
		});
	return phones;
}

type Retried = {
	rows: IDataObject[];
	/** Numbers that the service rejects once. */
	rejected: string[];
	node?: INodeParameters;
	/** What an edit changes before the retry. */
	edit?: INodeParameters;
	/** The numbers of all calls, in both executions. */
	sent: string[];
	/** The calls that the retry returns. */
	ids: string[];
};

const german = { countryCode: 'DE', phoneNumber: '={{ $json.phone }}' };
const same = { phone: phone(0) };

describe('Retry in the list of executions', () => {
	it.each<[string, Retried]>([
		[
			'places no call again, and continues with rejected and later items',
			{
				rows: people(3),
				rejected: [phone(1)],
				sent: [phone(0), phone(1), phone(1), phone(2)],
				ids: [`call-${phone(0)}`, `call-${phone(1)}`, `call-${phone(2)}`],
			},
		],
		[
			'calls a person not again for the same item, whatever was edited',
			{
				rows: [...people(3), same],
				rejected: [phone(2)],
				node: onOtherDays,
				edit: {
					agentUuid: { __rl: true, mode: 'id', value: 'agent_b2' },
					options: { systemPrompt: 'Be brief.' },
					developerSettings: { concurrency: 5, useLegacyEndpoint: false },
				},
				sent: [phone(0), phone(1), phone(2), phone(2), phone(0)],
				ids: [0, 1, 2].map((index) => `call-${phone(index)}`).concat(`call-${phone(0)}-2`),
			},
		],
		[
			'calls a person not again whose number was edited to another format',
			{
				rows: [{ phone: '030 1234567' }, { phone: '030 1234568' }],
				rejected: ['0301234568'],
				node: german,
				edit: { phoneNumber: '={{ "+49" + $json.phone.slice(1) }}' },
				sent: ['0301234567', '0301234568', '301234568'],
				ids: ['call-0301234567', 'call-301234568'],
			},
		],
		[
			'calls the new number of an item',
			{
				rows: people(2),
				rejected: [phone(1)],
				edit: { phoneNumber: '=980000000{{ $itemIndex }}' },
				sent: [phone(0), phone(1), '9800000000', '9800000001'],
				ids: ['call-9800000000', 'call-9800000001'],
			},
		],
		[
			'recognizes calls whose request contains the time of the attempt, also for rows with the same number',
			{
				rows: [same, same, { phone: phone(1) }, same],
				rejected: [phone(1)],
				node: { ...onOtherDays, personName: '={{ $now.toMillis() }}' },
				sent: [phone(0), phone(0), phone(1), phone(1), phone(0)],
				ids: [`call-${phone(0)}`, `call-${phone(0)}-2`, `call-${phone(1)}`, `call-${phone(0)}-3`],
			},
		],
	])('%s', async (_what, { rows, rejected, node = {}, edit = {}, sent, ids: expected }) => {
		const phones = rejecting(sent.length, ...rejected);
		const failed = await run(harness.placeCallNode({ ...perItem, ...node }), rows);
		expect(failed.data.resultData.error).toBeDefined();
		const edited = harness.placeCallNode({ ...perItem, ...node, ...edit });
		expect(ids(await retry(failed, edited))).toEqual(expected);
		expect(phones).toEqual(sent);
	});

	it('never sends a call with unknown outcome again, whatever was changed', async () => {
		acceptCalls(1);
		callsEndpoint().reply(502, '<html>Bad Gateway</html>');
		const node = harness.placeCallNode(perItem);
		const failed = await run(node, people(2));
		const again = await retry(failed, node);
		const third = await retry(again, node);
		const changed = harness.placeCallNode({
			...perItem,
			personName: '={{ $itemIndex === 1 ? "Asha" : "" }}',
		});
		for (const each of [failed, again, third, await retry(failed, changed)]) {
			expect(faultOf(each).message).toContain('the outcome is unknown');
			expect(faultOf(each).message).toContain('(call to 9876543211, IN) [row 2]');
		}
	});

	it('with the current workflow, two rows that have become equal keep their own calls', async () => {
		const rows = ['Asha', 'Ravi'].map((name) => ({ ...same, name }));
		let count = 0;
		service()
			.post('/v1/call')
			.times(3)
			.reply((_uri, body) =>
				count++ < 2 && JSON.stringify(body).includes('Asha')
					? [400, REJECTED]
					: [200, { success: true, data: { call_id: `call ${count}` } }],
			);
		const parameters = { ...perItem, ...onOtherDays, developerSettings: { concurrency: 2 } };
		const named = harness.placeCallNode({ ...parameters, personName: '={{ $json.name }}' });
		const failed = await run(named, rows);
		const alike = harness.placeCallNode({ ...parameters, personName: 'Ravi' });
		expect(ids(await retry(failed, alike))).toEqual(['call 3', 'call 2']);
	});

	it('of three rows with the same number, the one that a first retry called is not called by a second one', async () => {
		const node = harness.placeCallNode({ ...perItem, ...onOtherDays });
		acceptCalls(1);
		rejectCall();
		const failed = await run(node, [same, same, same]);
		acceptUpTo(1);
		rejectCall();
		expect(faultOf(await retry(failed, node)).message).toContain('[row 3]');
		const again = acceptUpTo(2);
		// The records of the first retry aren't stored with the execution that is retried again.
		const { message, description } = faultOf(await retry(failed, node));
		expect(again).toEqual([]);
		expect(message).toContain('[row 2]');
		expect(description).toContain(PLACED_FIRST);
	});

	it('an earlier call whose time has passed is still recognized', async () => {
		const itIs = skipSleeps(Date.parse(NOON));
		const phones = rejecting(3, phone(1));
		const scheduledAt = '=2026-11-{{ 20 + $itemIndex }}T18:00:00+05:30';
		const node = harness.placeCallNode({ ...perItem, when: 'dateTime', scheduledAt });
		const failed = await run(node, people(2));
		itIs(NIGHT);
		const again = await retry(failed, node);
		expect(ids(again)).toEqual([`call-${phone(0)}`, `call-${phone(1)}`]);
		expect(phones).toEqual([phone(0), phone(1), phone(1)]);
	});
});

describe('the stored records', () => {
	const kept = ({ data }: IRun) => JSON.stringify(data.executionData?.contextData['node:Node']);

	it('are small: no rows, and per call one result and one short name', async () => {
		const rows = people(300).map((row) => ({ ...row, notes: 'x'.repeat(500) }));
		rejecting(300, '9876543509');
		const failed = await run(
			harness.placeCallNode({ ...perItem, developerSettings: { concurrency: 50 } }),
			rows,
		);
		expect(kept(failed)).not.toContain('xxx');
		expect(kept(failed)).not.toContain('"9876543210"');
		expect(kept(failed).length / 299).toBeLessThan(90 + '"123456789012":0,'.length);
	});

	it('have no included rows, and a retry returns each row with its call', async () => {
		const rows = people(3).map((row, index) => ({ ...row, notes: `of row ${index}` }));
		rejecting(3, '9876543212');
		const node = harness.placeCallNode({ ...perItem, options: { includeInputFields: true } });
		const failed = await run(node, rows);
		expect(kept(failed)).not.toContain('of row');
		acceptCalls(1);
		const items = records(await retry(failed, node));
		expect(items).toEqual(
			rows.map((row) => ({
				...row,
				call_id: `call-${row.phone}`,
				placed: true,
				phone_key: `91${row.phone}`,
			})),
		);
	});
});

describe('Stop', () => {
	/** The service accepts the next call, and the execution is stopped before the response arrives. */
	async function stopAtNextCall(execution: Execution) {
		callsEndpoint().reply(200, () => {
			execution.cancel();
			return { success: true, data: { call_id: 'last' } };
		});
		return await stoppedResult(execution);
	}

	test.each([false, true])(
		'with Retry On Fail %p, the message lists the placed and the unknown call, and says of neither that nothing was sent',
		async (retryOnFail) => {
			skipSleeps();
			acceptCalls(1);
			const node = harness.placeCallNode(perItem, { ...RETRY_ON_FAIL, retryOnFail });
			const execution = startNode(node, itemsOf(people(3)));
			const description = (await stopAtNextCall(execution)).error?.description ?? '';
			expect(description).toContain(PLACED_FIRST);
			expect(description).toContain(phone(1));
			expect(description).not.toContain('[row 1]');
		},
	);

	test('during the second attempt of Retry On Fail, a call that the first one placed is returned', async () => {
		skipSleeps();
		rejectCall();
		acceptCalls(1);
		const node = harness.placeCallNode(perItem, { ...CONTINUE, ...RETRY_ON_FAIL });
		const execution = startNode(node, itemsOf(people(2)));
		const { data } = await stopAtNextCall(execution);
		const items = (data?.main?.[0] ?? []).map(({ json }) => json);
		expect(items).toHaveLength(2);
		expect(items[1]?.message ?? '').not.toContain('Nothing was sent for this item');
		expect(items[1]).toMatchObject({ call_id: `call-${phone(1)}` });
	});
});

describe('a retry with a value that was edited and is invalid', () => {
	const MAYBE_SENT =
		"An earlier attempt may have sent this item, so don't send it in a new execution.";

	/** The first call is placed, and the second one rejected. Then the node is edited. */
	async function retryEdited(over: Partial<INode>): Promise<IRun> {
		acceptCalls(1);
		rejectCall();
		const failed = await run(harness.placeCallNode(perItem), people(2));
		expect(faultOf(failed).description).toContain(PLACED_FIRST);
		const invalid = { when: 'dateTime', scheduledAt: '={{ "tomorrow" }}' };
		return await retry(failed, harness.placeCallNode({ ...perItem, ...invalid }, over));
	}

	it('says to leave the item whose call was placed out of a new execution', async () => {
		const [placed, invalid] = records(await retryEdited(CONTINUE));
		expect(invalid).toMatchObject({ details: { outcome: 'not_sent' } });
		expect(placed).toMatchObject({
			message: expect.stringContaining(MAYBE_SENT),
			details: { outcome: 'unknown' },
		});
		expect(faultOf(await retryEdited({})).description).toContain(MAYBE_SENT);
	});

	it('lists the placed calls if another item is invalid, and sends nothing', async () => {
		acceptCalls(1);
		rejectCall();
		const failed = await run(harness.placeCallNode(perItem), people(3));
		const phoneNumber = `={{ $json.phone === '${phone(2)}' ? 'later' : $json.phone }}`;
		const { message, description } = faultOf(
			await retry(failed, harness.placeCallNode({ ...perItem, phoneNumber })),
		);
		expect(message).toContain('[row 3]');
		expect(description).toMatch(
			/Completed in this run: row 1\. To send the items that weren't sent, /,
		);
	});

	it.each([
		['phone number', { phoneNumber: 'none' }],
		['concurrency', { developerSettings: { concurrency: 'many' } }],
	])("doesn't say that an item wasn't sent whose outcome is unknown: %s", async (_what, edited) => {
		callsEndpoint().reply(502, '<html>Bad Gateway</html>');
		const failed = await run(harness.placeCallNode(perItem), people(1));
		const invalid = { ...perItem, ...edited };
		const again = await retry(failed, harness.placeCallNode(invalid, CONTINUE));
		expect(output(again, 'Node')[0]?.json).toMatchObject({ details: { outcome: 'unknown' } });
		const { description } = faultOf(await retry(failed, harness.placeCallNode(invalid)));
		expect(description).toContain(MAYBE_SENT);
	});

	it("doesn't return an item as called if its number was edited to an invalid one", async () => {
		acceptCalls(1);
		rejectCall();
		const rows = [
			{ phone: phone(0), mobile: 'n/a' },
			{ phone: phone(1), mobile: phone(11) },
		];
		const failed = await run(harness.placeCallNode(perItem), rows);
		expect(faultOf(failed).message).toContain('[row 2]');
		const bodies = acceptUpTo(2);
		const edited = harness.placeCallNode({ phoneNumber: '={{ $json.mobile }}' }, CONTINUE);
		const [first, second] = records(await retry(failed, edited));
		expect(bodies.map((body) => body.phone_number)).toEqual([phone(11)]);
		expect(second).toMatchObject({ call_id: `another-call-${phone(11)}` });
		// "If you change an item's phone number, it counts as a new call."
		expect(first?.call_id).toBeUndefined();
	});
});
