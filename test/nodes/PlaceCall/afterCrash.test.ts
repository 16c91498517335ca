import type { INodeParameters } from 'n8n-workflow';
import { oneNodeWorkflow, output, retryKilled, service, skipSleeps } from '../../engine';
import {
	acceptCalls,
	acceptUpTo,
	callsEndpoint,
	CONTINUE,
	faultOf,
	people,
	perItem,
	phone,
	placeCallHarness,
	rejectCall,
} from './placeCallHarness';

const harness = placeCallHarness();
const { kill, retryAfterKill: retry } = harness;
afterEach(() => jest.restoreAllMocks());

describe('Retry after n8n was killed', () => {
	it('places no call again, and lists everyone who may have been called', async () => {
		acceptCalls(2);
		const node = harness.placeCallNode(perItem);
		const begun = await kill(node, people(2));
		const { message, description } = faultOf(await retry(begun, node, people(3)));
		expect(message).toBe(
			'An earlier attempt of this execution may have sent this, and n8n has no record of the result (call to 9876543210, IN) [item 0]',
		);
		expect(description).toContain('[item 1] An earlier attempt');
		expect(description).toContain('9876543211');
		expect(description).not.toContain('9876543212');
		expect(description).toContain('This attempt sent nothing.');
	});

	const invalidField = { phoneNumber: 'unknown' };
	const invalidNode = { developerSettings: { concurrency: 'many' } };

	it.each([
		['fields', invalidField],
		['settings', invalidNode],
	])(
		"doesn't say that an item wasn't sent if its %s can't be read since an edit",
		async (_what, invalid) => {
			const bodies = acceptCalls(1);
			const begun = await kill(harness.placeCallNode(perItem, CONTINUE), people(1));
			const edited = { ...perItem, ...invalid };
			const [item] = output(await retry(begun, harness.placeCallNode(edited, CONTINUE)), 'Node');
			expect(item?.json).toMatchObject({ details: { outcome: 'unknown' } });
			expect(JSON.stringify(item?.json)).toContain('Then retry the execution again.');
			const { description } = faultOf(await retry(begun, harness.placeCallNode(edited)));
			expect(description).toContain('An earlier attempt may have sent this item');
			expect(bodies).toHaveLength(1);
		},
	);

	it.each([
		['fields', 'not_sent', invalidField, false],
		['settings', 'not_sent', invalidNode, false],
		["fields and n8n's database", 'unknown', invalidField, true],
	])(
		"an item whose %s can't be read has the outcome %s if no request had begun",
		async (_what, outcome, invalid, isLocked) => {
			skipSleeps();
			const node = harness.placeCallNode({ ...perItem, ...invalid }, CONTINUE);
			const begun = await kill(node, []);
			harness.store.beforeCall = () => {
				if (isLocked) throw new Error('database is locked');
			};
			const [item] = output(await retry(begun, node, people(1)), 'Node');
			expect(item?.json).toMatchObject({ details: { outcome } });
		},
	);

	it('recognizes people by number, also if their row moved', async () => {
		const bodies = acceptCalls(3);
		const node = harness.placeCallNode(perItem, CONTINUE);
		const begun = await kill(node, people(2));
		const moved = [{ phone: phone(7) }, { phone: phone(1) }, { phone: '098765 43210' }];
		const run = await retry(begun, node, moved);
		expect(output(run, 'Node').map(({ json }) => json.error === undefined)).toEqual([
			true,
			false,
			false,
		]);
		expect(bodies.map((body) => body.phone_number)).toEqual([phone(0), phone(1), phone(7)]);
	});

	it('if a failed item does not stop the node, places the calls that were not started, and repeatedly none again', async () => {
		acceptCalls(3);
		const node = harness.placeCallNode(perItem, CONTINUE);
		const begun = await kill(node, people(2));
		const once = await retry(begun, node, people(3));
		const calls = output(once, 'Node').map(({ json }) => json.call_id);
		expect(calls).toEqual([undefined, undefined, 'call-9876543212']);
		for (const from of [begun, once.data]) {
			const again = await retry(from, node, people(3));
			const called = output(again, 'Node').map(({ json }) => json.call_id);
			// The result of the first retry is stored with it.
			const third = from === begun ? undefined : 'call-9876543212';
			expect(called).toEqual([undefined, undefined, third]);
		}
	});

	it('places calls again that were rejected or not started', async () => {
		acceptCalls(1);
		rejectCall();
		const node = harness.placeCallNode(perItem, CONTINUE);
		const begun = await kill(node, people(2));
		acceptCalls(2);
		expect(
			output(await retry(begun, node, people(3)), 'Node').map(({ json }) => json.call_id),
		).toEqual([undefined, 'call-9876543211', 'call-9876543212']);
	});

	it("doesn't advise to run an item again whose call an earlier attempt placed", async () => {
		acceptCalls(1);
		service().post('/v1/call').reply(401, { success: false, error: 'no' });
		const node = harness.placeCallNode(perItem);
		const { workflow } = oneNodeWorkflow(node);
		const failed = await harness.run(node, people(3));
		expect(faultOf(failed).description).toContain('1 call was already placed in this run (item 0)');
		// The first retry places the call of item 1, and is killed.
		acceptCalls(2);
		await retryKilled(harness.credentials, failed, workflow);
		const { message, description } = faultOf(await harness.retry(failed, node));
		expect(message).toContain('[item 1]');
		expect(description).toMatch(/already placed.*item 0/);
	});

	it("doesn't advise to run an item again whose call may have been placed by an earlier attempt", async () => {
		service()
			.post('/v1/call')
			.replyWithError(Object.assign(new Error('reset'), { code: 'ECONNRESET' }));
		const node = harness.placeCallNode(perItem);
		const failed = await harness.run(node, people(2));
		expect(faultOf(failed).message).toContain('[item 0]');
		// The first retry continues after it, places the call of item 1, and is killed.
		acceptCalls(1);
		const { workflow: continuing } = oneNodeWorkflow({ ...node, ...CONTINUE });
		await retryKilled(harness.credentials, failed, continuing);
		const { message, description } = faultOf(await harness.retry(failed, node));
		expect(message).toContain('[item 0]');
		expect(description).toContain('[item 1]');
	});

	it.each([
		['was never started', { when: 'dateTime', scheduledAt: '={{ $json.at }}' }],
		['was rejected', { personName: '={{ $json.name }}' }],
	])(
		'calls a person no more if an earlier item of the same person %s',
		async (what, parameters) => {
			if (what === 'was rejected') rejectCall();
			const node = harness.placeCallNode({ ...perItem, ...parameters }, CONTINUE);
			const rows = [
				{ phone: phone(0), name: 'Too long', at: '2020-01-31T10:00:00+05:30' },
				{ phone: phone(0), name: 'Asha', at: '2040-01-31T10:00:00+05:30' },
			];
			const bodies = acceptCalls(1);
			const begun = await kill(node, rows);
			expect(bodies).toHaveLength(1);
			const again = acceptUpTo(2);
			const items = output(await retry(begun, node, rows), 'Node').map(({ json }) => json.error);
			expect(again).toEqual([]);
			const unknown = expect.stringContaining('An earlier attempt of this execution may have sent');
			expect(items).toEqual([unknown, unknown]);
		},
	);
});

describe('a second retry of an execution with two items of one person, after the first one was killed', () => {
	/** Item 0 is called and item 1 rejected. The first retry calls item 1. @returns the calls of the second retry */
	async function retriedTwice(parameters: INodeParameters, edits: INodeParameters = {}) {
		const rows = ['Asha', 'Ravi'].map((name) => ({ phone: phone(0), name }));
		acceptCalls(1);
		rejectCall();
		const node = harness.placeCallNode({ ...perItem, ...parameters });
		const failed = await harness.run(node, rows);
		const bodies = acceptUpTo(1);
		await retryKilled(harness.credentials, failed, oneNodeWorkflow(node).workflow);
		expect(bodies).toHaveLength(1);
		const again = acceptUpTo(1);
		const edited = harness.placeCallNode({ ...perItem, ...parameters, ...edits });
		const { message } = faultOf(await harness.retry(failed, edited));
		expect(message).toContain('[item 1]');
		return again;
	}

	const named = { personName: '={{ $json.name }}' };

	it.each([
		['are equal', {}, {}],
		['have become equal since an edit', named, { personName: 'Ravi' }],
	])('places no call again if the items %s', async (_what, parameters, edits) => {
		expect(await retriedTwice(parameters, edits)).toEqual([]);
	});
});

test('a second retry after an edit calls nobody again whom the first one called, if the outcome of an equal item is unknown', async () => {
	callsEndpoint().reply(502, '<html>Bad Gateway</html>');
	rejectCall();
	const rows = [{ phone: phone(0) }, { phone: phone(0) }];
	const atOnce = harness.placeCallNode({ ...perItem, developerSettings: { concurrency: 2 } });
	const failed = await harness.run(atOnce, rows);
	const edited = harness.placeCallNode(perItem, CONTINUE);
	const bodies = acceptUpTo(1);
	await retryKilled(harness.credentials, failed, oneNodeWorkflow(edited).workflow);
	expect(bodies).toHaveLength(1);
	const again = acceptUpTo(1);
	const items = output(await harness.retry(failed, edited), 'Node').map(({ json }) => json);
	expect(again).toEqual([]);
	expect(items).toMatchObject([
		{ details: { outcome: 'unknown' } },
		{ details: { outcome: 'unknown' } },
	]);
});

test('an execution that ended normally leaves no entries, whether it succeeded or failed', async () => {
	acceptCalls(2);
	await harness.place(perItem, { items: people(2) });
	expect(harness.store.size).toBe(0);
	rejectCall();
	await harness.place(perItem, { items: people(1) });
	expect(harness.store.size).toBe(0);
});
