/** Further attempts of an execution whose results n8n has stored: *Retry*, *Retry On Fail*, and *Stop*. */
import type { IDataObject, INode, INodeParameters, IRun } from 'n8n-workflow';
import { records, skipSleeps, startNode, stoppedResult, type Execution } from '../../engine';
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

const { place, placeCallNode, run, retry, kill, retryAfterKill } = placeCallHarness();
const PLACED_FIRST = 'Completed in this run: row 1.';
const PLACED_EARLIER = 'Completed in an earlier attempt: row 1.';
const REJECTED = { success: false, error: 'phone_number is implausible' };
const BAD_GATEWAY = '<html>Bad Gateway</html>';
const ids = (run: IRun) => records(run).map(({ call_id }) => call_id);

/** The service rejects these numbers once, and records every call. */
function rejecting(count: number, ...rejected: string[]): string[] {
	const phones: string[] = [];
	const callIds = new CallIds();
	callsEndpoint()
		.times(count)
		.reply((_uri, body) => {
			const called = phoneOf(body);
			phones.push(called);
			const left = rejected.indexOf(called);
			if (left < 0) return [200, { success: true, data: { call_id: callIds.next(called) } }];
			rejected.splice(left, 1);
			return [400, REJECTED];
		});
	return phones;
}

type Retried = {
	rows: IDataObject[];
	node?: INodeParameters;
	/** What an edit changes before the retry. */
	edit?: INodeParameters;
	/** The number that the service rejects once. */
	rejected: string;
	/** The numbers of all calls, in both executions. */
	sent: string[];
	/** The calls that the retry returns. */
	ids: string[];
};

describe('Retry in the list of executions', () => {
	const [A, B, C] = [phone(0), phone(1), phone(2)];
	const german = [{ phone: '030 1234567' }, { phone: '030 1234568' }];
	const otherCall = {
		agentUuid: { __rl: true, mode: 'id', value: 'agent_b2' },
		options: { systemPrompt: 'Be brief.', concurrency: 5, useLegacyEndpoint: false },
	};

	it.each<[string, Retried]>([
		[
			'places no call again, and continues with rejected and later items',
			{ rows: people(3), rejected: B, sent: [A, B, B, C], ids: [A, B, C] },
		],
		[
			'calls a person not again for the same item, whatever was edited',
			{
				...{ rows: people(3), node: onOtherDays, edit: otherCall },
				...{ rejected: C, sent: [A, B, C, C], ids: [A, B, C] },
			},
		],
		[
			'calls a person not again whose number was edited to another format',
			{
				...{ rows: german, node: { countryCode: 'DE' }, rejected: '0301234568' },
				edit: { phoneNumber: '={{ "+49" + $json.phone.slice(1) }}' },
				...{ sent: ['0301234567', '0301234568', '301234568'], ids: ['0301234567', '301234568'] },
			},
		],
		[
			'calls the new number of an item',
			{
				...{ rows: people(2), edit: { phoneNumber: '=980000000{{ $itemIndex }}' }, rejected: B },
				...{ sent: [A, B, '9800000000', '9800000001'], ids: ['9800000000', '9800000001'] },
			},
		],
		[
			'recognizes calls whose request contains the time of the attempt',
			{
				...{ rows: people(2), node: { personName: '={{ $now.toMillis() }}' }, rejected: B },
				...{ sent: [A, B, B], ids: [A, B] },
			},
		],
	])('%s', async (_what, { rows, rejected, node = {}, edit = {}, sent, ids: expected }) => {
		const phones = rejecting(sent.length, rejected);
		const failed = await run(placeCallNode({ ...perItem, ...node }), rows);
		expect(failed.data.resultData.error).toBeDefined();
		const edited = placeCallNode({ ...perItem, ...node, ...edit });
		expect(ids(await retry(failed, edited))).toEqual(expected.map((id) => `call-${id}`));
		expect(phones).toEqual(sent);
	});

	it('never sends a call with unknown outcome again, whatever was changed', async () => {
		acceptCalls(1);
		callsEndpoint().reply(502, BAD_GATEWAY);
		const node = placeCallNode(perItem);
		const failed = await run(node, people(2));
		const again = await retry(failed, node);
		const third = await retry(again, node);
		const personName = '={{ $itemIndex === 1 ? "Asha" : "" }}';
		const changed = await retry(failed, placeCallNode({ ...perItem, personName }));
		for (const each of [failed, again, third, changed])
			expect(faultOf(each).message).toMatch(
				/the outcome is unknown \(call to 9876543211, IN\) \[row 2\]$/,
			);
	});

	it('recognizes an earlier call whose time has passed', async () => {
		const itIs = skipSleeps(Date.parse(NOON));
		const phones = rejecting(3, phone(1));
		const scheduledAt = '=2026-11-{{ 20 + $itemIndex }}T18:00:00+05:30';
		const node = placeCallNode({ ...perItem, when: 'dateTime', scheduledAt });
		const failed = await run(node, people(2));
		itIs(NIGHT);
		expect(ids(await retry(failed, node))).toEqual([`call-${phone(0)}`, `call-${phone(1)}`]);
		expect(phones).toEqual([phone(0), phone(1), phone(1)]);
	});

	it('returns each included row with its call, and n8n stores no rows, and little per call', async () => {
		const rows = people(60).map((row) => ({ ...row, notes: 'x'.repeat(500) }));
		rejecting(60, phone(59));
		const options = { concurrency: 50 };
		const node = placeCallNode({ ...perItem, options });
		const failed = await run(node, rows);
		const kept = JSON.stringify(failed.data.executionData?.contextData['node:Node']);
		expect(kept).not.toContain('xxx');
		expect(kept).not.toContain(`"${phone(0)}"`);
		expect(kept.length / 59).toBeLessThan(90 + '"123456789012":0,'.length);
		acceptCalls(1);
		expect(records(await retry(failed, node))).toEqual(
			rows.map((row) => ({
				...row,
				...{ call_id: `call-${row.phone}`, placed: true, phone_key: `91${row.phone}` },
			})),
		);
	});
});

it.each([
	['', {}, [0, 1, 1, 2]],
	// n8n runs the node again if the first item has an error.
	[', also if errors are passed on with the items', CONTINUE, [0, 1, 2, 0]],
])('Retry On Fail calls again only who was rejected%s', async (_how, over, sent) => {
	const rejected = over === CONTINUE ? phone(0) : phone(1);
	const phones = rejecting(4, rejected);
	const thrice = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1, ...over };
	const items = people(3);
	expect(ids(await place(perItem, { items, over: thrice }))).toEqual(
		items.map((row) => `call-${row.phone}`),
	);
	expect(phones).toEqual(sent.map(phone));
});

describe('Stop', () => {
	const twice = { retryOnFail: true, maxTries: 2, waitBetweenTries: 1 };

	/** The service accepts the next call, and the execution is stopped before the response arrives. */
	async function stopAtNextCall(execution: Execution) {
		callsEndpoint().reply(200, () => {
			execution.cancel();
			return { success: true, data: { call_id: 'last' } };
		});
		return await stoppedResult(execution);
	}

	it.each([false, true])(
		'with Retry On Fail %p, the message lists the placed and the unknown call, and says of neither that nothing was sent',
		async (retryOnFail) => {
			skipSleeps();
			acceptCalls(1);
			const node = placeCallNode(perItem, { ...twice, retryOnFail });
			const execution = startNode(node, itemsOf(people(3)));
			const description = (await stopAtNextCall(execution)).error?.description ?? '';
			expect(description).toContain(retryOnFail ? PLACED_EARLIER : PLACED_FIRST);
			expect(description).toContain(phone(1));
			expect(description).not.toContain('[row 1]');
		},
	);

	it('during the second attempt of Retry On Fail, a call that the first one placed is returned', async () => {
		skipSleeps();
		rejectCall();
		acceptCalls(1);
		const execution = startNode(
			placeCallNode(perItem, { ...CONTINUE, ...twice }),
			itemsOf(people(2)),
		);
		const { data } = await stopAtNextCall(execution);
		const [items] = data?.main ?? [];
		expect(items).toHaveLength(2);
		expect(items?.[1]?.json.message ?? '').not.toContain('Nothing was sent for this item');
		expect(items?.[1]?.json).toMatchObject({ call_id: `call-${phone(1)}` });
	});
});

describe('a retry with a value that was edited and is invalid', () => {
	const MAYBE_SENT =
		"An earlier attempt may have sent this item, so don't send it in a new execution.";

	/** The first call is placed, and the second one rejected. */
	const failedAtSecond = async (rows: IDataObject[]) => {
		acceptCalls(1);
		rejectCall();
		const failed = await run(placeCallNode(perItem), rows);
		expect(faultOf(failed).message).toContain('[row 2]');
		expect(faultOf(failed).description).toContain(PLACED_FIRST);
		return failed;
	};
	const edited = (parameters: INodeParameters, over: Partial<INode> = {}) =>
		placeCallNode({ ...perItem, ...parameters }, over);

	it('says to leave all items that it affects out of a new execution', async () => {
		const failed = await failedAtSecond(people(2));
		const invalid = { when: 'dateTime', scheduledAt: '={{ "tomorrow" }}' };
		const message = expect.stringContaining(MAYBE_SENT);
		const both = new Array(2).fill({ message, details: { outcome: 'unknown' } });
		expect(records(await retry(failed, edited(invalid, CONTINUE)))).toMatchObject(both);
		expect(faultOf(await retry(failed, edited(invalid))).description).toContain(MAYBE_SENT);
	});

	it('lists the placed calls if another item is invalid, and sends nothing', async () => {
		const failed = await failedAtSecond(people(3));
		const phoneNumber = `={{ $json.phone === '${phone(2)}' ? 'later' : $json.phone }}`;
		const { message, description } = faultOf(await retry(failed, edited({ phoneNumber })));
		expect(message).toContain('[row 3]');
		expect(description).toContain(`${PLACED_EARLIER} To send the items that weren't sent, `);
	});

	it("doesn't return an item as called if its number was edited to an invalid one", async () => {
		const failed = await failedAtSecond([
			{ phone: phone(0), mobile: 'n/a' },
			{ phone: phone(1), mobile: phone(11) },
		]);
		const bodies = acceptUpTo(2);
		const byMobile = edited({ phoneNumber: '={{ $json.mobile }}' }, CONTINUE);
		const [first, second] = ids(await retry(failed, byMobile));
		expect(bodies).toMatchObject([{ phone_number: phone(11) }]);
		// "If you change an item's phone number, it counts as a new call."
		expect([first, second]).toEqual([undefined, `another-call-${phone(11)}`]);
	});

	/** An attempt whose call may have been placed. Returns its retries. */
	const attempts: Record<string, () => Promise<(current: INode) => Promise<IRun>>> = {
		'was unknown': async () => {
			callsEndpoint().reply(502, BAD_GATEWAY);
			const failed = await run(placeCallNode(perItem), people(1));
			return async (current) => await retry(failed, current);
		},
		'is unknown since n8n was killed': async () => {
			acceptCalls(1);
			const begun = await kill(placeCallNode(perItem), people(1));
			return async (current) => await retryAfterKill(begun, current);
		},
	};

	describe.each(Object.entries(attempts))('for a call whose outcome %s', (_what, attempt) => {
		it.each([
			['fields', { phoneNumber: 'none' }],
			['settings', { options: { concurrency: 'many' } }],
		])("doesn't say that it wasn't sent if its %s can't be read", async (_which, invalid) => {
			const retried = await attempt();
			const [item] = records(await retried(edited(invalid, CONTINUE)));
			expect(item).toMatchObject({ details: { outcome: 'unknown' } });
			expect(item?.message).toContain('Then retry the execution again.');
			expect(faultOf(await retried(edited(invalid))).description).toContain(MAYBE_SENT);
		});
	});
});
